/*
 * fetch.c: all pages of an execution's steps, and which snapshot each is compared with.
 *
 * Branches overlap: a step that was entered first may end last. Snapshots are made when steps end,
 * so what a step changed is told by the snapshot that was made before its own, not by that of the
 * step with the number before.
 */
#include <stdlib.h>

#include "proto/base/text.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/replay/replay.h"

enum { PAGE_STEPS = 200 };

static struct span request_of(const struct client_connection *connection, const char *operation,
                              const char *execution_id, struct arena *arena,
                              struct wire_writer *writer, size_t *mark, uint32_t *pairs)
{
    wire_writer_init(writer, arena, 512);
    *mark = wire_open_map(writer);
    wire_pair_int(writer, "v", 1);
    wire_pair_text(writer, "op", operation);
    wire_pair_text(writer, "executionId", execution_id);
    *pairs = 3;
    if (connection->token != NULL) {
        wire_pair_text(writer, "token", connection->token);
        ++*pairs;
    }
    return SPAN_EMPTY;
}

static int ask(struct client_connection *connection, struct wire_writer *writer,
               struct arena *arena, struct span *reply)
{
    int code = client_ask(connection, wire_writer_span(writer), arena, reply);
    if (code == CLI_DONE && !wire_bool_or(wire_find_text(*reply, "ok"), false)) {
        return client_complain_refused(connection->verb, *reply, arena);
    }
    return code;
}

static int ask_page(struct client_connection *connection, const char *execution_id, int64_t from,
                    uint32_t limit, struct arena *arena, struct span *reply)
{
    struct wire_writer writer;
    size_t mark;
    uint32_t pairs;
    request_of(connection, "steps", execution_id, arena, &writer, &mark, &pairs);
    wire_pair_int(&writer, "from", from);
    wire_pair_int(&writer, "limit", limit < PAGE_STEPS ? limit : PAGE_STEPS);
    wire_close_map(&writer, mark, pairs + 2);
    return ask(connection, &writer, arena, reply);
}

static int ask_definition(struct client_connection *connection, const char *execution_id,
                          struct arena *arena, struct replay *out)
{
    struct wire_writer writer;
    struct span reply;
    size_t mark;
    uint32_t pairs;
    request_of(connection, "get", execution_id, arena, &writer, &mark, &pairs);
    wire_write_text(&writer, "include");
    wire_write_array(&writer, 2);
    wire_write_text(&writer, "definition");
    wire_write_text(&writer, "diagram");
    wire_close_map(&writer, mark, pairs + 1);
    int code = ask(connection, &writer, arena, &reply);
    if (code == CLI_DONE) {
        out->definition = wire_find_text(reply, "definition");
        out->diagram = wire_string_or(wire_find_text(reply, "diagram"), "");
    }
    return code;
}

/* ---- called processes ---- */

/* The version of a process that a step is in: its scope says it. */
static int64_t version_of(const struct replay_step *step, struct span process)
{
    struct wire_map_walk walk = wire_array_begin(wire_find_text(step->snapshot, "scopes"));
    struct span scope;
    while (wire_array_next(&walk, &scope)) {
        if (span_equal(wire_string_or(wire_find_text(scope, "process"), ""), process)) {
            return wire_int_or(wire_find_text(scope, "version"), 0);
        }
    }
    return 0;
}

static void note_called(struct replay *replay, const struct replay_step *step)
{
    struct span process = wire_string_or(wire_find_text(step->entry, "process"), "");
    uint32_t at = 0;
    while (at < replay->called_count && !span_equal(replay->called[at].process, process)) {
        at++;
    }
    if (process.count == 0 || at == REPLAY_CALLED_MAX) {
        return;
    }
    if (at == replay->called_count) {
        replay->called[replay->called_count++] = (struct replay_called){.process = process};
    }
    if (replay->called[at].version == 0) {
        replay->called[at].version = version_of(step, process);
    }
}

