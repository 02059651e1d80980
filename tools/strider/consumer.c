/*
 * consumer.c: `strider consumer`: the audit queue into the audit tables, until SIGTERM.
 *
 * The main thread waits for signals; the consumer's actor has a thread, in which the database may
 * block, and so has each link to the broker.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "actors/consumer.h"
#include "actors/loop.h"
#include "audit/amqp/amqp.h"
#include "audit/file/file.h"
#include "storage/embedded/embedded.h"
#include "storage/odbc/odbc.h"
#include "tools/strider/logs.h"
#include "tools/strider/verbs.h"

#define VERB               "consumer"
#define SQLITE_PREFIX      "sqlite:"
#define QUEUE_DEFAULT      "execution-audit"
#define REFUSED_SUFFIX     ".refused"
#define WINDOW_DEFAULT     4096u
#define ASIDE_WINDOW       256u
#define PROGRESS_EVERY_S   10
#define DATABASE_TIMEOUT_S 30u
#define BUS_VARIABLE       "STRIDER_BUS_URL"
#define DATABASE_VARIABLE  "STRIDER_CONSUMER_DATABASE"

struct consuming {
    const char *url;
    const char *queue;
    const char *database;
    const char *aside_file; /* NULL: the queue of refused ones */
    const char *ca_file;
    char refused_queue[512];
    uint32_t window;
    char why[STORAGE_ODBC_REASON_BYTES]; /* of the last failure to open the database */
    struct actor_loop loop;
    struct audit_source *source;
    struct audit_bus *aside;
    struct actor_consumer *consumer;
};

/* An option, or the environment, where it does not show in the list of processes. */
static const char *option_or(const struct cli_arguments *arguments, const char *option,
                             const char *variable, const char *fallback)
{
    const char *value = cli_option_value(arguments, option);
    if (value == NULL && variable != NULL) {
        value = getenv(variable);
    }
    return value == NULL || value[0] == '\0' ? fallback : value;
}

static int read_arguments(const struct cli_arguments *arguments, struct consuming *out)
{
    out->url = option_or(arguments, "bus", BUS_VARIABLE, NULL);
    out->database = option_or(arguments, "database", DATABASE_VARIABLE, NULL);
    out->queue = option_or(arguments, "queue", NULL, QUEUE_DEFAULT);
    out->aside_file = option_or(arguments, "aside", NULL, NULL);
    out->ca_file = option_or(arguments, "ca", NULL, NULL);
    out->window = WINDOW_DEFAULT;
    const char *refused = option_or(arguments, "dead-letter", NULL, NULL);
    const char *window = option_or(arguments, "window", NULL, NULL);
    if (out->url == NULL || out->database == NULL) {
        return cli_complain(VERB, CLI_USAGE, "--bus URL and --database CONNECTION are needed");
    }
    if (out->aside_file != NULL && refused != NULL) {
        return cli_complain(VERB, CLI_USAGE, "--aside and --dead-letter exclude each other");
    }
    if (window != NULL) {
        char *end = NULL;
        unsigned long number = strtoul(window, &end, 10);
        if (*end != '\0' || number < 1 || number > AUDIT_WINDOW_MAX) {
            return cli_complain(VERB, CLI_USAGE, "--window is a number from 1 to %u",
                                AUDIT_WINDOW_MAX);
        }
        out->window = (uint32_t)number;
    }
    int count =
        snprintf(out->refused_queue, sizeof out->refused_queue, "%s%s",
                 refused != NULL ? refused : out->queue, refused != NULL ? "" : REFUSED_SUFFIX);
    return count < (int)sizeof out->refused_queue
               ? CLI_DONE
               : cli_complain(VERB, CLI_USAGE, "the queue's name is too long");
}

