/*
 * client.c: the verbs that ask a running engine, over NNG. One table says of each verb which option
 * becomes which field of the request (interfaces.md 2) and how its reply looks to a person; the
 * rest is the same for all.
 */
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/input.h"
#include "tools/strider/print.h"
#include "tools/strider/verbs.h"
#include "transport/client.h"

#define CLIENT_ARENA_BYTES (256u << 20)
#define CLIENT_TIMEOUT_MS  60000u
#define CLIENT_GRACE_MS    2000u /* the engine's own Timeout reply may take that long to arrive */
#define DEFAULT_URL        "tcp://127.0.0.1:7700"

enum field_kind {
    FIELD_TEXT,
    FIELD_INTEGER,
    FIELD_JSON,
    FIELD_FLAG,  /* true when the option is there */
    FIELD_PAIRS, /* NAME=VALUE, repeats: a map */
    FIELD_WORDS, /* comma-separated: a list of strings */
};

/* An option that becomes a field; tables end with a NULL option. */
struct field {
    const char *option;
    const char *name;
    enum field_kind kind;
};

struct request_shape {
    const char *operation; /* the verb's name */
    const char *operand;   /* the field that the operand fills; NULL: none */
    const struct field *fields;
    void (*print)(struct span reply, struct arena *arena); /* for a person */
};

/* ---- options ---- */

#define CONNECTION_OPTIONS                                                                         \
    {"connect", "URL", "the engine's NNG address; else $STRIDER_CONNECT, else\n" DEFAULT_URL},     \
        {"token", "TEXT", "when the engine asks for one; else $STRIDER_TOKEN"},                    \
        {"timeout", "DURATION", "how long to wait for the answer (60s)"},                          \
        {"json", NULL, "print the reply as JSON, on a terminal too"},                              \
    {                                                                                              \
        0                                                                                          \
    }

static const struct cli_option plain_options[] = {CONNECTION_OPTIONS};

static const struct cli_option deploy_options[] = {
    {"project", "ID", "the project to deploy to (default)"},
    CONNECTION_OPTIONS,
};

static const struct cli_option definitions_options[] = {
    {"project", "ID", "of this project alone"},
    CONNECTION_OPTIONS,
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
    CONNECTION_OPTIONS,
};

static const struct cli_option callback_options[] = {
    {"session", "TEXT", "channelSessionId, instead of an execution"},
    {"task", "ID", "the task that waits, where there are several"},
    {"payload", "JSON|@FILE", "what comes back"},
    {"output", "JSON|@FILE", "the task's result (which way to go on)"},
    {"error", "JSON|@FILE", "{\"code\",\"message\",\"bpmnError\"?}: it failed"},
    {"request-id", "TEXT", "makes the callback idempotent for 10 minutes"},
    {"wait", "WHEN", "segment (default) or accepted"},
    CONNECTION_OPTIONS,
};

static const struct cli_option get_options[] = {
    {"include", "LIST", "any of payloads,map,logs,definition"},
    CONNECTION_OPTIONS,
};

static const struct cli_option list_options[] = {
    {"status", "NAME", "Running, Waiting, Completed, Stopped or Error"},
    {"lifecycle", "NAME", "Pending, Running, Suspended, WaitingForHuman, Completed or Failed"},
    {"process", "ID", "of this process alone"},
    {"workspace", "ID", "of this workspace alone"},
    {"since", "TIME", "started at or after it (RFC 3339)"},
    {"limit", "N", "at most so many (100)"},
    {"cursor", "TEXT", "go on where an earlier list ended"},
    CONNECTION_OPTIONS,
};

static const struct cli_option tasks_options[] = {
    {"process", "ID", "of this process alone"},
    {"assignee", "NAME", "of this person alone"},
    {"limit", "N", "at most so many"},
    CONNECTION_OPTIONS,
};

static const struct cli_option abort_options[] = {
    {"reason", "TEXT", "for the execution's log"},
    CONNECTION_OPTIONS,
};

static const struct cli_option retry_options[] = {
    {"task", "ID", "the failed step, where there are several"},
    CONNECTION_OPTIONS,
};

static const struct field start_fields[] = {
    {"request", "request", FIELD_JSON},
    {"context", "context", FIELD_JSON},
    {"var", "execution", FIELD_PAIRS},
    {"workspace", "workspaceId", FIELD_TEXT},
    {"project", "projectId", FIELD_TEXT},
    {"version", "version", FIELD_INTEGER},
    {"id", "executionId", FIELD_TEXT},
    {"request-id", "requestId", FIELD_TEXT},
    {"channel", "channel", FIELD_TEXT},
    {"session", "channelSessionId", FIELD_TEXT},
    {"wait", "wait", FIELD_TEXT},
    {"test", "isTest", FIELD_FLAG},
    {0},
};

