#include "proto/message.h"

#include <signal.h>

#include <criterion/criterion.h>

struct probe {
    struct proto_sink sink;
    enum result answer;
    struct proto_message *taken;
};

static enum result probe_send(struct proto_sink *self, struct proto_message **message)
{
    struct probe *probe = (struct probe *)self;
    if (probe->answer == RESULT_OK) {
        probe->taken = *message;
        *message = NULL;
    }
    return probe->answer;
}

Test(message, a_new_one_is_zeroed_and_typed)
{
    struct proto_message *message = message_new(PROTO_REQUEST, 0);

    cr_assert_not_null(message);
    cr_expect_eq(message->type, PROTO_REQUEST);
    cr_expect_eq(message->magic, PROTO_MESSAGE_MAGIC);
    cr_expect_null(message->reply_to.sink);
    cr_expect_eq(message->as.request.body.count, 0u);
    message_free(message);
}

Test(message, keeps_copies_that_outlive_their_originals)
{
    char first[] = "first", second[] = "second";
    struct proto_message *message = message_new(PROTO_CALL, 11);
    cr_assert_not_null(message);

    message->as.call.url = message_keep(message, span_text(first));
    message->as.call.body = message_keep(message, span_text(second));
    message->as.call.headers = message_keep(message, SPAN_EMPTY);
    first[0] = second[0] = 'X';

    cr_expect(span_is(message->as.call.url, "first"));
    cr_expect(span_is(message->as.call.body, "second"));
    cr_expect_eq(message->as.call.headers.count, 0u);
    message_free(message);
}

Test(message, keeping_more_than_was_reserved_is_our_own_fault, .signal = SIGABRT)
{
    struct proto_message *message = message_new(PROTO_CALL, 3);

    message_keep(message, span_text("four"));
}

Test(message, an_absurd_size_is_refused)
{
    cr_expect_null(message_new(PROTO_CALL, SIZE_MAX));
    cr_expect_null(message_new(PROTO_CALL, SIZE_MAX - sizeof(struct proto_message)));
}

Test(message, freeing_null_is_fine)
{
    message_free(NULL);
}

Test(message, an_answer_carries_the_asker_s_ticket)
{
    struct probe probe = {.sink.send = probe_send, .answer = RESULT_OK};

    message_answer((struct proto_address){&probe.sink, 77}, message_new(PROTO_DONE, 0));

    cr_assert_not_null(probe.taken);
    cr_expect_eq(probe.taken->reply_to.ticket, 77u);
    cr_expect_null(probe.taken->reply_to.sink);
    message_free(probe.taken);
}

Test(message, an_answer_to_nobody_or_to_the_closed_is_freed)
{
    struct probe probe = {.sink.send = probe_send, .answer = RESULT_CLOSED};

    message_answer((struct proto_address){NULL, 1}, message_new(PROTO_DONE, 0));
    message_answer((struct proto_address){&probe.sink, 1}, message_new(PROTO_DONE, 0));

    cr_expect_null(probe.taken);
}

Test(message, a_sink_that_refuses_an_answer_breaks_its_promise, .signal = SIGABRT)
{
    struct probe probe = {.sink.send = probe_send, .answer = RESULT_AGAIN};

    message_answer((struct proto_address){&probe.sink, 1}, message_new(PROTO_DONE, 0));
}
