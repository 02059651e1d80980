/*
 * engine_host.h: the real engine for test programs: embedded stores in a directory, all actors, the
 * HTTP dispatcher, and an in-process client in place of the NNG front. Requests and replies are
 * written as JSON.
 */
#ifndef TESTS_SYSTEM_ENGINE_HOST_H
#define TESTS_SYSTEM_ENGINE_HOST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actors/runtime.h"
#include "actors/waiter.h"
#include "proto/log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "storage/embedded/embedded.h"
#include "storage/file.h"
#include "tests/system/check.h"
#include "transport/modules.h"

/* {"ok":true,…}? */
#define CHECK_OK(reply)                                                                            \
    check_one(wire_bool_or(wire_find_text((reply), "ok"), false), "reply is ok", __FILE__, __LINE__)

enum { HOST_TIMEOUT_MS = 60000 };

struct engine_host {
    char directory[128];
    struct storage_files *files;
    struct storage_journal *journal;
    struct storage_state *state;
    struct storage_blob *blob;
    struct storage_index *index;
    struct actor_runtime *runtime;
    struct transport_modules *modules;
    struct actor_recovery recovery;
    struct actor_waiter replies;
    struct arena arena; /* of the newest replies */
    uint64_t ticket;
};

static inline void host_log(enum log_level level, const char *id, struct span fields)
{
    fprintf(stderr, "  [%d] %s %.*s\n", level, id, SPAN_ARG(fields));
}

/* A new directory below /tmp for one test. */
static inline void host_directory(char out[128])
{
    snprintf(out, 128, "/tmp/strider-engine-XXXXXX");
    REQUIRE(mkdtemp(out) != NULL);
}

static inline void host_remove_directory(const char *directory)
{
    char command[256];
    REQUIRE(strncmp(directory, "/tmp/strider-engine-", 20) == 0);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    CHECK_INT(system(command), 0);
}

static inline const char *host_path(const struct engine_host *host, const char *name, char out[192])
{
    snprintf(out, 192, "%s/%s", host->directory, name);
    return out;
}

/* Options: all zero but what the test is about (ports are filled in here, but for an index that the
 * test brings, which is closed with the rest). */
static inline void host_open(struct engine_host *host, const char *directory,
                             struct actor_runtime_options options)
{
    char path[192];
    *host = (struct engine_host){0};
    log_set_writer(host_log, LOG_ERROR);
    snprintf(host->directory, sizeof host->directory, "%s", directory);
    struct storage_journal_report report;
    struct storage_journal_options journal = {.segment_bytes = 4 << 20};
    REQUIRE(storage_posix_new(host_path(host, "journal", path), &host->files) == RESULT_OK);
    REQUIRE(storage_log_open(host->files, &journal, &host->journal, &report) == RESULT_OK);
    REQUIRE(storage_lmdb_state_open(host_path(host, "state", path), 1ull << 32, &host->state) ==
            RESULT_OK);
    REQUIRE(storage_lmdb_blob_open(host_path(host, "blobs", path), 1ull << 32, &host->blob) ==
            RESULT_OK);
    host->index = options.index;
    REQUIRE(host->index != NULL || storage_sqlite_index_open(host_path(host, "audit.db", path),
                                                             &host->index) == RESULT_OK);
    options.journal = host->journal;
    options.state = host->state;
    options.blob = host->blob;
    options.index = host->index;
    REQUIRE(actor_runtime_new(&options, &host->runtime) == RESULT_OK);
    struct transport_modules_options modules = {
        .loop = actor_runtime_loop(host->runtime, ACTOR_LOOP_IO), .queue_max = 1024};
    REQUIRE(transport_modules_open(&modules, &host->modules) == RESULT_OK);
    actor_runtime_set_modules(host->runtime, transport_modules_sink(host->modules));
    char error[256] = "";
    if (actor_runtime_start(host->runtime, &host->recovery, error) != RESULT_OK) {
        fprintf(stderr, "%s\n", error);
        REQUIRE(false);
    }
    actor_waiter_init(&host->replies);
    arena_init(&host->arena, 64 << 10, 256 << 20);
}

static inline struct actor_runtime_options host_defaults(void)
{
    return (struct actor_runtime_options){.audit = true};
}

static inline void host_close(struct engine_host *host)
{
    actor_runtime_stop(host->runtime);
    transport_modules_close(host->modules);
    actor_runtime_free(host->runtime);
    host->index->ops->close(host->index);
    host->blob->ops->close(host->blob);
    host->state->ops->close(host->state);
    storage_log_close(host->journal);
    storage_posix_free(host->files);
    actor_waiter_release(&host->replies);
    arena_release(&host->arena);
}

