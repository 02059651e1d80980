/*
 * expect.c: see expect.h. What is compared is what a user sees: the reply's fields and
 * execution.msgpack.
 */
#include "tools/strider/scenario/expect.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

struct comparison {
    struct span expect;
    struct span reply;    /* MAP of engine_reply_pairs */
    struct span snapshot; /* execution.msgpack */
    enum proto_error refusal;
    const char *where;
    struct arena *arena;
    struct scenario_outcome *outcome;
};

static struct span show(struct span value, struct arena *arena)
{
    struct span text;
    if (value.count == 0) {
        return span_text("nothing");
    }
    return json_from_wire(value, JSON_COMPACT, arena, &text) == RESULT_OK ? text : span_text("?");
}

static bool same_number(struct span a, struct span b)
{
    struct arena arena;
    struct span left;
    struct span right;
    arena_init(&arena, 512, 65536);
    bool same = json_from_wire(a, JSON_COMPACT, &arena, &left) == RESULT_OK &&
                json_from_wire(b, JSON_COMPACT, &arena, &right) == RESULT_OK &&
                span_equal(left, right);
    arena_release(&arena);
    return same;
}

static bool is_number(enum wire_type type)
{
    return type == WIRE_INT || type == WIRE_UINT || type == WIRE_FLOAT || type == WIRE_DECIMAL;
}

/* Recursion is bounded: both values passed LIMIT_DEPTH. */
bool scenario_contains(struct span whole, struct span part)
{
    enum wire_type type = wire_head(part).type;
    if (whole.count == 0) {
        return type == WIRE_NIL; /* null and absent are the same to an expectation */
    }
    if (type == WIRE_MAP && wire_is(whole, WIRE_MAP)) {
        struct wire_map_walk walk = wire_map_begin(part);
        struct span key;
        struct span value;
        while (wire_map_next(&walk, &key, &value)) {
            if (!scenario_contains(wire_find(whole, key), value)) {
                return false;
            }
        }
        return true;
    }
    if (type == WIRE_ARRAY && wire_is(whole, WIRE_ARRAY)) {
        uint32_t count = wire_count(part);
        for (uint32_t i = 0; i < count; i++) {
            if (!scenario_contains(wire_at(whole, i), wire_at(part, i))) {
                return false;
            }
        }
        return count == wire_count(whole);
    }
    if (is_number(type) && is_number(wire_head(whole).type)) {
        return same_number(whole, part);
    }
    return span_equal(whole, part);
}

static void compare(const struct comparison *at, const char *key, struct span got)
{
    struct span wanted = wire_find_text(at->expect, key);
    if (wanted.count > 0 && !scenario_contains(got, wanted)) {
        scenario_fail(at->outcome, at->arena, "%s: %s: expected %.*s, got %.*s", at->where, key,
                      SPAN_ARG(show(wanted, at->arena)), SPAN_ARG(show(got, at->arena)));
    }
}

/* ---- node lists ---- */

/* Node ids of the steps so far, as an ARRAY value. */
static struct span trace_of(const struct comparison *at)
{
    struct wire_writer writer;
    struct span steps = wire_find_text(at->snapshot, "executionMap");
    struct wire_map_walk walk = wire_array_begin(steps);
    struct span step;
    wire_writer_init(&writer, at->arena, 512);
    wire_write_array(&writer, wire_count(steps));
    while (wire_array_next(&walk, &step)) {
        wire_write_value(&writer, wire_find_text(step, "taskId"));
    }
    return wire_writer_span(&writer);
}

static uint32_t count_in(struct span array, struct span text)
{
    struct wire_map_walk walk = wire_array_begin(array);
    struct span value;
    uint32_t count = 0;
    while (wire_array_next(&walk, &value)) {
        count += span_equal(wire_string_or(value, ""), text) ? 1 : 0;
    }
    return count;
}

static void compare_visited(const struct comparison *at, struct span trace)
{
    struct wire_map_walk walk = wire_map_begin(wire_find_text(at->expect, "visited"));
    struct span node;
    struct span wanted;
    while (wire_map_next(&walk, &node, &wanted)) {
        int64_t got = count_in(trace, node);
        if (got != wire_int_or(wanted, -1)) {
            scenario_fail(at->outcome, at->arena, "%s: visited: expected %.*s %lld times, got %lld",
                          at->where, SPAN_ARG(node), (long long)wire_int_or(wanted, -1),
                          (long long)got);
        }
    }
}