static const struct field callback_fields[] = {
    {"session", "channelSessionId", FIELD_TEXT},
    {"task", "taskId", FIELD_TEXT},
    {"payload", "payload", FIELD_JSON},
    {"output", "output", FIELD_JSON},
    {"error", "error", FIELD_JSON},
    {"request-id", "requestId", FIELD_TEXT},
    {"wait", "wait", FIELD_TEXT},
    {0},
};

static const struct field list_fields[] = {
    {"status", "status", FIELD_TEXT},   {"lifecycle", "lifecycle", FIELD_TEXT},
    {"process", "process", FIELD_TEXT}, {"workspace", "workspaceId", FIELD_TEXT},
    {"since", "since", FIELD_TEXT},     {"limit", "limit", FIELD_INTEGER},
    {"cursor", "cursor", FIELD_TEXT},   {0},
};

static const struct field tasks_fields[] = {
    {"process", "process", FIELD_TEXT},
    {"assignee", "assignee", FIELD_TEXT},
    {"limit", "limit", FIELD_INTEGER},
    {0},
};

static const struct field get_fields[] = {{"include", "include", FIELD_WORDS}, {0}};
static const struct field project_fields[] = {{"project", "projectId", FIELD_TEXT}, {0}};
static const struct field abort_fields[] = {{"reason", "reason", FIELD_TEXT}, {0}};
static const struct field retry_fields[] = {{"task", "taskId", FIELD_TEXT}, {0}};
static const struct field no_fields[] = {{0}};

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
    struct span cursor = cli_cell(wire_find_text(reply, "cursor"), arena);
    if (cursor.count > 0) {
        printf("more: --cursor '%.*s'\n", SPAN_ARG(cursor));
    }
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
    print_rows(columns, wire_find_text(reply, "definitions"), "no definitions", arena);
}

static const struct request_shape shapes[] = {
    {"start", "process", start_fields, print_members},
    {"callback", "executionId", callback_fields, print_members},
    {"get", "executionId", get_fields, print_members},
    {"list", NULL, list_fields, print_executions},
    {"tasks", NULL, tasks_fields, print_tasks},
    {"deploy", NULL, project_fields, print_members},
    {"definitions", NULL, project_fields, print_definitions},
    {"suspend", "executionId", no_fields, print_members},
    {"resume", "executionId", no_fields, print_members},
    {"abort", "executionId", abort_fields, print_members},
    {"restart", "executionId", no_fields, print_members},
    {"retry", "executionId", retry_fields, print_members},
    {"delete", "executionId", no_fields, print_members},
    {"stats", NULL, no_fields, print_members},
    {"ping", NULL, no_fields, print_members},
};

static const struct request_shape *shape_of(const char *verb)
{
    size_t index = 0;
    while (strcmp(shapes[index].operation, verb) != 0) {
        index++;
    }
    return &shapes[index];
}

/* ---- requests ---- */

/* One command line being carried out. */
struct session {
    const struct cli_arguments *arguments;
    const struct request_shape *shape;
    struct arena arena;
    const char *url;
    const char *token;
    uint64_t timeout_ms;
    struct transport_client *client;
};

static int complain(const struct session *session, int code, const char *message)
{
    return cli_complain(session->shape->operation, code, "%s", message);
}

static int write_pairs(struct session *session, struct wire_writer *writer,
                       const struct field *field)
{
    size_t mark = wire_open_map(writer);
    uint32_t count = 0;
    const char *text;
    for (; (text = cli_option_nth(session->arguments, field->option, count)) != NULL; count++) {
        struct span name;
        struct span value;
        int code =
            cli_read_pair(session->shape->operation, "--var", text, &session->arena, &name, &value);
        if (code != CLI_DONE) {
            return code;
        }
        wire_write_string(writer, name);
        wire_write_raw(writer, value);
    }
    wire_close_map(writer, mark, count);
    return CLI_DONE;
}

static void write_words(struct wire_writer *writer, const char *text)
{
    size_t mark = wire_open_array(writer);
    uint32_t count = 0;
    for (const char *next = text; *next != '\0';) {
        size_t length = strcspn(next, ",");
        struct span word = span_trim(span_of(next, length));
        if (word.count > 0) {
            wire_write_string(writer, word);
            count++;
        }
        next += length + (next[length] == ',');
    }
    wire_close_array(writer, mark, count);
}

