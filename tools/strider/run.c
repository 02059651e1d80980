/*
 * run.c: `strider run`: one execution in this process, on the real actors and the embedded store.
 * It waits for what happens by itself (timers, retries, module answers) and ends when the execution
 * does, or when only somebody outside can go on.
 *
 * The main thread asks and waits; replies and events reach it through an inbox that the actors'
 * threads fill.
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/execution_view.h"
#include "tools/strider/host.h"
#include "tools/strider/inbox.h"
#include "tools/strider/logs.h"
#include "tools/strider/print.h"
#include "tools/strider/run_input.h"
#include "tools/strider/verbs.h"

#define RUN_ARENA_BYTES (512u << 20)
#define RUN_PROJECT     "default"
#define LAST_WRITES_MS  5000
#define DIRECTORY_BYTES 4096u

enum ticket { TICKET_START, TICKET_GET };

/* ---- one run ---- */

struct run {
    const struct cli_arguments *arguments;
    struct arena arena;
    struct cli_inbox inbox;
    struct cli_host host;
    char directory[DIRECTORY_BYTES];
    bool temporary; /* the directory is removed at the end */
    struct run_input input;
    char execution_id[UUID_TEXT_BYTES + 1];
    int64_t shown; /* sequence of the last step that --trace has printed */
    bool told_of_waits;
    uint32_t max_steps; /* 0: LIMIT_STEPS */
};

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static int load_project(struct run *run)
{
    struct actor_project project = {.project = span_text(RUN_PROJECT),
                                    .workspace = span_text("default"),
                                    .environment = run->input.environment,
                                    .modules = run->input.modules,
                                    .definitions = run->input.definitions,
                                    .definition_count = run->input.definition_count};
    struct span problems = SPAN_EMPTY;
    enum result result = actor_runtime_load(run->host.runtime, &project, 1, &run->arena, &problems);
    if (result != RESULT_OK && problems.count == 0) {
        problems = span_text(result_text(result));
    }
    return result == RESULT_OK
               ? CLI_DONE
               : cli_complain("run", CLI_FAILED, "%.*s", SPAN_ARG(span_trim(problems)));
}

/* ---- asking the engine ---- */

static int send_request(struct run *run, enum proto_operation operation, struct span body,
                        enum ticket ticket)
{
    struct proto_message *request = message_new(PROTO_REQUEST, body.count);
    if (request == NULL || body.count == 0) {
        message_free(request);
        return cli_complain("run", CLI_FAILED, "out of memory");
    }
    request->as.request.operation = operation;
    request->as.request.spelling = PROTO_MSGPACK;
    request->as.request.body = message_keep(request, body);
    request->as.request.received_ms = monotonic_ms();
    request->reply_to = (struct proto_address){.sink = &run->inbox.replies, .ticket = ticket};
    struct proto_sink *router = actor_runtime_router(run->host.runtime);
    enum result result = router->send(router, &request);
    if (result != RESULT_OK) {
        message_free(request);
        return cli_complain("run", CLI_FAILED, "the engine does not take the request: %s",
                            result_text(result));
    }
    return CLI_DONE;
}

static int send_start(struct run *run)
{
    const struct span payloads[3] = {run->input.request, run->input.context, run->input.variables};
    static const char *const names[3] = {"request", "context", "execution"};
    struct wire_writer writer;
    wire_writer_init(&writer, &run->arena, 1024);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 5;
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "start");
    wire_pair_text(&writer, "projectId", RUN_PROJECT);
    wire_pair_string(&writer, "process", run->input.process);
    wire_pair_text(&writer, "executionId", run->execution_id);
    for (size_t i = 0; i < 3; i++) {
        if (payloads[i].count > 0) {
            wire_pair_value(&writer, names[i], payloads[i]);
            count++;
        }
    }
    wire_close_map(&writer, mark, count);
    return send_request(run, PROTO_OP_START, wire_writer_span(&writer), TICKET_START);
}

/* The execution as it is now; the reply's bytes live in the arena. CLI_WAITING: interrupted. */
static int get_execution(struct run *run, struct span *out)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &run->arena, 256);
    wire_write_map(&writer, 4);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "get");
    wire_pair_text(&writer, "executionId", run->execution_id);
    wire_write_text(&writer, "include");
    wire_write_array(&writer, 2);
    wire_write_text(&writer, "payloads");
    wire_write_text(&writer, "map");
    int code = send_request(run, PROTO_OP_GET, wire_writer_span(&writer), TICKET_GET);
    if (code != CLI_DONE) {
        return code;
    }
    if (!cli_inbox_wait(&run->inbox, TICKET_GET, UINT64_MAX)) {
        return CLI_WAITING;
    }
    struct proto_message *reply = cli_inbox_reply(&run->inbox, TICKET_GET);
    *out = arena_copy(&run->arena, reply->as.reply.body);
    message_free(reply);
    return CLI_DONE;
}

