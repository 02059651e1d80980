/* recovery_positions_test.c: what is told to be durable is, whatever the last process had flushed.
 */
#include <criterion/criterion.h>

#include "actors/drain/state_drain.h"
#include "actors/recovery_positions.h"
#include "proto/base/assert.h"
#include "storage/memory/memory.h"

enum { BEGIN = 1000, END = 9000, STATE_AT = 7000, BLOB_AT = 6000, BUS_AT = 5000, AUDIT_AT = 8000 };

static uint64_t journal_begin(struct storage_journal *self)
{
    (void)self;
    return BEGIN;
}

static uint64_t journal_end(struct storage_journal *self)
{
    (void)self;
    return END;
}

/* An index that says what it was asked. */
struct index {
    struct storage_index port;
    enum result flushes;
    bool flushed;
    bool asked_too_early;
};

static enum result index_flush(struct storage_index *self)
{
    struct index *index = (struct index *)self;
    index->flushed = index->flushes == RESULT_OK;
    return index->flushes;
}

static enum result index_position(struct storage_index *self, uint64_t *position)
{
    struct index *index = (struct index *)self;
    index->asked_too_early = index->asked_too_early || !index->flushed;
    *position = AUDIT_AT;
    return RESULT_OK;
}

struct stores {
    struct storage_journal journal;
    struct storage_state *state;
    struct index index;
    struct actor_recovery_options options;
};

static void put_position(struct storage_state *state, const char *drain, uint16_t position)
{
    uint8_t bytes[8] = {[6] = (uint8_t)(position >> 8), [7] = (uint8_t)position};
    enum result result =
        state->ops->apply(state,
                          &(struct storage_change){.table = STORAGE_POSITIONS,
                                                   .key = span_text(drain),
                                                   .value = span_of(bytes, sizeof bytes)},
                          1);
    ASSERT(result == RESULT_OK);
}

/* As a killed process leaves them: given their positions, not flushed. */
static struct stores stores_of(void)
{
    static const struct storage_journal_ops journal_ops = {.begin = journal_begin,
                                                           .end = journal_end};
    static const struct storage_index_ops index_ops = {.flush = index_flush,
                                                       .position = index_position};
    struct stores stores = {.journal.ops = &journal_ops, .index.port.ops = &index_ops};
    enum result result = storage_memory_state_new(&stores.state);
    ASSERT(result == RESULT_OK);
    put_position(stores.state, ACTOR_POSITION_STATE, STATE_AT);
    put_position(stores.state, ACTOR_POSITION_BLOB, BLOB_AT);
    put_position(stores.state, ACTOR_POSITION_BUS, BUS_AT);
    return stores;
}

static struct actor_positions positions_of(struct stores *stores)
{
    struct actor_positions positions;
    stores->options.log = &stores->journal;
    stores->options.state = stores->state;
    stores->options.index = &stores->index.port;
    stores->options.bus = true;
    enum result result = actor_recover_positions(&stores->options, &positions);
    cr_assert_eq(result, RESULT_OK);
    return positions;
}

Test(recovery_positions, of_the_table_survive_a_power_cut_right_behind_them)
{
    struct stores stores = stores_of();
    struct actor_positions told = positions_of(&stores);

    storage_memory_state_cut(stores.state);

    struct actor_positions after = positions_of(&stores);
    cr_expect_eq(told.at[PROTO_DRAIN_STATE], STATE_AT);
    cr_expect_eq(told.at[PROTO_DRAIN_BLOB], BLOB_AT);
    cr_expect_eq(told.at[PROTO_DRAIN_BUS], BUS_AT);
    cr_expect_arr_eq(after.at, told.at, sizeof told.at);
    stores.state->ops->close(stores.state);
}

Test(recovery_positions, of_the_index_is_asked_behind_a_flush)
{
    struct stores stores = stores_of();

    struct actor_positions told = positions_of(&stores);

    cr_expect_eq(told.at[PROTO_DRAIN_AUDIT], AUDIT_AT);
    cr_expect(stores.index.flushed);
    cr_expect_not(stores.index.asked_too_early);
    stores.state->ops->close(stores.state);
}

Test(recovery_positions, of_an_index_that_cannot_be_flushed_is_where_the_journal_begins)
{
    struct stores stores = stores_of();
    stores.index.flushes = RESULT_IO;

    struct actor_positions told = positions_of(&stores);

    cr_expect_eq(told.at[PROTO_DRAIN_AUDIT], BEGIN);
    cr_expect_eq(told.at[PROTO_DRAIN_STATE], STATE_AT);
    stores.state->ops->close(stores.state);
}

Test(recovery_positions, of_an_index_elsewhere_is_where_the_journal_begins)
{
    struct stores stores = stores_of();
    stores.options.index_elsewhere = true;

    cr_expect_eq(positions_of(&stores).at[PROTO_DRAIN_AUDIT], BEGIN);
    cr_expect_not(stores.index.flushed, "it may be away");
    stores.state->ops->close(stores.state);
}
