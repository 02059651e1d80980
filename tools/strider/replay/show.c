/*
 * show.c: steps for a person on a terminal, and as a value for programs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "proto/base/text.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/print.h"
#include "tools/strider/replay/replay.h"

enum { SHOWN_VALUE_BYTES = 120 };

static const char *const kind_names[] = {"added", "changed", "removed"};

/* ---- times ---- */

static bool time_of(struct span map, const char *key, int64_t *ms)
{
    return text_parse_time(wire_string_or(wire_find_text(map, key), ""), ms) == RESULT_OK;
}

int64_t replay_module_ms(const struct replay_step *step)
{
    struct span work = wire_find_text(step->snapshot, "work");
    int64_t called, answered;
    return time_of(work, "calledAt", &called) && time_of(work, "answeredAt", &answered)
               ? answered - called
               : -1;
}

/* ---- a terminal ---- */

static struct span row_of(const struct replay_step *step, struct arena *arena)
{
    struct wire_writer writer;
    char text[64];
    int64_t module_ms = replay_module_ms(step);
    struct span work = wire_find_text(step->snapshot, "work");
    wire_writer_init(&writer, arena, 512);
    wire_write_map(&writer, 8);
    wire_pair_int(&writer, "step", step->sequence);
    wire_pair_value(&writer, "taskId", wire_find_text(step->entry, "taskId"));
    wire_pair_value(&writer, "at", wire_find_text(step->entry, "at"));
    wire_pair_value(&writer, "token", wire_find_text(step->entry, "token"));
    snprintf(text, sizeof text, "%" PRId64 " ms", module_ms);
    wire_pair_text(&writer, "module", module_ms < 0 ? "" : text);
    wire_pair_value(&writer, "attempts", wire_find_text(work, "attempts"));
    wire_pair_value(&writer, "error", wire_find_text(step->snapshot, "errorCode"));
    wire_pair_value(&writer, "missing", wire_find_text(step->entry, "missing"));
    return wire_writer_span(&writer);
}

void replay_print_list(const struct replay *replay, struct arena *arena)
{
    static const struct cli_column columns[] = {
        {"STEP", "step"},   {"NODE", "taskId"},      {"ENTERED", "at"},
        {"TOKEN", "token"}, {"MODULE", "module"},    {"ATTEMPTS", "attempts"},
        {"ERROR", "error"}, {"SNAPSHOT", "missing"}, {0},
    };
    struct wire_writer rows;
    wire_writer_init(&rows, arena, 1024 + (size_t)replay->count * 192);
    wire_write_array(&rows, replay->count);
    for (uint32_t i = 0; i < replay->count; i++) {
        wire_write_raw(&rows, row_of(&replay->steps[i], arena));
    }
    if (replay->count == 0) {
        printf("no steps\n");
        return;
    }
    cli_print_table(columns, wire_writer_span(&rows), arena);
}

static struct span shown(struct span value, struct arena *arena)
{
    struct span cell = cli_cell(value, arena);
    if (cell.count <= SHOWN_VALUE_BYTES) {
        return cell;
    }
    struct span cut = span_of(cell.bytes, SHOWN_VALUE_BYTES);
    return arena_format(arena, "%.*s…", (int)text_utf8_valid_count(cut), (const char *)cut.bytes);
}

static void print_change(const struct replay_change *change, struct arena *arena)
{
    static const char signs[] = {'+', '~', '-'};
    struct wire_writer text; /* as a value, so that it is printed as safely as any */
    wire_writer_init(&text, arena, change->path.count + 8);
    wire_write_string(&text, change->path);
    struct span path = shown(wire_writer_span(&text), arena);
    struct span before = shown(change->before, arena);
    struct span after = shown(change->after, arena);
    printf("  %c %.*s: ", signs[change->kind], SPAN_ARG(path));
    if (change->kind == REPLAY_CHANGED) {
        printf("%.*s -> %.*s\n", SPAN_ARG(before), SPAN_ARG(after));
    } else {
        struct span value = change->kind == REPLAY_ADDED ? after : before;
        printf("%.*s\n", SPAN_ARG(value));
    }
}

static void print_changes(const struct replay_step *step, struct arena *arena)
{
    static struct replay_changes changes;
    if (step->before.count == 0) {
        return;
    }
    replay_diff(step->before, step->snapshot, arena, &changes);
    for (uint32_t i = 0; i < changes.count; i++) {
        print_change(&changes.at[i], arena);
    }
    if (changes.cut) {
        printf("  … and more\n");
    }
}