/* ---- the end ---- */

static int complain_about_error(struct run *run, struct span error, int code)
{
    struct span name = cli_cell(wire_find_text(error, "code"), &run->arena);
    struct span message = cli_cell(wire_find_text(error, "message"), &run->arena);
    return cli_complain("run", code, "%.*s: %.*s", SPAN_ARG(name), SPAN_ARG(message));
}

static int conclude(struct run *run, struct span execution)
{
    int64_t state = wire_int_or(wire_find_text(execution, "state"), 0);
    bool json = cli_wants_json(run->arguments);
    struct span result = execution_result(execution, !json, &run->arena);
    if (json) {
        cli_print_json(result, &run->arena);
    } else {
        cli_print_members(result, &run->arena);
    }
    if ((state & ENGINE_STATE_STOPPED) == 0) {
        struct span waits = cli_cell(wire_find_text(execution, "waiting"), &run->arena);
        return cli_complain("run", CLI_WAITING, "waiting for input from outside: %.*s",
                            SPAN_ARG(waits));
    }
    if ((state & ENGINE_STATE_EXCEPTION) == 0 && (state & ENGINE_STATE_COMPLETED) != 0) {
        return CLI_DONE;
    }
    struct span error = wire_find_text(execution, "error");
    if (wire_is(error, WIRE_MAP)) {
        return complain_about_error(run, error, CLI_FAILED);
    }
    return cli_complain("run", CLI_FAILED, "it ended with state %" PRId64, state);
}

/* ---- following ---- */

/* The start was refused: there is no execution to look at. */
static int check_start(struct run *run, bool *answered)
{
    struct proto_message *reply = cli_inbox_reply(&run->inbox, TICKET_START);
    if (reply == NULL) {
        return CLI_DONE;
    }
    *answered = true;
    int code = CLI_DONE;
    if (!reply->as.reply.ok) {
        struct span body = arena_copy(&run->arena, reply->as.reply.body);
        code = complain_about_error(run, wire_find_text(body, "error"), CLI_FAILED);
    }
    message_free(reply);
    return code;
}

/* Looks at the execution after each event until it ends or waits for others. */
static int follow(struct run *run)
{
    bool trace = cli_option_flag(run->arguments, "trace");
    bool answered = false;
    uint64_t seen = 0;
    for (;;) {
        if (!cli_inbox_wait(&run->inbox, TICKET_START, seen)) {
            return cli_complain("run", CLI_FAILED, "interrupted");
        }
        seen = cli_inbox_events(&run->inbox);
        int code = check_start(run, &answered);
        if (code != CLI_DONE || (!answered && !trace)) {
            if (code != CLI_DONE) {
                return code;
            }
            continue;
        }
        arena_clear(&run->arena);
        struct span execution;
        code = get_execution(run, &execution);
        if (code != CLI_DONE) {
            return code == CLI_WAITING ? cli_complain("run", CLI_FAILED, "interrupted") : code;
        }
        if (trace) {
            run->shown = execution_print_steps(execution, run->shown, stderr, &run->arena);
        }
        enum execution_standing standing =
            answered ? execution_standing(execution) : EXECUTION_MOVES;
        if (standing == EXECUTION_ENDED || standing == EXECUTION_WAITS_FOR_OTHERS) {
            return conclude(run, execution);
        }
        if (standing == EXECUTION_WAITS_FOR_TIME && !run->told_of_waits) {
            execution_print_waits(execution, stderr,
                                  &run->arena); /* nobody shall take it for a hang */
        }
        run->told_of_waits = standing == EXECUTION_WAITS_FOR_TIME;
    }
}

