/*
 * stray_test.c: which fields of a request are refused, and which are passed over.
 */
#include "actors/stray.h"

#include <criterion/criterion.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"

struct row {
    enum proto_operation operation;
    const char *json;
    const char *name;  /* "": none is refused */
    const char *meant; /* NULL: nothing near */
};

static void check(const struct row *row)
{
    struct arena arena;
    struct span body;
    struct json_error error;
    struct actor_stray stray = {0};
    arena_init(&arena, 4096, 1 << 20);
    cr_assert_eq(json_to_wire(span_text(row->json), LIMIT_DEPTH, &arena, &body, &error), RESULT_OK);

    bool is_refused = actor_request_stray(body, row->operation, &stray);

    cr_expect_eq(is_refused, row->name[0] != '\0', "%s", row->json);
    if (is_refused) {
        cr_expect(span_is(stray.name, row->name), "%s: %.*s", row->json, SPAN_ARG(stray.name));
        cr_expect_str_eq(stray.meant == NULL ? "" : stray.meant,
                         row->meant == NULL ? "" : row->meant, "%s", row->json);
    }
    arena_release(&arena);
}

static void check_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check(&rows[i]);
    }
}

Test(stray, each_operation_takes_its_own_fields)
{
    static const struct row rows[] = {
        {PROTO_OP_START,
         "{\"workspaceId\":1,\"projectId\":1,\"process\":1,\"version\":1,\"channel\":1,"
         "\"channelSessionId\":1,\"executionId\":1,\"request\":1,\"context\":1,\"execution\":1,"
         "\"isTest\":1,\"wait\":1,\"timeoutMs\":1,\"requestId\":1,\"token\":1,\"v\":1,\"op\":1,"
         "\"traceparent\":1}",
         "", NULL},
        {PROTO_OP_IMPORT,
         "{\"workspaceId\":1,\"projectId\":1,\"process\":1,\"version\":1,\"channel\":1,"
         "\"channelSessionId\":1,\"executionId\":1,\"request\":1,\"context\":1,\"execution\":1,"
         "\"isTest\":1,\"wait\":1,\"active\":1,\"passed\":1,\"response\":1,\"module\":1,\"nodes\":"
         "1}",
         "", NULL},
        {PROTO_OP_CALLBACK,
         "{\"executionId\":1,\"channelSessionId\":1,\"taskId\":1,\"stepId\":1,\"payload\":1,"
         "\"output\":1,\"error\":1,\"wait\":1,\"timeoutMs\":1,\"workspaceId\":1}",
         "", NULL},
        {PROTO_OP_CALLBACK, "{\"projectId\":1,\"channel\":1,\"payload\":1}", "", NULL},
        {PROTO_OP_ABORT, "{\"executionId\":1,\"reason\":1,\"channelSessionId\":1}", "", NULL},
        {PROTO_OP_RETRY, "{\"executionId\":1,\"taskId\":1}", "", NULL},
        {PROTO_OP_MIGRATE, "{\"executionId\":1,\"toVersion\":1,\"mapping\":1}", "", NULL},
        {PROTO_OP_DELETE, "{\"executionId\":1,\"ifEnded\":1,\"workspaceId\":1}", "", NULL},
        {PROTO_OP_GET, "{\"executionId\":1,\"include\":1,\"process\":1,\"version\":1}", "", NULL},
        {PROTO_OP_STEPS, "{\"executionId\":1,\"from\":1,\"limit\":1}", "", NULL},
        {PROTO_OP_DEPLOY, "{\"projectId\":1,\"name\":1,\"content\":1}", "", NULL},
        {PROTO_OP_MESSAGE,
         "{\"name\":1,\"correlationKey\":1,\"payload\":1,\"ttlMs\":1,\"workspaceId\":1,"
         "\"projectId\":1}",
         "", NULL},
        {PROTO_OP_SIGNAL, "{\"name\":1,\"payload\":1,\"workspaceId\":1,\"projectId\":1}", "", NULL},
        {PROTO_OP_HOOK,
         "{\"path\":1,\"request\":1,\"context\":1,\"requestId\":1,\"wait\":1,\"timeoutMs\":1}", "",
         NULL},
        {PROTO_OP_BACKUP, "{\"directory\":1}", "", NULL},
    };
    check_all(rows, sizeof rows / sizeof rows[0]);
}

