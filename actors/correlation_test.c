/*
 * correlation_test.c: who gets what, in which order.
 */
#include "actors/correlation.h"

#include <criterion/criterion.h>

static struct execution_id id_of(const char *text)
{
    struct execution_id id;
    cr_assert_eq(execution_id_parse(span_text(text), &id), RESULT_OK);
    return id;
}

static void listen(struct actor_correlation *correlation, const char *id, const char *name,
                   const char *key)
{
    const struct execution_id execution = id_of(id);
    const struct actor_wanted wanted = {.name = span_text(name), .key = span_text(key)};
    cr_assert_eq(actor_correlation_listen(correlation, &execution, span_text("w"), &wanted, 1),
                 RESULT_OK);
}

static struct actor_letter *publish(struct actor_correlation *correlation, const char *id,
                                    const char *key)
{
    struct actor_letter *letter;
    const struct proto_publish published = {.id = span_text(id),
                                            .workspace = span_text("w"),
                                            .name = span_text("paid"),
                                            .key = span_text(key),
                                            .expires_ms = 100};
    cr_assert_eq(actor_correlation_add(correlation, &published, &letter), RESULT_OK);
    return letter;
}

static void expect_taker(const struct actor_correlation *correlation,
                         const struct actor_letter *letter, const char *id)
{
    const struct actor_listener *taker = actor_correlation_taker(correlation, letter);
    cr_assert_not_null(taker);
    cr_expect(span_is(execution_id_span(&taker->id), id));
}

Test(correlation, an_equal_key_goes_before_none_and_the_oldest_before_the_newer)
{
    struct actor_correlation correlation;
    actor_correlation_init(&correlation);
    listen(&correlation, "any", "paid", "");
    listen(&correlation, "first", "paid", "k");
    listen(&correlation, "second", "paid", "k");
    listen(&correlation, "first", "paid", "k"); /* says so again, and keeps its place */

    expect_taker(&correlation, publish(&correlation, "m1", "k"), "first");
    expect_taker(&correlation, publish(&correlation, "m2", "other"), "any");
    actor_correlation_listener(&correlation, span_text("first"))->busy = true;
    expect_taker(&correlation, publish(&correlation, "m3", "k"), "second");

    actor_correlation_release(&correlation);
}

Test(correlation, who_has_no_time_wants_its_message_still)
{
    struct actor_correlation correlation;
    actor_correlation_init(&correlation);
    listen(&correlation, "e", "paid", "");
    actor_correlation_listener(&correlation, span_text("e"))->busy = true;
    struct actor_letter *letter = publish(&correlation, "m1", "k");

    cr_expect_null(actor_correlation_taker(&correlation, letter));
    cr_expect(actor_correlation_is_wanted(&correlation, letter));
    actor_correlation_refused(&correlation, span_text("e"), letter);
    cr_expect_not(actor_correlation_is_wanted(&correlation, letter));

    actor_correlation_release(&correlation);
}

Test(correlation, a_listener_is_given_the_oldest_that_lives_and_is_on_no_way)
{
    struct actor_correlation correlation;
    actor_correlation_init(&correlation);
    struct actor_letter *first = publish(&correlation, "m1", "k");
    struct actor_letter *second = publish(&correlation, "m2", "k");
    listen(&correlation, "e", "paid", "k");
    struct actor_listener *listener = actor_correlation_listener(&correlation, span_text("e"));

    cr_expect_eq(actor_correlation_next(&correlation, listener, 99), first);
    first->handed = true;
    cr_expect_eq(actor_correlation_next(&correlation, listener, 99), second);
    cr_expect_null(actor_correlation_next(&correlation, listener, 100), "expired");
    listener->busy = true;
    cr_expect_null(actor_correlation_next(&correlation, listener, 99), "busy");

    actor_correlation_release(&correlation);
}

Test(correlation, another_workspace_and_another_name_hear_nothing)
{
    struct actor_correlation correlation;
    actor_correlation_init(&correlation);
    const struct execution_id id = id_of("e");
    const struct actor_wanted wanted = {.name = span_text("paid"), .key = span_text("k")};
    cr_assert_eq(actor_correlation_listen(&correlation, &id, span_text("v"), &wanted, 1),
                 RESULT_OK);
    listen(&correlation, "f", "shipped", "k");

    cr_expect_null(actor_correlation_taker(&correlation, publish(&correlation, "m1", "k")));

    actor_correlation_release(&correlation);
}

Test(correlation, one_id_is_one_message_and_what_was_refused_is_void)
{
    struct actor_correlation correlation;
    struct actor_letter *again;
    actor_correlation_init(&correlation);
    struct actor_letter *letter = publish(&correlation, "m1", "k");
    listen(&correlation, "e", "paid", "k");

    cr_expect_eq(actor_correlation_add(&correlation, &letter->published, &again), RESULT_EXISTS);
    actor_correlation_refused(&correlation, span_text("e"), letter);

    cr_expect_null(actor_correlation_taker(&correlation, letter));
    cr_expect_null(actor_correlation_listener(&correlation, span_text("e")));
    actor_correlation_take(&correlation, letter);
    cr_expect_eq(actor_correlation_count(&correlation), 0);
    actor_correlation_release(&correlation);
}