/* ---- the store ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int choose_directory(struct run *run)
{
    const char *data = cli_option_value(run->arguments, "data");
    if (data != NULL) {
        snprintf(run->directory, sizeof(run->directory), "%s", data);
        return CLI_DONE;
    }
    const char *parent = getenv("TMPDIR");
    snprintf(run->directory, sizeof(run->directory), "%s/strider-run-XXXXXX",
             parent == NULL ? "/tmp" : parent);
    if (mkdtemp(run->directory) == NULL) {
        return cli_complain("run", CLI_FAILED, "%s: %s", run->directory, strerror(errno));
    }
    run->temporary = true;
    return CLI_DONE;
}

static int open_host(struct run *run)
{
    struct cli_host_options options = {
        .directory = run->directory,
        .engine =
            {
                .shard_count = 1,
                .durability = run->temporary ? ACTOR_NOT_DURABLE : ACTOR_DURABLE,
                .step_blobs = run->temporary ? ACTOR_STEPS_OFF : ACTOR_STEPS_ALL,
                .audit = true,
                .max_steps = run->max_steps,
                .observer = &run->inbox.events,
            },
        .modules = {.queue_max = 4096},
    };
    char error[512];
    struct actor_recovery recovery;
    if (cli_host_open(&options, &run->host, error) != RESULT_OK ||
        cli_host_start(&run->host, &recovery, error) != RESULT_OK) {
        return cli_complain("run", CLI_FAILED, "%s", error);
    }
    return CLI_DONE;
}

static void name_execution(struct run *run)
{
    uint8_t random_bytes[10];
    struct timespec now;
    ssize_t got = getrandom(random_bytes, sizeof(random_bytes), 0);
    ASSERT(got == (ssize_t)sizeof(random_bytes));
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t unix_ms = (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
    uuid_format(uuid_v7(unix_ms, random_bytes), run->execution_id);
}

static void hold_signals(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
}

static int carry_out(struct run *run)
{
    int code = cli_option_number(run->arguments, "max-steps", LIMIT_STEPS_MAX, &run->max_steps);
    code = code == CLI_DONE ? run_input_read(run->arguments, &run->arena, &run->input) : code;
    /* Reading may take its time, from a pipe, and ends by a signal at once. From here on there is
     * something to clean up, and threads are to be born: signals are looked for between two waits.
     */
    hold_signals();
    code = code == CLI_DONE ? choose_directory(run) : code;
    code = code == CLI_DONE ? open_host(run) : code;
    code = code == CLI_DONE ? load_project(run) : code;
    code = code == CLI_DONE ? send_start(run) : code;
    return code == CLI_DONE ? follow(run) : code;
}

static void clean_up(struct run *run)
{
    if (run->host.started && !run->temporary &&
        actor_runtime_drain(run->host.runtime, LAST_WRITES_MS) != RESULT_OK) {
        cli_complain("run", CLI_DONE, "the journal in %s holds what is not flushed yet",
                     run->directory);
    }
    cli_host_close(&run->host);
    if (run->temporary) {
        nftw(run->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    cli_inbox_release(&run->inbox);
    arena_release(&run->arena);
}

static int run_run(const struct cli_arguments *arguments)
{
    struct run run = {.arguments = arguments, .host.lock = -1};
    arena_init(&run.arena, 65536, RUN_ARENA_BYTES);
    cli_inbox_init(&run.inbox);
    logs_open(LOG_WARN, LOGS_AUTO);
    name_execution(&run);
    int code = carry_out(&run);
    clean_up(&run);
    return code;
}

static const struct cli_option run_options[] = {
    {"process", "ID", "which process of FILE; else the only executable one"},
    {"request", "JSON|@FILE", "the request payload"},
    {"context", "JSON|@FILE", "the context payload"},
    {"var", "NAME=VALUE", "a process variable; repeats. JSON where it is JSON, text else"},
    {"env", "NAME=VALUE", "an entry of the project's env; repeats"},
    {"modules", "FILE", "modules.json: who executes which task type"},
    {"with", "FILE",
     "another definition, for processes or decisions that are called; repeats.\n"
     "Decision models (*.dmn) beside FILE are found where it calls decisions"},
    {"data", "DIR", "keep journal, blobs and audit there; else a temporary directory"},
    CLI_MAX_STEPS_OPTION,
    {"trace", NULL, "print each step on stderr as it happens"},
    {"json", NULL, "print the result as JSON, on a terminal too"},
    {0},
};

const struct cli_verb cli_run = {
    .name = "run",
    .summary = "Runs one execution here, to its end or to a wait for somebody",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = run_options,
    .details =
        "Timers, retries and module answers are waited for. Example:\n"
        "  strider run order.bpmn --request '{\"total\": 80}' --modules modules.json --trace\n"
        "\n"
        "Exit code: 0 completed, 1 failed, 2 wrong usage, 3 it waits for input from outside (a "
        "person,\n"
        "a callback, a message, a signal).",
    .run = run_run,
};