/* The same nodes waiting, in any order. */
static void compare_waiting(const struct comparison *at)
{
    struct span wanted = wire_find_text(at->expect, "waiting");
    if (wanted.count == 0) {
        return;
    }
    struct wire_writer writer;
    struct span waiting = wire_find_text(at->reply, "waiting");
    struct wire_map_walk walk = wire_array_begin(waiting);
    struct span entry;
    wire_writer_init(&writer, at->arena, 256);
    wire_write_array(&writer, wire_count(waiting));
    while (wire_array_next(&walk, &entry)) {
        wire_write_value(&writer, wire_find_text(entry, "taskId"));
    }
    struct span got = wire_writer_span(&writer);
    bool same = wire_count(got) == wire_count(wanted);
    walk = wire_array_begin(wanted);
    while (same && wire_array_next(&walk, &entry)) {
        struct span id = wire_string_or(entry, "");
        same = count_in(got, id) == count_in(wanted, id);
    }
    if (!same) {
        scenario_fail(at->outcome, at->arena, "%s: waiting: expected %.*s, got %.*s", at->where,
                      SPAN_ARG(show(wanted, at->arena)), SPAN_ARG(show(got, at->arena)));
    }
}

static void compare_error(const struct comparison *at)
{
    struct span wanted = wire_find_text(at->expect, "error");
    struct span own =
        wire_string_or(wire_find_text(wire_find_text(at->reply, "error"), "code"), "");
    struct span refused = span_text(proto_error_name(at->refusal));
    struct span code = wire_string_or(wanted, "");
    if (wanted.count > 0 && !span_equal(code, own) && !span_equal(code, refused)) {
        struct span error = wire_find_text(at->reply, "error");
        scenario_fail(at->outcome, at->arena, "%s: error: expected %.*s, got %.*s", at->where,
                      SPAN_ARG(show(wanted, at->arena)),
                      SPAN_ARG(refused.count > 0 ? refused : show(error, at->arena)));
    }
}

static void compare_logs(const struct comparison *at)
{
    struct wire_map_walk walk = wire_array_begin(wire_find_text(at->expect, "logs"));
    struct span wanted;
    while (wire_array_next(&walk, &wanted)) {
        struct span part = wire_string_or(wanted, "");
        struct wire_map_walk logs = wire_array_begin(wire_find_text(at->snapshot, "logs"));
        struct span log;
        bool found = false;
        while (!found && wire_array_next(&logs, &log)) {
            struct span message = wire_string_or(wire_find_text(log, "message"), "");
            found = memmem(message.bytes, message.count, part.bytes, part.count) != NULL;
        }
        if (!found) {
            scenario_fail(at->outcome, at->arena, "%s: logs: no message holds \"%.*s\"", at->where,
                          SPAN_ARG(part));
        }
    }
}

static const char *const known_expectations[] = {
    "state",     "status",  "lifecycle", "trace",  "visited", "waiting",
    "execution", "context", "response",  "nodes",  "error",   "logs",
    "request",   "module",  "__resume",  "output", NULL};

static void refuse_unknown(const struct comparison *at)
{
    struct wire_map_walk walk = wire_map_begin(at->expect);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        bool known = false;
        for (uint32_t i = 0; !known && known_expectations[i] != NULL; i++) {
            known = span_is(key, known_expectations[i]);
        }
        if (!known) {
            scenario_fail(at->outcome, at->arena, "%s: \"%.*s\" cannot be expected", at->where,
                          SPAN_ARG(key));
        }
    }
}

static struct span reply_of(const struct engine_execution *execution, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = engine_reply_pairs(execution, &writer);
    wire_close_map(&writer, mark, pairs);
    return wire_writer_span(&writer);
}

void scenario_expect(struct span expect, const struct engine_execution *execution,
                     enum proto_error refusal, const char *where, struct arena *arena,
                     struct scenario_outcome *outcome)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    engine_encode(execution, &writer);
    struct comparison at = {.expect = expect,
                            .reply = reply_of(execution, arena),
                            .snapshot = wire_writer_span(&writer),
                            .refusal = refusal,
                            .where = where,
                            .arena = arena,
                            .outcome = outcome};
    refuse_unknown(&at);
    static const char *const of_reply[] = {"state", "status", "lifecycle", "response", "output"};
    static const char *const of_snapshot[] = {"execution", "context", "request",
                                              "module",    "nodes",   "__resume"};
    for (uint32_t i = 0; i < sizeof of_reply / sizeof of_reply[0]; i++) {
        compare(&at, of_reply[i], wire_find_text(at.reply, of_reply[i]));
    }
    for (uint32_t i = 0; i < sizeof of_snapshot / sizeof of_snapshot[0]; i++) {
        compare(&at, of_snapshot[i], wire_find_text(at.snapshot, of_snapshot[i]));
    }
    struct span trace = trace_of(&at);
    compare(&at, "trace", trace);
    compare_visited(&at, trace);
    compare_waiting(&at);
    compare_error(&at);
    compare_logs(&at);
}