static enum result open_database(void *owner, struct storage_index **out)
{
    struct consuming *consuming = owner;
    const char *database = consuming->database;
    if (strncmp(database, SQLITE_PREFIX, sizeof SQLITE_PREFIX - 1) == 0) {
        enum result result = storage_sqlite_index_open(database + sizeof SQLITE_PREFIX - 1, out);
        snprintf(consuming->why, sizeof consuming->why, "%s", result_text(result));
        return result;
    }
    struct storage_odbc_options options = {.connection = database, .timeout_s = DATABASE_TIMEOUT_S};
    return storage_odbc_index_open(&options, out, consuming->why);
}

/* A database that is away is waited for, one that will never do is said at once. */
static int try_database(struct consuming *consuming)
{
    struct storage_index *index = NULL;
    enum result result = open_database(consuming, &index);
    if (result == RESULT_OK) {
        index->ops->close(index);
        return CLI_DONE;
    }
    bool hopeless = result == RESULT_DENIED || result == RESULT_INVALID ||
                    result == RESULT_UNSUPPORTED || result == RESULT_CORRUPT;
    if (hopeless) {
        return cli_complain(VERB, CLI_FAILED, "the database cannot be used: %s: %s",
                            result_text(result), consuming->why);
    }
    log_line(LOG_WARN, "CONSUMER-DATABASE-AWAY", "reason=\"%s\"", consuming->why);
    return CLI_DONE;
}

static enum result open_aside(struct consuming *consuming, char reason[AUDIT_REASON_BYTES])
{
    struct audit_bus_options options = {
        .window = ASIDE_WINDOW,
        .owner = {.sink = &consuming->loop.sink, .ticket = ACTOR_BUS_ASIDE}};
    struct audit_amqp_options amqp = {
        .url = consuming->url, .queue = consuming->refused_queue, .ca_file = consuming->ca_file};
    return consuming->aside_file != NULL
               ? audit_file_bus_open(consuming->aside_file, &options, &consuming->aside, reason)
               : audit_amqp_bus_open(&amqp, &options, &consuming->aside, reason);
}

static enum result open_source(struct consuming *consuming, char reason[AUDIT_REASON_BYTES])
{
    struct audit_source_options options = {
        .window = consuming->window,
        .owner = {.sink = &consuming->loop.sink, .ticket = ACTOR_BUS_MAIN}};
    struct audit_amqp_options amqp = {
        .url = consuming->url, .queue = consuming->queue, .ca_file = consuming->ca_file};
    return audit_amqp_source_open(&amqp, &options, &consuming->source, reason);
}

static int start(struct consuming *consuming)
{
    char reason[AUDIT_REASON_BYTES] = "no memory";
    enum result result = actor_loop_init(&consuming->loop, VERB, consuming->window);
    if (result == RESULT_OK) {
        result = open_aside(consuming, reason);
    }
    if (result == RESULT_OK) {
        result = open_source(consuming, reason);
    }
    if (result == RESULT_OK) {
        struct actor_consumer_options options = {.source = consuming->source,
                                                 .aside = consuming->aside,
                                                 .open = open_database,
                                                 .owner = consuming};
        if (getrandom(&options.random, sizeof options.random, 0) < 0) {
            options.random = (uint64_t)(uintptr_t)consuming;
        }
        snprintf(reason, sizeof reason, "no memory");
        result = actor_consumer_new(&options, &consuming->consumer);
    }
    if (result == RESULT_OK) {
        actor_loop_settle(&consuming->loop, actor_consumer_turn, consuming->consumer);
        result = actor_loop_start(&consuming->loop);
    }
    int code = result == RESULT_INVALID || result == RESULT_UNSUPPORTED ? CLI_USAGE : CLI_FAILED;
    return result == RESULT_OK ? CLI_DONE : cli_complain(VERB, code, "%s", reason);
}

