/*
 * dmn_fuzz.c: any bytes as a decision model. What is refused is refused by name; what is read
 * evaluates within its bounds, every decision twice to the same bytes, and its rows are maps.
 */
#include "engine/dmn/dmn.h"
#include "tests/fuzz/names.h"

enum { ARENA_BYTES_MAX = 32 << 20, DECISIONS_TRIED_MAX = 8 };

static void check_rows(const struct engine_dmn *dmn, struct span id,
                       const struct engine_dmn_outcome *outcome, struct arena *arena)
{
    size_t offset;
    const char *reason;
    struct span row;
    struct span rows = engine_dmn_rows(dmn, id, outcome, arena);
    if (arena->overflowed) {
        return;
    }
    MUST(wire_validate(rows, LIMIT_DEPTH + 2, &offset, &reason) == RESULT_OK);
    MUST(wire_is(rows, WIRE_ARRAY));
    struct wire_map_walk walk = wire_array_begin(rows);
    while (wire_array_next(&walk, &row)) {
        MUST(wire_is(row, WIRE_MAP) || wire_is(row, WIRE_NIL));
    }
}

static void check_decision(const struct engine_dmn *dmn, struct span id,
                           const struct engine_names *names)
{
    struct arena first_arena, second_arena;
    struct engine_dmn_outcome first, second;
    arena_init(&first_arena, 4096, ARENA_BYTES_MAX);
    arena_init(&second_arena, 4096, ARENA_BYTES_MAX);
    enum result result = engine_dmn_evaluate(dmn, id, names, &first_arena, &first);
    enum result again = engine_dmn_evaluate(dmn, id, names, &second_arena, &second);
    MUST(result == RESULT_OK || result == RESULT_INVALID || result == RESULT_LIMIT);
    MUST(again == result);
    if (result == RESULT_OK) {
        size_t offset;
        const char *reason;
        MUST(span_equal(first.value, second.value));
        MUST(wire_validate(first.value, LIMIT_DEPTH, &offset, &reason) == RESULT_OK);
        MUST(first.hit_count <= ENGINE_DMN_HITS_MAX && first.hit_count <= first.hits_in_all);
        check_rows(dmn, id, &first, &first_arena);
    } else {
        MUST(first.error.message != NULL);
    }
    arena_release(&first_arena);
    arena_release(&second_arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct row_names names;
    struct engine_report report;
    const struct engine_dmn *dmn;
    struct arena arena;
    arena_init(&arena, 64u << 10, ARENA_BYTES_MAX);
    fuzz_names_init(&names, &arena);
    engine_report_init(&report, span_text("fuzz.dmn"));
    (void)engine_dmn_is_model(span_of(bytes, count));
    enum result result = engine_dmn_read(span_of(bytes, count), &arena, &report, &dmn);
    MUST(result == RESULT_OK || result == RESULT_INVALID || result == RESULT_LIMIT);
    MUST((dmn != NULL) == (result == RESULT_OK));
    MUST(result != RESULT_INVALID || report.errors > 0);
    uint32_t decisions = dmn == NULL ? 0 : engine_dmn_decision_count(dmn);
    for (uint32_t i = 0; i < decisions && i < DECISIONS_TRIED_MAX; i++) {
        check_decision(dmn, engine_dmn_decision_id(dmn, i), &names.names);
    }
    engine_report_release(&report);
    arena_release(&arena);
    return 0;
}
