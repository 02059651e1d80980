/* state_contract.c: see state_contract.h. */
#include "tests/contract/state_contract.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/support.h"

#define ARENA_BYTES (64u << 20)
#define LARGE_BYTES (5u << 20)
#define MANY_ROWS   20000u

static enum result apply_one(struct storage_state *state, enum storage_table table, struct span key,
                             struct span value, bool remove)
{
    struct storage_change change = {table, key, value, remove};
    return state->ops->apply(state, &change, 1);
}

static void put(struct storage_state *state, enum storage_table table, const char *key,
                const char *value)
{
    cr_assert_eq(apply_one(state, table, span_text(key), span_text(value), false), RESULT_OK);
}

static void expect(struct storage_state *state, enum storage_table table, struct span key,
                   struct span expected)
{
    struct arena arena;
    struct span value;
    arena_init(&arena, 4096, ARENA_BYTES);
    enum result result = state->ops->get(state, table, key, &arena, &value);
    cr_assert_eq(result, RESULT_OK, "%.*s: %s", SPAN_ARG(key), result_text(result));
    cr_assert(span_equal(value, expected), "value of %.*s", SPAN_ARG(key));
    arena_release(&arena);
}

static void expect_text(struct storage_state *state, enum storage_table table, const char *key,
                        const char *expected)
{
    expect(state, table, span_text(key), span_text(expected));
}

static void expect_none(struct storage_state *state, enum storage_table table, const char *key)
{
    struct arena arena;
    struct span value;
    arena_init(&arena, 4096, ARENA_BYTES);
    cr_assert_eq(state->ops->get(state, table, span_text(key), &arena, &value), RESULT_NOT_FOUND,
                 "%s", key);
    arena_release(&arena);
}

void contract_state_finds_what_was_put(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);

    put(state, STORAGE_EXECUTIONS, "a", "first");
    put(state, STORAGE_EXECUTIONS, "b", "second");
    put(state, STORAGE_EXECUTIONS, "a", "third, longer than the first one");

    expect_text(state, STORAGE_EXECUTIONS, "a", "third, longer than the first one");
    expect_text(state, STORAGE_EXECUTIONS, "b", "second");
    cr_assert_eq(state->ops->count(state, STORAGE_EXECUTIONS), 2);
    subject->end(subject, state, true);
}

void contract_state_says_not_found(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    put(state, STORAGE_EXECUTIONS, "abc", "value");

    expect_none(state, STORAGE_EXECUTIONS, "ab");
    expect_none(state, STORAGE_EXECUTIONS, "abcd");
    expect_none(state, STORAGE_EXECUTIONS, "");
    cr_assert_eq(apply_one(state, STORAGE_EXECUTIONS, span_text("zzz"), SPAN_EMPTY, true),
                 RESULT_OK, "removing what is not there is no fault");
    cr_assert_eq(apply_one(state, STORAGE_EXECUTIONS, span_text("abc"), SPAN_EMPTY, true),
                 RESULT_OK);
    expect_none(state, STORAGE_EXECUTIONS, "abc");
    cr_assert_eq(state->ops->count(state, STORAGE_EXECUTIONS), 0);
    subject->end(subject, state, true);
}

void contract_state_keeps_its_tables_apart(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    static const char *const values[STORAGE_TABLE_COUNT] = {"e", "r", "d", "m", "p", "t"};

    for (int table = 0; table < STORAGE_TABLE_COUNT; table++) {
        put(state, (enum storage_table)table, "same", values[table]);
    }

    for (int table = 0; table < STORAGE_TABLE_COUNT; table++) {
        expect_text(state, (enum storage_table)table, "same", values[table]);
        cr_assert_eq(state->ops->count(state, (enum storage_table)table), 1);
    }
    subject->end(subject, state, true);
}

void contract_state_lets_the_later_change_of_a_key_win(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    struct span a = span_text("a");
    struct span b = span_text("b");
    struct storage_change changes[] = {
        {STORAGE_REQUESTS, a, span_text("1"), false}, {STORAGE_REQUESTS, b, span_text("1"), false},
        {STORAGE_REQUESTS, a, SPAN_EMPTY, true},      {STORAGE_REQUESTS, b, span_text("2"), false},
        {STORAGE_REQUESTS, a, span_text("3"), false}, {STORAGE_REQUESTS, b, SPAN_EMPTY, true},
    };

    cr_assert_eq(state->ops->apply(state, changes, 6), RESULT_OK);

    expect_text(state, STORAGE_REQUESTS, "a", "3");
    expect_none(state, STORAGE_REQUESTS, "b");
    subject->end(subject, state, true);
}