Test(stray, a_list_takes_no_other_and_any_operation_no_misspelt_one)
{
    static const struct row rows[] = {
        {PROTO_OP_LIST,
         "{\"v\":1,\"op\":\"list\",\"token\":\"t\",\"requestId\":\"r\",\"timeoutMs\":1,"
         "\"traceparent\":\"p\"}",
         "", NULL},
        {PROTO_OP_LIST,
         "{\"status\":\"Error\",\"lifecycle\":\"Failed\",\"process\":\"p\",\"workspaceId\":\"w\","
         "\"projectId\":\"p\",\"since\":\"x\",\"endedBefore\":\"x\",\"limit\":1,\"cursor\":\"c\"}",
         "", NULL},
        {PROTO_OP_LIST, "{\"lifecyle\":\"Failed\"}", "lifecyle", "lifecycle"},
        {PROTO_OP_LIST, "{\"assignee\":\"ada\"}", "assignee", NULL},
        {PROTO_OP_LIST, "{\"taskId\":\"a\"}", "taskId", NULL},
        {PROTO_OP_TASKS,
         "{\"process\":\"p\",\"assignee\":\"a\",\"candidateGroup\":\"g\",\"taskId\":\"t\","
         "\"executionId\":\"e\",\"limit\":1,\"cursor\":\"c\"}",
         "", NULL},
        {PROTO_OP_TASKS, "{\"group\":\"g\"}", "group", "candidateGroup"},
        {PROTO_OP_TASKS, "{\"colour\":\"g\"}", "colour", NULL},
        {PROTO_OP_DEFINITIONS, "{\"projectId\":\"p\",\"process\":\"q\"}", "", NULL},
        {PROTO_OP_DEFINITIONS, "{\"project\":\"p\"}", "project", "projectId"},
        {PROTO_OP_START, "{\"worspaceId\":1}", "worspaceId", "workspaceId"},
        {PROTO_OP_START, "{\"proces\":1}", "proces", "process"},
        {PROTO_OP_START, "{\"request_id\":1}", "request_id", "requestId"},
        {PROTO_OP_START, "{\"executionID\":1}", "executionID", "executionId"},
        {PROTO_OP_START, "{\"timeout\":1}", "timeout", "timeoutMs"},
        {PROTO_OP_START, "{\"sessionId\":1}", "sessionId", "channelSessionId"},
        {PROTO_OP_START, "{\"test\":1}", "test", "isTest"},
        {PROTO_OP_START, "{\"requst\":1}", "requst", "request"},
        {PROTO_OP_START, "{\"waits\":1}", "waits", "wait"},
        {PROTO_OP_CALLBACK, "{\"task_id\":1}", "task_id", "taskId"},
        {PROTO_OP_CALLBACK, "{\"task\":1}", "task", "taskId"},
        {PROTO_OP_CALLBACK, "{\"paylod\":1}", "paylod", "payload"},
        {PROTO_OP_CALLBACK, "{\"ouput\":1}", "ouput", "output"},
        {PROTO_OP_MESSAGE, "{\"ttl\":1}", "ttl", "ttlMs"},
        {PROTO_OP_STEPS, "{\"form\":2}", "form", "from"},
        {PROTO_OP_MESSAGE, "{\"key\":1}", "key", "correlationKey"},
        {PROTO_OP_MESSAGE, "{\"correlationkey\":1}", "correlationkey", "correlationKey"},
        {PROTO_OP_ABORT, "{\"reasn\":1}", "reasn", "reason"},
        {PROTO_OP_MIGRATE, "{\"maping\":1}", "maping", "mapping"},
        {PROTO_OP_DEPLOY, "{\"contents\":1}", "contents", "content"},
        {PROTO_OP_PING, "{\"Token\":1}", "Token", "token"},
        {PROTO_OP_START, "{\"priority\":1}", "", NULL},
        {PROTO_OP_START, "{\"businessKey\":1}", "", NULL},
        {PROTO_OP_START, "{\"tags\":1}", "", NULL},
        {PROTO_OP_START, "{\"note\":1}", "", NULL},
        {PROTO_OP_MESSAGE, "{\"note\":1}", "", NULL},
        {PROTO_OP_START, "{\"id\":1}", "", NULL},
        {PROTO_OP_START, "{\"\":1}", "", NULL},
        {PROTO_OP_START,
         "{\"a name that is much longer than any field that there is, and than what is compared "
         "with them\":1}",
         "", NULL},
        {PROTO_OP_CALLBACK, "{\"taskId\":\"a\",\"task_id\":\"a\"}", "", NULL},
        {PROTO_OP_START, "{\"requestId\":1,\"request_id\":1}", "", NULL},
        {PROTO_OP_CALLBACK, "{\"taskId\":null,\"task_id\":\"a\"}", "", NULL},
        {PROTO_OP_START, "{\"priority\":1,\"proces\":\"p\"}", "proces", "process"},
        {PROTO_OP_START, "{\"request\":{\"proces\":\"p\"}}", "", NULL},
    };
    check_all(rows, sizeof rows / sizeof rows[0]);
}

Test(stray, what_only_another_operation_has_is_refused_by_name)
{
    static const struct row rows[] = {
        {PROTO_OP_MIGRATE, "{\"executionId\":1,\"version\":2}", "version", "toVersion"},
        {PROTO_OP_MIGRATE, "{\"toVersion\":2,\"version\":2}", "version", NULL},
        {PROTO_OP_MIGRATE, "{\"toVersion\":2,\"version\":null,\"reason\":null}", "", NULL},
        {PROTO_OP_START, "{\"process\":1,\"toVersion\":2}", "toVersion", "version"},
        {PROTO_OP_START, "{\"process\":1,\"payload\":{}}", "payload", NULL},
        {PROTO_OP_START, "{\"candidateGroup\":1}", "candidateGroup", NULL},
        {PROTO_OP_CALLBACK, "{\"request\":1}", "request", "requestId"},
        {PROTO_OP_CALLBACK, "{\"process\":1,\"version\":1}", "version", NULL},
        {PROTO_OP_SUSPEND, "{\"executionId\":1,\"reason\":1,\"payload\":1}", "payload", NULL},
        {PROTO_OP_DELETE, "{\"executionId\":1,\"wait\":1}", "wait", NULL},
        {PROTO_OP_STATS, "{\"executionId\":1}", "executionId", NULL},
        {PROTO_OP_MIGRATE, "{\"executionId\":1,\"workspaceId\":1,\"wait\":1}", "", NULL},
        {PROTO_OP_GET, "{\"executionId\":1,\"workspaceId\":1,\"projectId\":1}", "", NULL},
    };
    check_all(rows, sizeof rows / sizeof rows[0]);
}