static int write_field(struct session *session, struct wire_writer *writer,
                       const struct field *field, const char *text)
{
    const char *verb = session->shape->operation;
    char option[64];
    snprintf(option, sizeof(option), "--%s", field->option);
    struct span value;
    char *end;
    int code = CLI_DONE;
    if (text_utf8_valid_count(span_text(text)) < strlen(text)) {
        return cli_complain(verb, CLI_USAGE, "%s is not UTF-8", option);
    }
    wire_write_text(writer, field->name);
    switch (field->kind) {
    case FIELD_TEXT:
        wire_write_text(writer, text);
        return CLI_DONE;
    case FIELD_INTEGER:
        wire_write_int(writer, strtoll(text, &end, 10));
        if (end == text || *end != '\0') {
            return cli_complain(verb, CLI_USAGE, "%s wants a whole number, not \"%s\"", option,
                                text);
        }
        return CLI_DONE;
    case FIELD_JSON:
        code = cli_read_json(verb, option, text, &session->arena, &value);
        if (code == CLI_DONE) {
            wire_write_raw(writer, value);
        }
        return code;
    case FIELD_FLAG:
        wire_write_bool(writer, true);
        return CLI_DONE;
    case FIELD_PAIRS:
        return write_pairs(session, writer, field);
    case FIELD_WORDS:
        write_words(writer, text);
        return CLI_DONE;
    }
    return CLI_USAGE;
}

/* Writes the request's map: what every request has, the operand, the options that were given, and
 * `extra` pairs. */
static int write_request(struct session *session, struct span extra, uint32_t extra_count,
                         struct span *out)
{
    const struct request_shape *shape = session->shape;
    struct wire_writer writer;
    wire_writer_init(&writer, &session->arena, 1024 + extra.count);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 3 + extra_count;
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", shape->operation);
    wire_pair_int(&writer, "timeoutMs", (int64_t)session->timeout_ms);
    if (extra.count > 0) {
        wire_write_raw(&writer, extra);
    }
    if (session->token != NULL) {
        wire_pair_text(&writer, "token", session->token);
        count++;
    }
    if (shape->operand != NULL && session->arguments->operand_count > 0) {
        const char *operand = session->arguments->operands[0];
        if (text_utf8_valid_count(span_text(operand)) < strlen(operand)) {
            return complain(session, CLI_USAGE, "an argument is not UTF-8");
        }
        wire_pair_text(&writer, shape->operand, operand);
        count++;
    }
    for (const struct field *field = shape->fields; field->option != NULL; field++) {
        const char *text = cli_option_value(session->arguments, field->option);
        if (text == NULL) {
            continue;
        }
        int code = write_field(session, &writer, field, text);
        if (code != CLI_DONE) {
            return code;
        }
        count++;
    }
    wire_close_map(&writer, mark, count);
    *out = wire_writer_span(&writer);
    return out->count > 0 ? CLI_DONE : complain(session, CLI_FAILED, "the request is too large");
}

/* Error replies: the message for a person, the whole reply for a program. */
static int show_reply(struct session *session, struct span reply)
{
    bool ok = wire_bool_or(wire_find_text(reply, "ok"), false);
    if (cli_wants_json(session->arguments)) {
        cli_print_json(reply, &session->arena);
    } else if (ok) {
        session->shape->print(reply, &session->arena);
    }
    if (ok) {
        return CLI_DONE;
    }
    struct span error = wire_find_text(reply, "error");
    struct span code = cli_cell(wire_find_text(error, "code"), &session->arena);
    struct span message = cli_cell(wire_find_text(error, "message"), &session->arena);
    struct span details = cli_cell(wire_find_text(error, "details"), &session->arena);
    return cli_complain(session->shape->operation, CLI_FAILED, "%.*s: %.*s%s%.*s", SPAN_ARG(code),
                        SPAN_ARG(message), details.count > 0 ? " " : "", SPAN_ARG(details));
}

static int ask(struct session *session, struct span request)
{
    struct span reply;
    uint32_t timeout_ms = (uint32_t)session->timeout_ms + CLIENT_GRACE_MS;
    enum result result =
        transport_client_call(session->client, request, timeout_ms, &session->arena, &reply);
    if (result == RESULT_TIMEOUT) {
        return cli_complain(session->shape->operation, CLI_FAILED,
                            "no answer from %s within %u ms (does an engine serve there?)",
                            session->url, timeout_ms);
    }
    if (result != RESULT_OK) {
        return cli_complain(session->shape->operation, CLI_FAILED, "%s: %s", session->url,
                            result_text(result));
    }
    return show_reply(session, reply);
}

/* ---- deploy: one request a file ---- */

static int deploy_file(struct session *session, const char *path)
{
    struct span content;
    char problem[512];
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, &session->arena, &content, problem) !=
        RESULT_OK) {
        return complain(session, CLI_FAILED, problem);
    }
    const char *slash = strrchr(path, '/');
    struct wire_writer extra;
    wire_writer_init(&extra, &session->arena, content.count + 256);
    wire_pair_text(&extra, "name", slash == NULL ? path : slash + 1);
    wire_write_text(&extra, "content");
    if (text_utf8_valid_count(content) == content.count) {
        wire_write_string(&extra, content);
    } else {
        wire_write_binary(&extra, content); /* UTF-16, as some modelers save */
    }
    struct span request;
    int code = write_request(session, wire_writer_span(&extra), 2, &request);
    return code == CLI_DONE ? ask(session, request) : code;
}