void contract_state_keeps_an_empty_value(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);

    put(state, STORAGE_EXECUTIONS, "empty", "");

    expect_text(state, STORAGE_EXECUTIONS, "empty", "");
    cr_assert_eq(state->ops->apply(state, NULL, 0), RESULT_OK, "no changes are no fault");
    subject->end(subject, state, true);
}

void contract_state_keeps_large_values_and_longest_keys(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    uint8_t *bytes = malloc(LARGE_BYTES);
    uint8_t key[480];
    contract_fill(bytes, LARGE_BYTES, 1);
    contract_fill(key, sizeof key, 2);
    static const size_t sizes[] = {1, 1999, 2000, 2100, 4096, 40000, LARGE_BYTES};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        key[0] = (uint8_t)i;
        cr_assert_eq(apply_one(state, STORAGE_EXECUTIONS, span_of(key, sizeof key),
                               span_of(bytes, sizes[i]), false),
                     RESULT_OK);
    }
    cr_assert_eq(state->ops->flush(state), RESULT_OK);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        key[0] = (uint8_t)i;
        expect(state, STORAGE_EXECUTIONS, span_of(key, sizeof key), span_of(bytes, sizes[i]));
    }
    free(bytes);
    subject->end(subject, state, true);
}

void contract_state_refuses_a_bad_key_and_changes_nothing(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    uint8_t key[481] = {1};
    struct storage_change changes[] = {
        {STORAGE_EXECUTIONS, span_text("good"), span_text("1"), false},
        {STORAGE_EXECUTIONS, span_of(key, sizeof key), span_text("2"), false},
    };

    cr_assert_eq(state->ops->apply(state, changes, 2), RESULT_INVALID);
    changes[1].key = SPAN_EMPTY;
    cr_assert_eq(state->ops->apply(state, changes, 2), RESULT_INVALID);

    expect_none(state, STORAGE_EXECUTIONS, "good");
    subject->end(subject, state, true);
}

struct seen {
    char text[200];
    size_t stop_after;
    size_t count;
};

static bool see(void *owner, struct span key, struct span value)
{
    struct seen *seen = owner;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%.*s=%.*s ", SPAN_ARG(key),
             SPAN_ARG(value));
    return ++seen->count != seen->stop_after;
}

static void expect_scan(struct storage_state *state, const char *after, size_t stop_after,
                        const char *expected)
{
    struct seen seen = {.stop_after = stop_after};
    cr_assert_eq(state->ops->scan(state, STORAGE_EXECUTIONS, span_text(after), see, &seen),
                 RESULT_OK);
    cr_assert_str_eq(seen.text, expected);
}

void contract_state_scans_in_key_order_from_behind_a_key(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    expect_scan(state, "", 0, "");
    put(state, STORAGE_EXECUTIONS, "b", "2");
    put(state, STORAGE_EXECUTIONS, "aa", "1");
    put(state, STORAGE_EXECUTIONS, "a", "0");
    put(state, STORAGE_EXECUTIONS, "c", "3");
    put(state, STORAGE_REQUESTS, "bb", "not this table");

    expect_scan(state, "", 0, "a=0 aa=1 b=2 c=3 ");
    expect_scan(state, "a", 0, "aa=1 b=2 c=3 ");
    expect_scan(state, "ab", 0, "b=2 c=3 ");
    expect_scan(state, "c", 0, "");
    expect_scan(state, "", 2, "a=0 aa=1 ");
    subject->end(subject, state, true);
}

void contract_state_keeps_what_was_flushed_with_its_position(struct contract_state *subject)
{
    for (int round = 0; round < 2; round++) {
        bool orderly = round == 1;
        struct storage_state *state = subject->open(subject);
        struct storage_change first[] = {
            {STORAGE_EXECUTIONS, span_text("a"), span_text("1"), false},
            {STORAGE_POSITIONS, span_text("state"), span_text("100"), false},
        };
        struct storage_change second[] = {
            {STORAGE_EXECUTIONS, span_text("a"), span_text("2"), false},
            {STORAGE_POSITIONS, span_text("state"), span_text("200"), false},
        };
        cr_assert_eq(state->ops->apply(state, first, 2), RESULT_OK);
        cr_assert_eq(state->ops->flush(state), RESULT_OK);
        cr_assert_eq(state->ops->apply(state, second, 2), RESULT_OK);
        if (orderly) {
            cr_assert_eq(state->ops->flush(state), RESULT_OK);
        }

        subject->end(subject, state, orderly);

        /* What was not flushed may be there, but then all of it. */
        state = subject->open(subject);
        struct arena arena;
        struct span value = {0};
        arena_init(&arena, 4096, ARENA_BYTES);
        cr_assert_eq(state->ops->get(state, STORAGE_POSITIONS, span_text("state"), &arena, &value),
                     RESULT_OK);
        bool both = span_is(value, "200");
        cr_assert(both || (!orderly && span_is(value, "100")));
        expect_text(state, STORAGE_EXECUTIONS, "a", both ? "2" : "1");
        arena_release(&arena);
        subject->end(subject, state, true);
    }
}

