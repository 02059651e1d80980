/*
 * execution_view.c: see execution_view.h.
 */
#include "tools/strider/execution_view.h"

#include <inttypes.h>

#include "engine/engine.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/print.h"

enum execution_standing execution_standing(struct span execution)
{
    int64_t state = wire_int_or(wire_find_text(execution, "state"), 0);
    if (state & ENGINE_STATE_STOPPED) {
        return EXECUTION_ENDED;
    }
    if ((state & ENGINE_STATE_WAITING_TASK_CALLBACK) == 0) {
        return EXECUTION_MOVES;
    }
    struct wire_map_walk walk = wire_array_begin(wire_find_text(execution, "waiting"));
    struct span wait;
    while (wire_array_next(&walk, &wait)) {
        struct span kind = wire_string_or(wire_find_text(wait, "kind"), "");
        if (span_is(kind, "timer") || span_is(kind, "retry")) {
            return EXECUTION_WAITS_FOR_TIME;
        }
    }
    return EXECUTION_WAITS_FOR_OTHERS;
}

int64_t execution_print_steps(struct span execution, int64_t shown, FILE *out, struct arena *arena)
{
    struct wire_map_walk walk = wire_array_begin(wire_find_text(execution, "executionMap"));
    struct span step;
    while (wire_array_next(&walk, &step)) {
        int64_t sequence = wire_int_or(wire_find_text(step, "sequence"), 0);
        if (sequence > shown) {
            struct span at = cli_cell(wire_find_text(step, "at"), arena);
            struct span task = cli_cell(wire_find_text(step, "taskId"), arena);
            fprintf(out, "%.*s  step %3" PRId64 "  %.*s\n", SPAN_ARG(at), sequence, SPAN_ARG(task));
            shown = sequence;
        }
    }
    return shown;
}

void execution_print_waits(struct span execution, FILE *out, struct arena *arena)
{
    struct wire_map_walk walk = wire_array_begin(wire_find_text(execution, "waiting"));
    struct span wait;
    while (wire_array_next(&walk, &wait)) {
        struct span task = cli_cell(wire_find_text(wait, "taskId"), arena);
        struct span kind = cli_cell(wire_find_text(wait, "kind"), arena);
        struct span due = cli_cell(wire_find_text(wait, "dueAt"), arena);
        fprintf(out, "waiting: %.*s (%.*s)%s%.*s\n", SPAN_ARG(task), SPAN_ARG(kind),
                due.count > 0 ? " until " : "", SPAN_ARG(due));
    }
}

static struct span trace_as_list(struct span map, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 256 + map.count);
    wire_write_array(&writer, wire_count(map));
    struct wire_map_walk walk = wire_array_begin(map);
    struct span step;
    while (wire_array_next(&walk, &step)) {
        wire_write_string(&writer, wire_string_or(wire_find_text(step, "taskId"), ""));
    }
    return wire_writer_span(&writer);
}

/* "received > check > approve" as one string value. */
static struct span trace_as_one(struct span map, struct arena *arena)
{
    struct wire_writer text;
    struct wire_writer writer;
    wire_writer_init(&text, arena, 256 + map.count);
    struct wire_map_walk walk = wire_array_begin(map);
    struct span step;
    while (wire_array_next(&walk, &step)) {
        wire_write_raw(&text, span_text(text.count == 0 ? "" : " > "));
        wire_write_raw(&text, wire_string_or(wire_find_text(step, "taskId"), ""));
    }
    struct span joined = wire_writer_span(&text);
    wire_writer_init(&writer, arena, joined.count + 8);
    wire_write_string(&writer, joined);
    return wire_writer_span(&writer);
}

struct span execution_result(struct span execution, bool trace_as_text, struct arena *arena)
{
    static const char *const members[] = {"executionId", "process", "state",   "status",
                                          "lifecycle",   "trace",   "waiting", "request",
                                          "response",    "context", "module",  "execution",
                                          "nodes",       "output",  "error"};
    struct span map = wire_find_text(execution, "executionMap");
    struct wire_writer writer;
    wire_writer_init(&writer, arena, execution.count + 256);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct span value = wire_find_text(execution, members[i]);
        if (strcmp(members[i], "trace") == 0) {
            value = trace_as_text ? trace_as_one(map, arena) : trace_as_list(map, arena);
        }
        if (value.count > 0) {
            wire_pair_value(&writer, members[i], value);
            count++;
        }
    }
    wire_close_map(&writer, mark, count);
    return wire_writer_span(&writer);
}
