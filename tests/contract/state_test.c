/* state_test.c: the state tables keep their contract: in memory, and in LMDB. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "storage/embedded/embedded.h"
#include "storage/memory/memory.h"
#include "tests/contract/file_limit.h"
#include "tests/contract/state_contract.h"
#include "tests/contract/support.h"

#define MAP_BYTES (1u << 20) /* small: it must grow by itself */

struct memory_subject {
    struct contract_state subject; /* first */
    struct storage_state *state;
};

static struct storage_state *memory_open(struct contract_state *self)
{
    struct memory_subject *memory = (struct memory_subject *)self;
    if (memory->state == NULL) {
        cr_assert_eq(storage_memory_state_new(&memory->state), RESULT_OK);
    }
    return memory->state;
}

static void memory_end(struct contract_state *self, struct storage_state *state, bool orderly)
{
    (void)self;
    if (!orderly) {
        storage_memory_state_cut(state);
    }
}

static void memory_set_full(struct contract_state *self, struct storage_state *state, bool full)
{
    (void)self;
    storage_memory_state_set_full(state, full);
}

static void in_memory(void (*rule)(struct contract_state *))
{
    struct memory_subject memory = {
        .subject = {.open = memory_open, .end = memory_end, .set_full = memory_set_full},
    };
    rule(&memory.subject);
    memory.state->ops->close(memory.state);
}

struct lmdb_subject {
    struct contract_state subject; /* first */
    struct contract_directory directory;
};

static struct storage_state *lmdb_open(struct contract_state *self)
{
    struct lmdb_subject *lmdb = (struct lmdb_subject *)self;
    struct storage_state *state = NULL;
    enum result result =
        storage_lmdb_state_open(contract_path(&lmdb->directory, "state"), MAP_BYTES, &state);
    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    return state;
}

static void lmdb_end(struct contract_state *self, struct storage_state *state, bool orderly)
{
    (void)self;
    (void)orderly; /* closing drops what was not flushed, as a kill does */
    state->ops->close(state);
}

static void lmdb_set_full(struct contract_state *self, struct storage_state *state, bool full)
{
    struct lmdb_subject *lmdb = (struct lmdb_subject *)self;
    (void)state;
    const char *file = contract_path(&lmdb->directory, "state/data.mdb");
    contract_file_limit(full ? contract_file_bytes(file) : UINT64_MAX);
}

static void in_lmdb(void (*rule)(struct contract_state *))
{
    struct lmdb_subject lmdb = {
        .subject = {.open = lmdb_open, .end = lmdb_end, .set_full = lmdb_set_full},
        .directory = contract_directory_new(),
    };
    rule(&lmdb.subject);
    contract_directory_remove(&lmdb.directory);
}

#define X(rule)                                                                                    \
    Test(state_in_memory, rule)                                                                    \
    {                                                                                              \
        in_memory(contract_state_##rule);                                                          \
    }                                                                                              \
    Test(state_in_lmdb, rule)                                                                      \
    {                                                                                              \
        in_lmdb(contract_state_##rule);                                                            \
    }
CONTRACT_STATE_RULES(X)

Test(state_in_lmdb, a_flipped_bit_in_a_value_is_noticed)
{
    struct lmdb_subject lmdb = {
        .subject = {.open = lmdb_open, .end = lmdb_end, .set_full = lmdb_set_full},
        .directory = contract_directory_new(),
    };
    static const char mark[] = "a value that can be found in the file";
    struct storage_state *state = lmdb_open(&lmdb.subject);
    struct storage_change changes[] = {
        {STORAGE_EXECUTIONS, span_text("a"), span_text("sound"), false},
        {STORAGE_EXECUTIONS, span_text("b"), span_text(mark), false},
        {STORAGE_EXECUTIONS, span_text("c"), span_text("sound"), false},
    };
    cr_assert_eq(state->ops->apply(state, changes, 3), RESULT_OK);
    cr_assert_eq(state->ops->flush(state), RESULT_OK);
    state->ops->close(state);

    contract_flip(contract_path(&lmdb.directory, "state/data.mdb"), span_text(mark));
    state = lmdb_open(&lmdb.subject);

    struct arena arena;
    struct span value;
    arena_init(&arena, 4096, 1 << 20);
    cr_assert_eq(state->ops->get(state, STORAGE_EXECUTIONS, span_text("b"), &arena, &value),
                 RESULT_CORRUPT);
    cr_assert_eq(state->ops->get(state, STORAGE_EXECUTIONS, span_text("c"), &arena, &value),
                 RESULT_OK);
    arena_release(&arena);
    state->ops->close(state);
    contract_directory_remove(&lmdb.directory);
}

Test(state_in_lmdb, a_file_that_was_cut_off_is_noticed)
{
    struct lmdb_subject lmdb = {
        .subject = {.open = lmdb_open, .end = lmdb_end, .set_full = lmdb_set_full},
        .directory = contract_directory_new(),
    };
    static const uint8_t long_value[100000] = {1};
    struct storage_state *state = lmdb_open(&lmdb.subject);
    struct storage_change change = {STORAGE_EXECUTIONS, span_text("a"),
                                    span_of(long_value, sizeof long_value), false};
    cr_assert_eq(state->ops->apply(state, &change, 1), RESULT_OK);
    cr_assert_eq(state->ops->flush(state), RESULT_OK);
    state->ops->close(state);

    const off_t two_meta_pages = 8192;
    const char *file = contract_path(&lmdb.directory, "state/data.mdb");
    cr_assert_eq(truncate(file, two_meta_pages), 0);

    cr_assert_eq(
        storage_lmdb_state_open(contract_path(&lmdb.directory, "state"), MAP_BYTES, &state),
        RESULT_CORRUPT);
    contract_directory_remove(&lmdb.directory);
}

Test(state_in_lmdb, a_path_that_is_no_directory_is_refused)
{
    struct contract_directory directory = contract_directory_new();
    struct storage_state *state = NULL;
    const char *file = contract_path(&directory, "file");
    FILE *stream = fopen(file, "w");
    cr_assert_not_null(stream);
    fclose(stream);

    cr_assert_eq(storage_lmdb_state_open(file, 0, &state), RESULT_INVALID);

    contract_directory_remove(&directory);
}