/* The actor ends behind its transaction; then the source tells the broker what was accepted. */
static void stop(struct consuming *consuming)
{
    if (consuming->loop.ev != NULL) {
        actor_loop_stop(&consuming->loop);
    }
    if (consuming->source != NULL) {
        consuming->source->ops->close(consuming->source);
    }
    if (consuming->aside != NULL) {
        consuming->aside->ops->close(consuming->aside);
    }
    actor_loop_release(&consuming->loop);
}

static uint64_t say_progress(const struct consuming *consuming, const char *id, uint64_t before)
{
    const struct actor_consumer_counters *counters = actor_consumer_counters(consuming->consumer);
    uint64_t written = actor_count_read(&counters->written);
    uint64_t aside = actor_count_read(&counters->set_aside);
    if (written + aside != before) {
        log_line(LOG_INFO, id,
                 "received=%" PRIu64 " written=%" PRIu64 " set_aside=%" PRIu64
                 " transactions=%" PRIu64 " database_away=%" PRIu64,
                 actor_count_read(&counters->received), written, aside,
                 actor_count_read(&counters->applies), actor_count_read(&counters->failing));
    }
    return written + aside;
}

static void live(const struct consuming *consuming, const sigset_t *signals)
{
    uint64_t before = 0;
    for (;;) {
        struct timespec wait = {.tv_sec = PROGRESS_EVERY_S};
        if (sigtimedwait(signals, NULL, &wait) > 0) {
            return;
        }
        before = say_progress(consuming, "CONSUMER-PROGRESS", before);
    }
}

static int run_consumer(const struct cli_arguments *arguments)
{
    struct consuming consuming = {0};
    int code = read_arguments(arguments, &consuming);
    if (code != CLI_DONE) {
        return code;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    logs_open(LOG_INFO, LOGS_AUTO);
    code = try_database(&consuming);
    if (code == CLI_DONE) {
        code = start(&consuming);
    }
    if (code == CLI_DONE) {
        log_line(LOG_INFO, "CONSUMER-READY", "queue=%s window=%u", consuming.queue,
                 consuming.window);
        live(&consuming, &signals);
        log_line(LOG_INFO, "CONSUMER-STOPPING", "signal=1");
    }
    stop(&consuming);
    if (consuming.consumer != NULL) {
        (void)say_progress(&consuming, "CONSUMER-STOPPED", UINT64_MAX);
        actor_consumer_free(consuming.consumer);
    }
    return code;
}

static const struct cli_option consumer_options[] = {
    {"bus", "URL",
     "amqp://user:password@host:port, or amqps://… with TLS\n(environment: " BUS_VARIABLE ")"},
    {"queue", "NAME", "where audit messages come from (" QUEUE_DEFAULT ")"},
    {"database", "CONNECTION",
     "sqlite:FILE, or an ODBC connection string of PostgreSQL,\nMariaDB or "
     "MySQL (environment: " DATABASE_VARIABLE ")"},
    {"dead-letter", "NAME",
     "queue of messages that cannot be taken (the queue's name and " REFUSED_SUFFIX ")"},
    {"aside", "FILE", "a file of JSON lines in place of that queue"},
    {"window", "N", "messages taken and not accepted at most (4096), of 16 MB at most"},
    {"ca", "FILE", "PEM file of trusted authorities, for amqps:// (the system's)"},
    {0},
};

const struct cli_verb cli_consumer = {
    .name = VERB,
    .summary = "Moves audit messages from the bus to a database until SIGTERM",
    .operands = "",
    .options = consumer_options,
    .details =
        "Writes ExecutionAudits and ExecutionLogs, and makes the tables when they are missing. A "
        "message is\n"
        "accepted behind the commit that holds it; one that comes twice or late changes nothing. "
        "Any number of\n"
        "consumers may share a queue and a database. While the database is away, messages wait at "
        "the broker.\n"
        "\n"
        "Exit code: 0 after SIGTERM or SIGINT, 1 when the database refuses it for good or it "
        "cannot start, 2 when\n"
        "the command line is refused.",
    .run = run_consumer,
};