static int deploy_files(struct session *session)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < session->arguments->operand_count; i++) {
        int outcome = deploy_file(session, session->arguments->operands[i]);
        code = outcome > code ? outcome : code;
        if (outcome == CLI_USAGE) {
            break;
        }
    }
    return code;
}

/* ---- running ---- */

static const char *option_or_environment(const struct cli_arguments *arguments, const char *option,
                                         const char *variable)
{
    const char *value = cli_option_value(arguments, option);
    return value != NULL ? value : getenv(variable);
}

static int carry_out(struct session *session)
{
    const char *timeout = cli_option_value(session->arguments, "timeout");
    session->timeout_ms = CLIENT_TIMEOUT_MS;
    if (timeout != NULL &&
        (cli_parse_duration(span_text(timeout), &session->timeout_ms) != RESULT_OK ||
         session->timeout_ms == 0 || session->timeout_ms > 86400000)) {
        return cli_complain(
            session->shape->operation, CLI_USAGE,
            "--timeout wants a duration of at most a day, like 500ms or 30s, not \"%s\"", timeout);
    }
    bool deploy = strcmp(session->shape->operation, "deploy") == 0;
    struct span request = SPAN_EMPTY;
    int code = deploy ? CLI_DONE : write_request(session, SPAN_EMPTY, 0, &request);
    if (code != CLI_DONE) {
        return code;
    }
    char error[256] = "";
    if (transport_client_open(session->url, &session->client, error) != RESULT_OK) {
        return cli_complain(session->shape->operation, CLI_USAGE, "--connect %s: %s", session->url,
                            error);
    }
    code = deploy ? deploy_files(session) : ask(session, request);
    transport_client_close(session->client);
    return code;
}

static int run_request(const struct cli_arguments *arguments)
{
    const char *url = option_or_environment(arguments, "connect", "STRIDER_CONNECT");
    struct session session = {
        .arguments = arguments,
        .shape = shape_of(arguments->verb->name),
        .url = url == NULL ? DEFAULT_URL : url,
        .token = option_or_environment(arguments, "token", "STRIDER_TOKEN"),
    };
    arena_init(&session.arena, 65536, CLIENT_ARENA_BYTES);
    int code = carry_out(&session);
    arena_release(&session.arena);
    return code;
}

static int run_callback(const struct cli_arguments *arguments)
{
    bool by_session = cli_option_value(arguments, "session") != NULL;
    if (by_session == (arguments->operand_count > 0)) {
        return cli_complain("callback", CLI_USAGE,
                            "name the execution or its --session: one of the two");
    }
    return run_request(arguments);
}

#define ON_EXECUTION                                                                               \
    .operands = "EXECUTION", .operands_min = 1, .operands_max = 1, .run = run_request

const struct cli_verb cli_client_verbs[] = {
    {.name = "deploy",
     .summary = "Deploys definition files; new content makes a new version",
     .operands = "FILE…",
     .operands_min = 1,
     .operands_max = CLI_VALUES_MAX,
     .options = deploy_options,
     .run = run_request},
    {.name = "definitions",
     .summary = "Lists the deployed processes and their versions",
     .operands = "",
     .options = definitions_options,
     .run = run_request},
    {.name = "start",
     .summary = "Starts an execution of a process",
     .operands = "PROCESS",
     .operands_min = 1,
     .operands_max = 1,
     .options = start_options,
     .details = "Example:\n"
                "  strider start order --request '{\"amount\": 120}' --session table-7",
     .run = run_request},
    {.name = "callback",
     .summary = "Answers a task that waits, so that its execution goes on",
     .operands = "[EXECUTION]",
     .operands_max = 1,
     .options = callback_options,
     .details = "Examples:\n"
                "  strider callback 0197… --task approve --payload '{\"approved\": true}'\n"
                "  strider callback --session table-7 --payload '{\"paid\": true}'",
     .run = run_callback},
    {.name = "get", .summary = "Shows one execution", ON_EXECUTION, .options = get_options},
    {.name = "list",
     .summary = "Lists executions, the newest first",
     .operands = "",
     .options = list_options,
     .run = run_request},
    {.name = "tasks",
     .summary = "Lists the human tasks that wait",
     .operands = "",
     .options = tasks_options,
     .run = run_request},
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
    {.name = "delete",
     .summary = "Deletes an execution and all its data",
     ON_EXECUTION,
     .options = plain_options},
    {.name = "stats",
     .summary = "Shows the engine's counters",
     .operands = "",
     .options = plain_options,
     .run = run_request},
    {.name = "ping",
     .summary = "Asks whether an engine answers",
     .operands = "",
     .options = plain_options,
     .run = run_request},
    {0},
};