static inline struct span host_value(struct arena *arena, const char *json)
{
    struct span value;
    struct json_error error;
    if (json_to_wire(span_text(json), LIMIT_DEPTH, arena, &value, &error) != RESULT_OK) {
        fprintf(stderr, "bad JSON at %zu: %s\n%s\n", error.offset, error.reason, json);
        REQUIRE(false);
    }
    return value;
}

/* The request's message: {"op":…} as JSON. */
static inline struct proto_message *host_message(struct engine_host *host, struct span body)
{
    struct span op = wire_string_or(wire_find_text(body, "op"), "");
    struct proto_message *message = message_new(PROTO_REQUEST, body.count);
    REQUIRE(message != NULL);
    message->as.request = (struct proto_request){.operation = proto_operation_parse(op),
                                                 .spelling = PROTO_JSON,
                                                 .body = message_keep(message, body)};
    message->reply_to =
        (struct proto_address){.sink = &host->replies.sink, .ticket = ++host->ticket};
    return message;
}

/* Sends and does not wait; the ticket, or 0 when it was refused with AGAIN. */
static inline uint64_t host_send(struct engine_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline uint64_t host_send_value(struct engine_host *host, struct span body)
{
    struct proto_message *message = host_message(host, body);
    uint64_t ticket = message->reply_to.ticket;
    struct proto_sink *router = actor_runtime_router(host->runtime);
    enum result result = router->send(router, &message);
    if (result == RESULT_OK) {
        return ticket;
    }
    REQUIRE(result == RESULT_AGAIN);
    message_free(message);
    return 0;
}

static inline uint64_t host_send(struct engine_host *host, const char *format, ...)
{
    static char text[1 << 20];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    REQUIRE(bytes > 0 && (size_t)bytes < sizeof text);
    return host_send_value(host, host_value(&host->arena, text));
}

/* The next reply, whoever's: a value in the host's arena; *ticket says whose. */
static inline struct span host_next_reply(struct engine_host *host, uint64_t *ticket)
{
    struct proto_message *reply = actor_waiter_next(&host->replies, HOST_TIMEOUT_MS);
    REQUIRE(reply != NULL);
    REQUIRE(reply->type == PROTO_REPLY);
    CHECK(reply->as.reply.spelling == PROTO_JSON);
    struct span body = arena_copy(&host->arena, reply->as.reply.body);
    *ticket = reply->reply_to.ticket;
    CHECK(wire_bool_or(wire_find_text(body, "ok"), !reply->as.reply.ok) == reply->as.reply.ok);
    message_free(reply);
    return body;
}

static inline struct span host_call(struct engine_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One request, its reply. Nothing else may be in flight. */
static inline struct span host_call(struct engine_host *host, const char *format, ...)
{
    static char text[1 << 20];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    REQUIRE(bytes > 0 && (size_t)bytes < sizeof text);
    uint64_t ticket = host_send_value(host, host_value(&host->arena, text));
    REQUIRE(ticket != 0);
    uint64_t answered;
    struct span reply = host_next_reply(host, &answered);
    REQUIRE(answered == ticket);
    return reply;
}

static inline struct span host_text(struct span reply, const char *field)
{
    return wire_string_or(wire_find_text(reply, field), "");
}

static inline struct span host_error(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
}

static inline int64_t host_int(struct span reply, const char *field)
{
    return wire_int_or(wire_find_text(reply, field), -1);
}

/* For a person, when a check has failed. */
static inline void host_print(struct engine_host *host, const char *what, struct span reply)
{
    struct span json;
    if (json_from_wire(reply, JSON_COMPACT, &host->arena, &json) == RESULT_OK) {
        fprintf(stderr, "  %s: %.*s\n", what, SPAN_ARG(json));
    }
}

static inline void host_deploy(struct engine_host *host, const char *name, const char *content)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &host->arena, 1024);
    wire_write_map(&writer, 3);
    wire_pair_text(&writer, "op", "deploy");
    wire_pair_text(&writer, "name", name);
    wire_pair_text(&writer, "content", content);
    uint64_t ticket = host_send_value(host, wire_writer_span(&writer));
    uint64_t answered;
    struct span reply = host_next_reply(host, &answered);
    REQUIRE(ticket == answered);
    if (!CHECK_OK(reply)) {
        host_print(host, "deploy", reply);
        REQUIRE(false);
    }
}

/* modules.json as text, for project "default". */
static inline void host_modules(struct engine_host *host, const char *modules)
{
    struct span problems;
    struct actor_project project = {.project = span_text("default"),
                                    .workspace = span_text("default"),
                                    .modules = host_value(&host->arena, modules)};
    enum result result = actor_runtime_load(host->runtime, &project, 1, &host->arena, &problems);
    if (result != RESULT_OK) {
        fprintf(stderr, "%.*s\n", SPAN_ARG(problems));
    }
    REQUIRE(result == RESULT_OK);
}

#endif
