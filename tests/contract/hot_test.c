/* hot_test.c: the hot tier in memory keeps its contract, its bound and its pins. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "storage/embedded/embedded.h"
#include "tests/contract/hot_contract.h"
#include "tests/contract/support.h"

#define BYTES_PLENTY (64u << 20)
#define BYTES_FEW    8192u

static const struct proto_address nobody;

static struct storage_hot *tier(size_t bytes_max, uint64_t ttl_ms)
{
    struct storage_hot *hot = NULL;
    cr_assert_eq(storage_memory_hot_new(bytes_max, ttl_ms, &hot), RESULT_OK);
    return hot;
}

#define X(rule)                                                                                    \
    Test(hot_in_memory, rule)                                                                      \
    {                                                                                              \
        struct storage_hot *hot = tier(BYTES_PLENTY, CONTRACT_HOT_TTL_MS);                         \
        contract_hot_##rule(hot);                                                                  \
        hot->ops->close(hot);                                                                      \
    }
CONTRACT_HOT_RULES(X)
#undef X

static enum result put(struct storage_hot *hot, unsigned number, size_t count)
{
    static uint8_t bytes[BYTES_FEW];
    char id[16];
    snprintf(id, sizeof id, "%u", number);
    return hot->ops->put(hot, span_text(id), span_of(bytes, count), 0, nobody);
}

static bool has(struct storage_hot *hot, unsigned number)
{
    char id[16];
    snprintf(id, sizeof id, "%u", number);
    return storage_memory_hot_peek(hot, span_text(id), 0).count > 0;
}

static void pin(struct storage_hot *hot, unsigned number, bool pinned)
{
    char id[16];
    snprintf(id, sizeof id, "%u", number);
    storage_memory_hot_pin(hot, span_text(id), pinned);
}

Test(hot_in_memory, the_least_recently_used_leave_first_when_it_is_full)
{
    struct storage_hot *hot = tier(BYTES_FEW, 0);
    for (unsigned i = 0; i < 7; i++) {
        cr_assert_eq(put(hot, i, 1000), RESULT_OK);
    }
    cr_assert(has(hot, 0), "all seven fit");

    for (unsigned i = 10; i < 13; i++) {
        cr_assert_eq(put(hot, i, 1000), RESULT_OK);
    }

    cr_assert(has(hot, 0), "it was touched");
    cr_assert_not(has(hot, 1));
    cr_assert_not(has(hot, 2));
    cr_assert_not(has(hot, 3));
    cr_assert(has(hot, 4));
    cr_assert(has(hot, 12));
    hot->ops->close(hot);
}

Test(hot_in_memory, a_pinned_session_stays_and_a_tier_of_pinned_ones_is_full)
{
    struct storage_hot *hot = tier(BYTES_FEW, 100);
    for (unsigned i = 0; i < 7; i++) {
        cr_assert_eq(put(hot, i, 1000), RESULT_OK);
        pin(hot, i, true);
    }

    cr_assert_eq(put(hot, 10, 1000), RESULT_FULL);
    cr_assert_eq(put(hot, 3, 500), RESULT_OK, "its own smaller bytes always fit");
    struct span kept = storage_memory_hot_peek(hot, span_text("3"), 100000);
    cr_assert_eq(kept.count, 500, "a pinned one has no ttl");
    pin(hot, 0, false);
    cr_assert_eq(put(hot, 10, 1500), RESULT_OK);
    cr_assert_not(has(hot, 0));
    cr_assert(has(hot, 6));
    hot->ops->close(hot);
}

Test(hot_in_memory, without_a_ttl_nothing_is_forgotten)
{
    struct storage_hot *hot = tier(BYTES_PLENTY, 0);
    cr_assert_eq(put(hot, 1, 10), RESULT_OK);
    cr_assert_eq(storage_memory_hot_peek(hot, span_text("1"), UINT64_MAX).count, 10);
    hot->ops->close(hot);
}

Test(hot_in_memory, bytes_larger_than_the_tier_are_refused)
{
    struct storage_hot *hot = tier(BYTES_FEW, 0);
    cr_assert_eq(put(hot, 1, 10), RESULT_OK);
    cr_assert_eq(put(hot, 2, BYTES_FEW), RESULT_FULL);
    cr_assert_not(has(hot, 2));
    cr_assert_eq(put(hot, 3, 10), RESULT_OK);
    hot->ops->close(hot);
}