void contract_state_holds_many_rows(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    uint64_t random = 3;
    uint8_t bytes[300];
    char key[40];
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        snprintf(key, sizeof key, "%016lx",
                 (unsigned long)contract_draw(&random, 1u << 30) << 32 | i);
        contract_fill(bytes, 8, i);
        cr_assert_eq(apply_one(state, STORAGE_EXECUTIONS, span_text(key),
                               span_of(bytes, 8 + i % 200), false),
                     RESULT_OK);
    }
    cr_assert_eq(state->ops->flush(state), RESULT_OK);

    random = 3;
    cr_assert_eq(state->ops->count(state, STORAGE_EXECUTIONS), MANY_ROWS);
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        snprintf(key, sizeof key, "%016lx",
                 (unsigned long)contract_draw(&random, 1u << 30) << 32 | i);
        if (i % 3 == 0) {
            cr_assert_eq(apply_one(state, STORAGE_EXECUTIONS, span_text(key), SPAN_EMPTY, true),
                         RESULT_OK);
            expect_none(state, STORAGE_EXECUTIONS, key);
        }
    }
    cr_assert_eq(state->ops->count(state, STORAGE_EXECUTIONS), MANY_ROWS - (MANY_ROWS + 2) / 3);
    subject->end(subject, state, true);
}

void contract_state_says_full_and_changes_nothing(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    uint8_t *bytes = malloc(1 << 20);
    contract_fill(bytes, 1 << 20, 4);
    put(state, STORAGE_EXECUTIONS, "kept", "before");
    cr_assert_eq(state->ops->flush(state), RESULT_OK);
    subject->set_full(subject, state, true);

    /* However much an adapter holds back in memory, it cannot be for ever. */
    enum result result = RESULT_OK;
    uint32_t applied = 0;
    char key[16];
    while (result == RESULT_OK && applied < 200) {
        snprintf(key, sizeof key, "%08u", applied);
        result =
            apply_one(state, STORAGE_EXECUTIONS, span_text(key), span_of(bytes, 1 << 20), false);
        applied += result == RESULT_OK ? 1 : 0;
    }

    cr_assert_eq(result, RESULT_FULL, "%s after %u", result_text(result), applied);
    expect_none(state, STORAGE_EXECUTIONS, key);
    expect_text(state, STORAGE_EXECUTIONS, "kept", "before");
    subject->set_full(subject, state, false);
    cr_assert_eq(
        apply_one(state, STORAGE_EXECUTIONS, span_text(key), span_of(bytes, 1 << 20), false),
        RESULT_OK);
    cr_assert_eq(state->ops->flush(state), RESULT_OK);
    subject->end(subject, state, true);
    state = subject->open(subject);
    for (uint32_t i = 0; i <= applied; i++) {
        snprintf(key, sizeof key, "%08u", i);
        expect(state, STORAGE_EXECUTIONS, span_text(key), span_of(bytes, 1 << 20));
    }
    free(bytes);
    subject->end(subject, state, true);
}

void contract_state_says_limit_when_the_arena_is_full(struct contract_state *subject)
{
    struct storage_state *state = subject->open(subject);
    struct arena arena;
    struct span value;
    uint8_t bytes[5000] = {0};
    cr_assert_eq(
        apply_one(state, STORAGE_EXECUTIONS, span_text("a"), span_of(bytes, sizeof bytes), false),
        RESULT_OK);
    arena_init(&arena, 1024, 2048);

    cr_assert_eq(state->ops->get(state, STORAGE_EXECUTIONS, span_text("a"), &arena, &value),
                 RESULT_LIMIT);

    arena_release(&arena);
    subject->end(subject, state, true);
}
