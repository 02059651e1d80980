/*
 * remembered_test.c: what is remembered, for how long, and how much of it.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/remembered.h"

static struct actor_remembered *replied(struct actor_remembered_table *requests, const char *id,
                                        uint64_t expires_ms)
{
    struct actor_remembered *remembered =
        actor_remembered_add(requests, span_text("w"), span_text(id), 1, 0);
    cr_assert_eq(actor_remembered_reply(requests, remembered, span_text("reply"), expires_ms),
                 RESULT_OK);
    return remembered;
}

static struct actor_remembered *find(struct actor_remembered_table *requests, const char *workspace,
                                     const char *id)
{
    return actor_remembered_find(requests, span_text(workspace), span_text(id));
}

Test(remembered, are_told_apart_by_workspace_and_id)
{
    struct actor_remembered_table requests;
    actor_remembered_init(&requests, 10);
    struct actor_remembered *first =
        actor_remembered_add(&requests, span_text("a"), span_text("bc"), 7, 5);
    struct actor_remembered *second =
        actor_remembered_add(&requests, span_text("ab"), span_text("c"), 8, 5);

    cr_assert_eq(find(&requests, "a", "bc"), first);
    cr_assert_eq(find(&requests, "ab", "c"), second);
    cr_assert_null(find(&requests, "abc", "c"));
    cr_assert_eq(first->body_hash, 7);
    cr_assert(span_is(actor_remembered_workspace(second), "ab"));
    cr_assert(span_is(actor_remembered_request_id(second), "c"));
    actor_remembered_release(&requests);
}

Test(remembered, keep_the_reply_until_it_expires)
{
    struct actor_remembered_table requests;
    actor_remembered_init(&requests, 10);
    replied(&requests, "one", 100);
    replied(&requests, "two", 200);

    cr_assert_eq(actor_remembered_next_ms(&requests), 100);
    actor_remembered_expire(&requests, 99);
    cr_assert(span_is(find(&requests, "w", "one")->reply, "reply"));
    actor_remembered_expire(&requests, 100);

    cr_assert_null(find(&requests, "w", "one"));
    cr_assert_not_null(find(&requests, "w", "two"));
    actor_remembered_release(&requests);
}

Test(remembered, forget_the_oldest_reply_beyond_the_bound_but_nothing_in_flight)
{
    struct actor_remembered_table requests;
    actor_remembered_init(&requests, 3);
    actor_remembered_add(&requests, span_text("w"), span_text("flying"), 1, 0);
    for (int i = 0; i < 10; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        replied(&requests, id, 1000);
    }

    cr_assert_not_null(find(&requests, "w", "flying"));
    cr_assert_null(find(&requests, "w", "6"));
    cr_assert_not_null(find(&requests, "w", "7"));
    cr_assert_not_null(find(&requests, "w", "9"));
    actor_remembered_release(&requests);
}

Test(remembered, dropped_in_flight_are_as_if_they_had_never_come)
{
    struct actor_remembered_table requests;
    actor_remembered_init(&requests, 3);
    struct actor_remembered *refused =
        actor_remembered_add(&requests, span_text("w"), span_text("x"), 1, 0);

    actor_remembered_drop(&requests, refused);

    cr_assert_null(find(&requests, "w", "x"));
    cr_assert_eq(actor_remembered_next_ms(&requests), UINT64_MAX);
    actor_remembered_release(&requests);
}

Test(remembered, dropped_with_their_reply_leave_the_others_in_their_order)
{
    struct actor_remembered_table requests;
    actor_remembered_init(&requests, 10);
    struct actor_remembered *first = replied(&requests, "1", 100);
    replied(&requests, "2", 200);
    struct actor_remembered *third = replied(&requests, "3", 300);
    replied(&requests, "4", 400);
    struct actor_remembered *last = replied(&requests, "5", 500);

    actor_remembered_drop(&requests, third);
    actor_remembered_drop(&requests, last);
    actor_remembered_drop(&requests, first);
    replied(&requests, "6", 600);

    cr_assert_null(find(&requests, "w", "3"));
    cr_assert_eq(actor_remembered_next_ms(&requests), 200);
    actor_remembered_expire(&requests, 200);
    cr_assert_eq(actor_remembered_next_ms(&requests), 400);
    actor_remembered_expire(&requests, 400);
    cr_assert_eq(actor_remembered_next_ms(&requests), 600);
    actor_remembered_expire(&requests, 600);
    cr_assert_eq(actor_remembered_next_ms(&requests), UINT64_MAX);
    actor_remembered_release(&requests);
}