static int ask_called(struct client_connection *connection, const char *execution_id,
                      struct arena *arena, struct replay_called *called)
{
    struct wire_writer writer;
    struct span reply;
    size_t mark;
    uint32_t pairs;
    request_of(connection, "get", execution_id, arena, &writer, &mark, &pairs);
    wire_pair_text(&writer, "include", "diagram");
    wire_pair_string(&writer, "process", called->process);
    pairs += 2;
    if (called->version > 0) {
        wire_pair_int(&writer, "version", called->version);
        pairs++;
    }
    wire_close_map(&writer, mark, pairs);
    int code = ask(connection, &writer, arena, &reply);
    if (code == CLI_DONE) {
        called->diagram = wire_string_or(wire_find_text(reply, "diagram"), "");
    }
    return code;
}

static int ask_diagrams(struct client_connection *connection, const char *execution_id,
                        struct arena *arena, struct replay *out)
{
    int code = ask_definition(connection, execution_id, arena, out);
    for (uint32_t i = 0; i < out->count; i++) {
        note_called(out, &out->steps[i]);
    }
    for (uint32_t i = 0; i < out->called_count && code == CLI_DONE; i++) {
        code = ask_called(connection, execution_id, arena, &out->called[i]);
    }
    return code;
}

/* ---- order ---- */

static int compare_order(const void *left, const void *right)
{
    const struct replay_step *a = *(struct replay_step *const *)left;
    const struct replay_step *b = *(struct replay_step *const *)right;
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static bool find_befores(struct replay *replay, struct arena *arena)
{
    struct replay_step **made = arena_alloc(arena, (replay->count + 1) * sizeof *made);
    size_t count = 0;
    if (made == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < replay->count; i++) {
        struct replay_step *step = &replay->steps[i];
        bool has_payloads = step->snapshot.count > 0 &&
                            wire_find_text(step->snapshot, "payloadsLeftOut").count == 0;
        if (has_payloads) {
            made[count++] = step;
        }
    }
    qsort(made, count, sizeof *made, compare_order);
    for (size_t i = 1; i < count; i++) {
        made[i]->before = made[i - 1]->snapshot;
        made[i]->before_sequence = made[i - 1]->sequence;
    }
    return true;
}

static void add(struct replay *replay, struct span entry)
{
    struct replay_step *step = &replay->steps[replay->count++];
    *step = (struct replay_step){.sequence = wire_int_or(wire_find_text(entry, "sequence"), 0),
                                 .entry = entry,
                                 .snapshot = wire_find_text(entry, "snapshot")};
    step->order = wire_int_or(wire_find_text(step->snapshot, "eventSequence"), step->sequence);
}

int replay_fetch(struct client_connection *connection, const char *execution_id, uint32_t from,
                 uint32_t limit, bool with_diagram, struct arena *arena, struct replay *out)
{
    int64_t next = from;
    *out = (struct replay){.steps = arena_alloc(arena, limit * sizeof *out->steps)};
    if (out->steps == NULL ||
        text_utf8_valid_count(span_text(execution_id)) < strlen(execution_id)) {
        return cli_complain(connection->verb, CLI_USAGE, "an argument is not UTF-8");
    }
    while (next > 0 && out->count < limit) {
        struct span reply;
        int code = ask_page(connection, execution_id, next, limit - out->count, arena, &reply);
        if (code != CLI_DONE) {
            return code;
        }
        out->outline = out->outline.count == 0 ? reply : out->outline;
        struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "steps"));
        struct span entry;
        while (wire_array_next(&walk, &entry) && out->count < limit) {
            add(out, entry);
        }
        next = wire_int_or(wire_find_text(reply, "next"), 0);
    }
    out->cut = next > 0;
    if (!find_befores(out, arena)) {
        return cli_complain(connection->verb, CLI_FAILED, "the steps do not fit into memory");
    }
    return with_diagram ? ask_diagrams(connection, execution_id, arena, out) : CLI_DONE;
}
