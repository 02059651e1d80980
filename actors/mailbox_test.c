/*
 * mailbox_test.c: order, bounds and wake-ups with one thread; tests/system/engine_mailbox_system.c
 * hammers it with many.
 */
#include <criterion/criterion.h>

#include "actors/mailbox.h"

static struct proto_message *numbered(enum proto_message_type type, uint64_t number)
{
    struct proto_message *message = message_new(type, 0);
    message->reply_to.ticket = number;
    return message;
}

static bool push(struct actor_mailbox *mailbox, enum proto_message_type type, uint64_t number)
{
    struct proto_message *message = numbered(type, number);
    bool wake;
    cr_assert_eq(actor_mailbox_push(mailbox, &message, &wake), RESULT_OK);
    cr_assert_null(message);
    return wake;
}

static void expect_next(struct proto_message **batch, uint64_t number)
{
    struct proto_message *message = *batch;
    cr_assert_not_null(message);
    cr_assert_eq(message->reply_to.ticket, number);
    *batch = message->next;
    message_free(message);
}

Test(mailbox, hands_out_messages_in_the_order_they_were_sent)
{
    struct actor_mailbox mailbox;
    actor_mailbox_init(&mailbox, 8);
    for (uint64_t i = 1; i <= 3; i++) {
        push(&mailbox, PROTO_DONE, i);
    }

    bool more;
    struct proto_message *batch = actor_mailbox_take(&mailbox, 10, &more);

    for (uint64_t i = 1; i <= 3; i++) {
        expect_next(&batch, i);
    }
    cr_assert_null(batch);
    cr_assert_not(more);
    actor_mailbox_release(&mailbox);
}

Test(mailbox, keeps_the_rest_of_a_large_batch_before_later_messages)
{
    struct actor_mailbox mailbox;
    actor_mailbox_init(&mailbox, 8);
    for (uint64_t i = 1; i <= 5; i++) {
        push(&mailbox, PROTO_DONE, i);
    }

    bool more;
    struct proto_message *first = actor_mailbox_take(&mailbox, 2, &more);
    cr_assert(more);
    push(&mailbox, PROTO_DONE, 6);
    struct proto_message *second = actor_mailbox_take(&mailbox, 10, &more);
    cr_assert(more, "message 6 is still there");
    struct proto_message *third = actor_mailbox_take(&mailbox, 10, &more);

    cr_assert_not(more);
    expect_next(&first, 1);
    expect_next(&first, 2);
    for (uint64_t i = 3; i <= 5; i++) {
        expect_next(&second, i);
    }
    expect_next(&third, 6);
    actor_mailbox_release(&mailbox);
}

Test(mailbox, asks_for_a_wake_up_only_when_it_was_empty)
{
    struct actor_mailbox mailbox;
    actor_mailbox_init(&mailbox, 8);

    cr_assert(push(&mailbox, PROTO_DONE, 1));
    cr_assert_not(push(&mailbox, PROTO_DONE, 2));
    bool more;
    message_free(actor_mailbox_take(&mailbox, 1, &more));
    cr_assert_not(push(&mailbox, PROTO_DONE, 3), "the reader was told that there is more");
    actor_mailbox_release(&mailbox);

    actor_mailbox_init(&mailbox, 8);
    cr_assert(push(&mailbox, PROTO_DONE, 4));
    actor_mailbox_release(&mailbox);
}

Test(mailbox, refuses_requests_beyond_its_bound_but_never_answers)
{
    struct actor_mailbox mailbox;
    actor_mailbox_init(&mailbox, 2);
    push(&mailbox, PROTO_REQUEST, 1);
    push(&mailbox, PROTO_REQUEST, 2);

    struct proto_message *third = numbered(PROTO_REQUEST, 3);
    bool wake;
    cr_assert_eq(actor_mailbox_push(&mailbox, &third, &wake), RESULT_AGAIN);
    cr_assert_not_null(third, "a refused message stays the sender's");
    message_free(third);
    push(&mailbox, PROTO_CALL_DONE, 4);

    cr_assert_eq(actor_mailbox_count(&mailbox), 3);
    actor_mailbox_release(&mailbox);
}

Test(mailbox, refuses_everything_once_closed_and_frees_what_is_left)
{
    struct actor_mailbox mailbox;
    actor_mailbox_init(&mailbox, 2);
    push(&mailbox, PROTO_DONE, 1);
    actor_mailbox_close(&mailbox);

    struct proto_message *late = numbered(PROTO_DONE, 2);
    bool wake;
    cr_assert_eq(actor_mailbox_push(&mailbox, &late, &wake), RESULT_CLOSED);
    cr_assert_not_null(late);
    message_free(late);
    actor_mailbox_release(&mailbox);
    cr_assert_eq(actor_mailbox_count(&mailbox), 0);
}