void replay_print_step(const struct replay *replay, const struct replay_step *step,
                       struct arena *arena)
{
    struct span task = cli_cell(wire_find_text(step->entry, "taskId"), arena);
    struct span at = cli_cell(wire_find_text(step->entry, "at"), arena);
    struct span lifecycle = cli_cell(wire_find_text(step->snapshot, "lifecycle"), arena);
    struct span code = cli_cell(wire_find_text(step->snapshot, "errorCode"), arena);
    struct span message = cli_cell(wire_find_text(step->snapshot, "errorMessage"), arena);
    struct span where = cli_cell(wire_find_text(step->snapshot, "errorTaskId"), arena);
    int64_t module_ms = replay_module_ms(step);
    int64_t attempts =
        wire_int_or(wire_find_text(wire_find_text(step->snapshot, "work"), "attempts"), 0);
    int64_t last = wire_int_or(wire_find_text(replay->outline, "sequence"), step->sequence);
    printf("step %" PRId64 " of %" PRId64 "  %.*s  %.*s", step->sequence, last, SPAN_ARG(task),
           SPAN_ARG(at));
    if (module_ms >= 0) {
        printf("  module %" PRId64 " ms", module_ms);
    }
    if (attempts > 1) {
        printf(", %" PRId64 " attempts", attempts);
    }
    printf("%s%.*s\n", lifecycle.count > 0 ? "  " : "", SPAN_ARG(lifecycle));
    if (code.count > 0) {
        printf("  ! %.*s%s%.*s: %.*s\n", SPAN_ARG(code), where.count > 0 ? " in " : "",
               SPAN_ARG(where), SPAN_ARG(message));
    }
    print_changes(step, arena);
}

void replay_print_missing(const struct replay *replay)
{
    uint32_t missing = 0;
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < replay->count; i++) {
        struct span why = wire_string_or(wire_find_text(replay->steps[i].entry, "missing"), "");
        under_way += span_is(why, "underWay");
        missing += why.count > 0 && !span_is(why, "underWay");
    }
    struct span mode = wire_string_or(wire_find_text(replay->outline, "stepBlobs"), "");
    if (missing > 0 && missing == replay->count && span_is(mode, "off")) {
        fprintf(stderr,
                "no step has a snapshot: engine.stepBlobs is off, so the way is known and what it "
                "changed is not (waits or all keep snapshots of steps to come)\n");
    } else if (missing > 0) {
        fprintf(stderr,
                "%u of %u steps have no snapshot (engine.stepBlobs is %.*s now; it may have been "
                "another when they ran, or they were removed)\n",
                missing, replay->count, SPAN_ARG(mode));
    }
    if (under_way > 0) {
        fprintf(stderr, "%u steps are under way: their snapshot comes when they end\n", under_way);
    }
    if (replay->cut) {
        fprintf(stderr, "more steps follow: --from %" PRId64 "\n",
                replay->steps[replay->count - 1].sequence + 1);
    }
}

/* ---- programs ---- */

static void write_changes(const struct replay_step *step, struct arena *arena,
                          struct wire_writer *writer)
{
    static struct replay_changes changes;
    replay_diff(step->before, step->snapshot, arena, &changes);
    wire_write_array(writer, changes.count);
    for (uint32_t i = 0; i < changes.count; i++) {
        const struct replay_change *change = &changes.at[i];
        uint32_t pairs = 2u + (change->before.count > 0) + (change->after.count > 0);
        wire_write_map(writer, pairs);
        wire_pair_string(writer, "path", change->path);
        wire_pair_text(writer, "kind", kind_names[change->kind]);
        if (change->before.count > 0) {
            wire_pair_value(writer, "before", change->before);
        }
        if (change->after.count > 0) {
            wire_pair_value(writer, "after", change->after);
        }
    }
}

static void write_step(const struct replay_step *step, struct arena *arena,
                       struct wire_writer *writer)
{
    struct span key, value;
    size_t mark = wire_open_map(writer);
    uint32_t pairs = 0;
    struct wire_map_walk walk = wire_map_begin(step->entry);
    while (wire_map_next(&walk, &key, &value)) {
        wire_write_string(writer, key);
        wire_write_raw(writer, value);
        pairs++;
    }
    if (replay_module_ms(step) >= 0) {
        wire_pair_int(writer, "moduleMs", replay_module_ms(step));
        pairs++;
    }
    if (step->before.count > 0) {
        wire_pair_int(writer, "comparedTo", step->before_sequence);
        wire_write_text(writer, "changes");
        write_changes(step, arena, writer);
        pairs += 2;
    }
    wire_close_map(writer, mark, pairs);
}

struct span replay_value(const struct replay *replay, struct arena *arena)
{
    struct wire_writer writer;
    struct span key, value;
    wire_writer_init(&writer, arena, 65536);
    size_t mark = wire_open_map(&writer);
    uint32_t pairs = 1;
    struct wire_map_walk walk = wire_map_begin(replay->outline);
    while (wire_map_next(&walk, &key, &value)) {
        if (!span_is(key, "steps") && !span_is(key, "next") && !span_is(key, "v") &&
            !span_is(key, "ok")) {
            wire_write_string(&writer, key);
            wire_write_raw(&writer, value);
            pairs++;
        }
    }
    if (replay->cut) {
        wire_pair_int(&writer, "next", replay->steps[replay->count - 1].sequence + 1);
        pairs++;
    }
    wire_write_text(&writer, "steps");
    wire_write_array(&writer, replay->count);
    for (uint32_t i = 0; i < replay->count; i++) {
        write_step(&replay->steps[i], arena, &writer);
    }
    wire_close_map(&writer, mark, pairs);
    return wire_writer_span(&writer);
}
