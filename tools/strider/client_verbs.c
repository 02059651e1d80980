/*
 * client_verbs.c: the verbs that ask a running engine, as tables. See client.h.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/client.h"
#include "tools/strider/print.h"
#include "tools/strider/replay/replay.h"
#include "tools/strider/verbs.h"

/* ---- options ---- */

static const struct cli_option plain_options[] = {CLIENT_CONNECTION_OPTIONS};

static const struct cli_option deploy_options[] = {
    {"project", "ID", "the project to deploy to (default)"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option definitions_options[] = {
    {"project", "ID", "of this project alone"},
    {"process", "ID", "of this process alone"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option start_options[] = {
    {"request", "JSON|@FILE", "the request payload"},
    {"context", "JSON|@FILE", "the caller's lasting context"},
    {"var", "NAME=VALUE", "a process variable; repeats. JSON where it is JSON, text else"},
    {"workspace", "ID", "workspaceId (default)"},
    {"project", "ID", "projectId (default)"},
    {"version", "N", "of the definition; else the newest"},
    {"id", "ID", "executionId; starting it again answers AlreadyExists"},
    {"request-id", "TEXT", "makes the start idempotent for 10 minutes"},
    {"channel", "TEXT", "picks modules of this channel"},
    {"session", "TEXT", "channelSessionId: callbacks may name it instead of the execution"},
    {"wait", "WHEN",
     "segment: answer when it waits or ends (default);\naccepted: as soon as it is durable"},
    {"test", NULL, "modules with side effects are not called"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option callback_options[] = {
    {"session", "TEXT", "channelSessionId, instead of an execution"},
    {"task", "ID", "the task that waits, where there are several"},
    {"step", "ID", "its step (stepId), where several instances of it wait"},
    {"payload", "JSON|@FILE", "what comes back"},
    {"output", "JSON|@FILE", "the task's result (which way to go on)"},
    {"error", "JSON|@FILE", "{\"code\",\"message\",\"bpmnError\"?}: it failed"},
    {"request-id", "TEXT", "makes the callback idempotent for 10 minutes"},
    {"wait", "WHEN", "segment (default) or accepted"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option message_options[] = {
    {"key", "TEXT", "the correlation key: who waits for this one"},
    {"payload", "JSON|@FILE", "what it brings"},
    {"ttl", "MS", "how long it is kept for a wait to come (3600000)"},
    {"workspace", "ID", "workspaceId (default)"},
    {"project", "ID", "projectId of the processes that it may start (default)"},
    {"request-id", "TEXT", "makes it idempotent for 10 minutes"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option signal_options[] = {
    {"payload", "JSON|@FILE", "what it brings"},
    {"workspace", "ID", "workspaceId (default)"},
    {"project", "ID", "projectId of the processes that it may start (default)"},
    {"request-id", "TEXT", "makes it idempotent for 10 minutes"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option get_options[] = {
    {"include", "LIST", "any of payloads,map,logs,definition,diagram"},
    {"steps", NULL, "its steps instead, each with what it took (see strider replay)"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option list_options[] = {
    {"status", "NAME", "Running, Waiting, Completed, Stopped or Error"},
    {"lifecycle", "NAME", "Pending, Running, Suspended, WaitingForHuman, Completed or Failed"},
    {"process", "ID", "of this process alone"},
    {"workspace", "ID", "of this workspace alone"},
    {"project", "ID", "of this project alone"},
    {"since", "TIME", "started at or after it (RFC 3339)"},
    {"ended-before", "TIME", "ended before it"},
    {"limit", "N", "at most so many (100; up to 1000)"},
    {"cursor", "TEXT", "go on where an earlier list ended"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option tasks_options[] = {
    {"process", "ID", "of this process alone"},
    {"assignee", "NAME", "of this person alone"},
    {"group", "NAME", "that this group may take"},
    {"execution", "ID", "of this execution alone"},
    {"task", "ID", "of this node alone"},
    {"limit", "N", "at most so many (100; up to 1000)"},
    {"cursor", "TEXT", "go on where an earlier list ended"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option abort_options[] = {
    {"reason", "TEXT", "for the execution's log"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option retry_options[] = {
    {"task", "ID", "the failed step, where there are several"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option migrate_options[] = {
    {"to-version", "N", "of the definition; else the newest"},
    {"map", "FROM=TO",
     "the node (or flow) TO of that version stands for FROM; repeats.\nOthers keep their ids"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct cli_option import_options[] = {
    {"workspace", "ID", "workspaceId, instead of the file's (default)"},
    {"project", "ID", "projectId, instead of the file's (default)"},
    {"version", "N", "of the definition, instead of the file's; else the newest"},
    {"id", "ID", "executionId, instead of the file's"},
    {"request-id", "TEXT", "makes the import idempotent for 10 minutes"},
    {"session", "TEXT", "channelSessionId, instead of the file's"},
    {"wait", "WHEN",
     "segment: answer when it waits or ends (default);\naccepted: as soon as it is durable"},
    CLIENT_CONNECTION_OPTIONS,
};

static const struct client_field start_fields[] = {
    {"request", "request", CLIENT_JSON},
    {"context", "context", CLIENT_JSON},
    {"var", "execution", CLIENT_PAIRS},
    {"workspace", "workspaceId", CLIENT_TEXT},
    {"project", "projectId", CLIENT_TEXT},
    {"version", "version", CLIENT_INTEGER},
    {"id", "executionId", CLIENT_TEXT},
    {"request-id", "requestId", CLIENT_TEXT},
    {"channel", "channel", CLIENT_TEXT},
    {"session", "channelSessionId", CLIENT_TEXT},
    {"wait", "wait", CLIENT_TEXT},
    {"test", "isTest", CLIENT_FLAG},
    {0},
};

static const struct client_field callback_fields[] = {
    {"session", "channelSessionId", CLIENT_TEXT},
    {"task", "taskId", CLIENT_TEXT},
    {"step", "stepId", CLIENT_TEXT},
    {"payload", "payload", CLIENT_JSON},
    {"output", "output", CLIENT_JSON},
    {"error", "error", CLIENT_JSON},
    {"request-id", "requestId", CLIENT_TEXT},
    {"wait", "wait", CLIENT_TEXT},
    {0},
};

static const struct client_field message_fields[] = {
    {"key", "correlationKey", CLIENT_TEXT},
    {"payload", "payload", CLIENT_JSON},
    {"ttl", "ttlMs", CLIENT_INTEGER},
    {"workspace", "workspaceId", CLIENT_TEXT},
    {"project", "projectId", CLIENT_TEXT},
    {"request-id", "requestId", CLIENT_TEXT},
    {0},
};

static const struct client_field signal_fields[] = {
    {"payload", "payload", CLIENT_JSON},
    {"workspace", "workspaceId", CLIENT_TEXT},
    {"project", "projectId", CLIENT_TEXT},
    {"request-id", "requestId", CLIENT_TEXT},
    {0},
};

static const struct client_field list_fields[] = {
    {"status", "status", CLIENT_TEXT},
    {"lifecycle", "lifecycle", CLIENT_TEXT},
    {"process", "process", CLIENT_TEXT},
    {"workspace", "workspaceId", CLIENT_TEXT},
    {"project", "projectId", CLIENT_TEXT},
    {"since", "since", CLIENT_TEXT},
    {"ended-before", "endedBefore", CLIENT_TEXT},
    {"limit", "limit", CLIENT_INTEGER},
    {"cursor", "cursor", CLIENT_TEXT},
    {0},
};

static const struct client_field tasks_fields[] = {
    {"process", "process", CLIENT_TEXT},      {"assignee", "assignee", CLIENT_TEXT},
    {"group", "candidateGroup", CLIENT_TEXT}, {"execution", "executionId", CLIENT_TEXT},
    {"task", "taskId", CLIENT_TEXT},          {"limit", "limit", CLIENT_INTEGER},
    {"cursor", "cursor", CLIENT_TEXT},        {0},
};

static const struct client_field get_fields[] = {{"include", "include", CLIENT_WORDS}, {0}};
static const struct client_field project_fields[] = {{"project", "projectId", CLIENT_TEXT}, {0}};
static const struct client_field definitions_fields[] = {
    {"project", "projectId", CLIENT_TEXT}, {"process", "process", CLIENT_TEXT}, {0}};
static const struct client_field abort_fields[] = {{"reason", "reason", CLIENT_TEXT}, {0}};
static const struct client_field retry_fields[] = {{"task", "taskId", CLIENT_TEXT}, {0}};
static const struct client_field migrate_fields[] = {
    {"to-version", "toVersion", CLIENT_INTEGER},
    {"map", "mapping", CLIENT_NAMES},
    {0},
};
static const struct client_field import_fields[] = {
    {"workspace", "workspaceId", CLIENT_TEXT},
    {"project", "projectId", CLIENT_TEXT},
    {"version", "version", CLIENT_INTEGER},
    {"id", "executionId", CLIENT_TEXT},
    {"request-id", "requestId", CLIENT_TEXT},
    {"session", "channelSessionId", CLIENT_TEXT},
    {"wait", "wait", CLIENT_TEXT},
    {0},
};
static const struct client_field no_fields[] = {{0}};

/* ---- replies for a person ---- */

/* A reply without what every reply has. */
static struct span without_envelope(struct span reply, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, reply.count + 16);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 0;
    struct span key;
    struct span value;
    for (struct wire_map_walk walk = wire_map_begin(reply); wire_map_next(&walk, &key, &value);) {
        if (!span_is(key, "v") && !span_is(key, "ok") && !span_is(key, "requestId")) {
            wire_write_string(&writer, key);
            wire_write_raw(&writer, value);
            count++;
        }
    }
    wire_close_map(&writer, mark, count);
    return wire_writer_span(&writer);
}

static void print_members(struct span reply, struct arena *arena)
{
    cli_print_members(without_envelope(reply, arena), arena);
}

static void print_rows(const struct cli_column *columns, struct span rows, const char *none,
                       struct arena *arena)
{
    if (wire_count(rows) == 0) {
        printf("%s\n", none);
        return;
    }
    cli_print_table(columns, rows, arena);
}

static void print_cursor(struct span reply, struct arena *arena)
{
    struct span cursor = cli_cell(wire_find_text(reply, "cursor"), arena);
    if (cursor.count > 0) {
        printf("more: --cursor '%.*s'\n", SPAN_ARG(cursor));
    }
}

static void print_executions(struct span reply, struct arena *arena)
{
    static const struct cli_column columns[] = {
        {"EXECUTION", "executionId"}, {"PROCESS", "process"},
        {"VERSION", "version"},       {"STATUS", "status"},
        {"LIFECYCLE", "lifecycle"},   {"TASK", "taskId"},
        {"STARTED", "startedAt"},     {"ENDED", "endedAt"},
        {"ERROR", "errorCode"},       {0},
    };
    print_rows(columns, wire_find_text(reply, "executions"), "no executions", arena);
    print_cursor(reply, arena);
}

static void print_tasks(struct span reply, struct arena *arena)
{
    static const struct cli_column columns[] = {
        {"EXECUTION", "executionId"},
        {"PROCESS", "process"},
        {"TASK", "taskId"},
        {"NAME", "taskName"},
        {"ASSIGNEE", "assignee"},
        {"GROUPS", "candidateGroups"},
        {"USERS", "candidateUsers"},
        {"FORM", "formKey"},
        {"DUE", "dueAt"},
        {"SINCE", "since"},
        {0},
    };
    print_rows(columns, wire_find_text(reply, "tasks"), "no human tasks", arena);
    print_cursor(reply, arena);
}

/* A row of its own: what comes for it, whatever it is called in the reply. */
static void write_trigger(struct wire_writer *writer, struct span definition, struct span trigger)
{
    static const char *const copied[] = {"id", "kind", "nextDueAt", "lastFiredAt"};
    static const char *const what[] = {"schedule", "path", "name"};
    size_t mark = wire_open_map(writer);
    uint32_t pairs = 1;
    wire_pair_value(writer, "process", wire_find_text(definition, "process"));
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        wire_pair_value(writer, copied[i], wire_find_text(trigger, copied[i]));
        pairs++;
    }
    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
        if (wire_find_text(trigger, what[i]).count > 0) {
            wire_pair_value(writer, "what", wire_find_text(trigger, what[i]));
            pairs++;
        }
    }
    wire_close_map(writer, mark, pairs);
}

/* What starts them, by themselves. */
static void print_triggers(struct span definitions, struct arena *arena)
{
    static const struct cli_column columns[] = {
        {"PROCESS", "process"},
        {"TRIGGER", "id"},
        {"KIND", "kind"},
        {"WHAT", "what"},
        {"NEXT", "nextDueAt"},
        {"LAST", "lastFiredAt"},
        {0},
    };
    struct wire_writer writer;
    struct span definition;
    uint32_t count = 0;
    wire_writer_init(&writer, arena, 1024);
    size_t mark = wire_open_array(&writer);
    struct wire_map_walk walk = wire_array_begin(definitions);
    while (wire_array_next(&walk, &definition)) {
        struct span trigger;
        struct wire_map_walk inner = wire_array_begin(wire_find_text(definition, "triggers"));
        while (wire_array_next(&inner, &trigger)) {
            write_trigger(&writer, definition, trigger);
            count++;
        }
    }
    wire_close_array(&writer, mark, count);
    if (count > 0) {
        putchar('\n');
        print_rows(columns, wire_writer_span(&writer), "", arena);
    }
}

static void print_definitions(struct span reply, struct arena *arena)
{
    static const struct cli_column columns[] = {
        {"PROJECT", "projectId"},
        {"PROCESS", "process"},
        {"VERSION", "version"},
        {"NAME", "name"},
        {"FILE", "file"},
        {"DEPLOYED", "deployedAt"},
        {0},
    };
    static const struct cli_column decision_columns[] = {
        {"PROJECT", "projectId"},
        {"DECISION", "decision"},
        {"VERSION", "version"},
        {"NAME", "name"},
        {"FILE", "file"},
        {"DEPLOYED", "deployedAt"},
        {0},
    };
    struct span decisions = wire_find_text(reply, "decisions");
    print_rows(columns, wire_find_text(reply, "definitions"), "no definitions", arena);
    print_triggers(wire_find_text(reply, "definitions"), arena);
    if (wire_count(decisions) > 0) {
        printf("\n");
        print_rows(decision_columns, decisions, "", arena);
    }
}

static const struct client_shape shapes[] = {
    {"start", "process", start_fields, print_members},
    {"callback", "executionId", callback_fields, print_members},
    {"message", "name", message_fields, print_members},
    {"signal", "name", signal_fields, print_members},
    {"get", "executionId", get_fields, print_members},
    {"list", NULL, list_fields, print_executions},
    {"tasks", NULL, tasks_fields, print_tasks},
    {"deploy", NULL, project_fields, print_members},
    {"definitions", NULL, definitions_fields, print_definitions},
    {"suspend", "executionId", no_fields, print_members},
    {"resume", "executionId", no_fields, print_members},
    {"abort", "executionId", abort_fields, print_members},
    {"restart", "executionId", no_fields, print_members},
    {"retry", "executionId", retry_fields, print_members},
    {"delete", "executionId", no_fields, print_members},
    {"migrate", "executionId", migrate_fields, print_members},
    {"import", NULL, import_fields, print_members},
    {"stats", NULL, no_fields, print_members},
    {"ping", NULL, no_fields, print_members},
    {"backup", "directory", no_fields, print_members},
};

const struct client_shape *client_shape_of(const char *verb)
{
    size_t index = 0;
    while (strcmp(shapes[index].operation, verb) != 0) {
        index++;
    }
    return &shapes[index];
}

/* ---- verbs ---- */

static int run_callback(const struct cli_arguments *arguments)
{
    bool by_session = cli_option_value(arguments, "session") != NULL;
    if (by_session == (arguments->operand_count > 0)) {
        return cli_complain("callback", CLI_USAGE,
                            "name the execution or its --session: one of the two");
    }
    return client_run(arguments);
}

static int run_get(const struct cli_arguments *arguments)
{
    return cli_option_flag(arguments, "steps") ? replay_list(arguments) : client_run(arguments);
}

/* The engine's working directory is another: it wants to hear the whole path. */
static int run_backup(const struct cli_arguments *arguments)
{
    static char path[2 * PATH_MAX];
    char here[PATH_MAX];
    struct cli_arguments absolute = *arguments;
    if (arguments->operands[0][0] != '/') {
        if (getcwd(here, sizeof(here)) == NULL) {
            return cli_complain("backup", CLI_FAILED, "the working directory is not known");
        }
        snprintf(path, sizeof(path), "%s/%s", here, arguments->operands[0]);
        absolute.operands[0] = path;
    }
    return client_run(&absolute);
}

#define ON_EXECUTION                                                                               \
    .operands = "EXECUTION", .operands_min = 1, .operands_max = 1, .run = client_run

const struct cli_verb cli_client_verbs[] = {
    {.name = "deploy",
     .summary = "Deploys definition files; new content makes a new version",
     .operands = "FILE…",
     .operands_min = 1,
     .operands_max = CLI_VALUES_MAX,
     .options = deploy_options,
     .run = client_run},
    {.name = "definitions",
     .summary = "Lists the deployed processes, their versions and triggers, and the decisions",
     .operands = "",
     .options = definitions_options,
     .run = client_run},
    {.name = "start",
     .summary = "Starts an execution of a process",
     .operands = "PROCESS",
     .operands_min = 1,
     .operands_max = 1,
     .options = start_options,
     .details = "Example:\n"
                "  strider start order --request '{\"amount\": 120}' --session table-7",
     .run = client_run},
    {.name = "callback",
     .summary = "Answers a task that waits, so that its execution goes on",
     .operands = "[EXECUTION]",
     .operands_max = 1,
     .options = callback_options,
     .details = "Examples:\n"
                "  strider callback 0197… --task approve --payload '{\"approved\": true}'\n"
                "  strider callback --session table-7 --payload '{\"paid\": true}'",
     .run = run_callback},
    {.name = "message",
     .summary = "Publishes a message to the execution that waits for it, now or later",
     .operands = "NAME",
     .operands_min = 1,
     .operands_max = 1,
     .options = message_options,
     .details = "Example:\n"
                "  strider message paid --key order-7 --payload '{\"amount\": 120}'",
     .run = client_run},
    {.name = "signal",
     .summary = "Sends a signal to all executions that wait for it now",
     .operands = "NAME",
     .operands_min = 1,
     .operands_max = 1,
     .options = signal_options,
     .run = client_run},
    {.name = "get",
     .summary = "Shows one execution",
     .operands = "EXECUTION",
     .operands_min = 1,
     .operands_max = 1,
     .options = get_options,
     .run = run_get},
    {.name = "list",
     .summary = "Lists executions, the newest first",
     .operands = "",
     .options = list_options,
     .run = client_run},
    {.name = "tasks",
     .summary = "Lists the human tasks that wait",
     .operands = "",
     .options = tasks_options,
     .run = client_run},
    {.name = "suspend",
     .summary = "Halts an execution until resume",
     ON_EXECUTION,
     .options = plain_options},
    {.name = "resume",
     .summary = "Lets a suspended execution go on",
     ON_EXECUTION,
     .options = plain_options},
    {.name = "abort",
     .summary = "Ends an execution for good",
     ON_EXECUTION,
     .options = abort_options},
    {.name = "restart",
     .summary = "Begins an ended execution anew, with the same request",
     ON_EXECUTION,
     .options = plain_options},
    {.name = "retry",
     .summary = "Does the failed step of an execution again",
     ON_EXECUTION,
     .options = retry_options},
    {.name = "migrate",
     .summary = "Moves an execution to another version of its definition",
     ON_EXECUTION,
     .options = migrate_options,
     .details = "Example:\n"
                "  strider migrate 0197… --to-version 3 --map approve=review --map f2=f7"},
    {.name = "import",
     .summary = "Takes over an execution that ran in another engine",
     .operands = "FILE|-",
     .operands_min = 1,
     .operands_max = 1,
     .options = import_options,
     .details =
         "The file is a JSON object: process, active (nodes), passed (edges, with results),\n"
         "request, context, execution and so on.\n"
         "Example:\n"
         "  echo '{\"process\": \"leave\", \"active\": [\"b1\"], \"passed\": [\"f0\"]}' | strider "
         "import -",
     .run = client_run},
    {.name = "delete",
     .summary = "Deletes an execution and all its data",
     ON_EXECUTION,
     .options = plain_options},
    {.name = "backup",
     .summary = "Copies a running engine's data directory to a new one",
     .operands = "DIRECTORY",
     .operands_min = 1,
     .operands_max = 1,
     .options = plain_options,
     .details =
         "The directory is made by the engine, on its machine; it must not exist. To restore,\n"
         "start an engine on it: strider serve --data DIRECTORY. Stores that are elsewhere\n"
         "(Azure, S3, a database, a blob folder) are not in it.\n"
         "Example:\n"
         "  strider backup /var/backups/strider-monday --timeout 10min",
     .run = run_backup},
    {.name = "stats",
     .summary = "Shows the engine's counters",
     .operands = "",
     .options = plain_options,
     .run = client_run},
    {.name = "ping",
     .summary = "Asks whether an engine answers",
     .operands = "",
     .options = plain_options,
     .run = client_run},
    {0},
};
