/* hot_contract.c: see hot_contract.h. */
#include "tests/contract/hot_contract.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/contract/support.h"

#define MANY 20000u

static struct contract_asker asker;

static struct proto_address me(void)
{
    if (asker.sink.send == NULL) {
        contract_asker_init(&asker);
    }
    return contract_ask(&asker);
}

static void put(struct storage_hot *hot, const char *id, const char *bytes, uint64_t now_ms)
{
    cr_assert_eq(hot->ops->put(hot, span_text(id), span_text(bytes), now_ms, me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
}

static void bind(struct storage_hot *hot, const char *session, const char *id, uint64_t now_ms)
{
    cr_assert_eq(hot->ops->bind(hot, span_text(session), span_text(id), now_ms, me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
}

/* NULL: a miss. */
static void expect_answer(const char *what, const char *expected)
{
    const struct proto_port_done *answer = contract_answer(&asker);
    cr_assert_eq(answer->result, expected == NULL ? RESULT_NOT_FOUND : RESULT_OK, "%s: %s", what,
                 result_text(answer->result));
    cr_assert(span_is(answer->bytes, expected == NULL ? "" : expected), "%s: %.*s", what,
              SPAN_ARG(answer->bytes));
}

static void expect(struct storage_hot *hot, const char *id, uint64_t now_ms, const char *expected)
{
    cr_assert_eq(hot->ops->get(hot, span_text(id), now_ms, me()), RESULT_OK);
    expect_answer(id, expected);
}

static void expect_bound(struct storage_hot *hot, const char *session, uint64_t now_ms,
                         const char *expected)
{
    cr_assert_eq(hot->ops->resolve(hot, span_text(session), now_ms, me()), RESULT_OK);
    expect_answer(session, expected);
}

void contract_hot_finds_what_was_put(struct storage_hot *hot)
{
    put(hot, "a", "one", 0);
    put(hot, "b", "two", 0);

    expect(hot, "a", 1, "one");
    expect(hot, "b", 1, "two");
}

void contract_hot_says_not_found(struct storage_hot *hot)
{
    put(hot, "abc", "one", 0);

    expect(hot, "ab", 0, NULL);
    expect(hot, "abcd", 0, NULL);
    expect_bound(hot, "none", 0, NULL);
}

void contract_hot_replaces_bytes_of_any_size(struct storage_hot *hot)
{
    put(hot, "a", "one", 0);
    put(hot, "a", "two", 0);
    expect(hot, "a", 0, "two");
    put(hot, "a", "much longer than before", 0);
    expect(hot, "a", 0, "much longer than before");
    put(hot, "a", "", 0);
    expect(hot, "a", 0, "");
}

void contract_hot_forgets_after_the_ttl(struct storage_hot *hot)
{
    put(hot, "a", "one", 5000);
    bind(hot, "session", "a", 5000);
    put(hot, "b", "two", 5000);

    expect(hot, "a", 5000 + CONTRACT_HOT_TTL_MS, NULL);
    expect_bound(hot, "session", 5000 + CONTRACT_HOT_TTL_MS, NULL);
    expect(hot, "b", 5000 + CONTRACT_HOT_TTL_MS - 1, "two");
}

void contract_hot_slides_the_ttl_with_each_touch(struct storage_hot *hot)
{
    put(hot, "a", "one", 0);
    bind(hot, "session", "a", 0);
    uint64_t now_ms = 0;
    for (int i = 0; i < 5; i++) {
        now_ms += CONTRACT_HOT_TTL_MS - 1;
        expect(hot, "a", now_ms, "one");
        expect_bound(hot, "session", now_ms, "a");
    }
    put(hot, "a", "two", now_ms + 500);
    expect(hot, "a", now_ms + CONTRACT_HOT_TTL_MS + 400, "two");
    expect_bound(hot, "session", now_ms + CONTRACT_HOT_TTL_MS, NULL);
}

void contract_hot_removes_sessions(struct storage_hot *hot)
{
    put(hot, "a", "one", 0);
    put(hot, "b", "two", 0);

    cr_assert_eq(hot->ops->remove(hot, span_text("a"), me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
    cr_assert_eq(hot->ops->remove(hot, span_text("none"), me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);

    expect(hot, "a", 0, NULL);
    expect(hot, "b", 0, "two");
}

void contract_hot_resolves_the_newest_binding(struct storage_hot *hot)
{
    bind(hot, "session", "first", 0);
    bind(hot, "session", "second one", 1);
    bind(hot, "other", "third", 1);

    expect_bound(hot, "session", 2, "second one");
    expect_bound(hot, "other", 2, "third");
}

void contract_hot_unbinds_only_what_still_points_at_the_execution(struct storage_hot *hot)
{
    bind(hot, "session", "first", 0);
    bind(hot, "session", "second", 0);

    cr_assert_eq(hot->ops->unbind(hot, span_text("session"), span_text("first"), me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
    expect_bound(hot, "session", 0, "second");
    cr_assert_eq(hot->ops->unbind(hot, span_text("session"), span_text("second"), me()), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK);
    expect_bound(hot, "session", 0, NULL);
}

void contract_hot_keeps_sessions_and_bindings_apart(struct storage_hot *hot)
{
    put(hot, "same", "a session", 0);
    bind(hot, "same", "an id", 0);

    expect(hot, "same", 0, "a session");
    expect_bound(hot, "same", 0, "an id");
    cr_assert_eq(hot->ops->remove(hot, span_text("same"), me()), RESULT_OK);
    expect_bound(hot, "same", 0, "an id");
}

void contract_hot_holds_many_sessions(struct storage_hot *hot)
{
    char id[32];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "execution-%u", i);
        put(hot, id, id, i / 100);
    }
    for (uint32_t i = 0; i < MANY; i += 3) {
        snprintf(id, sizeof id, "execution-%u", i);
        cr_assert_eq(hot->ops->remove(hot, span_text(id), me()), RESULT_OK);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "execution-%u", i);
        expect(hot, id, MANY / 100, i % 3 == 0 ? NULL : id);
    }
}
