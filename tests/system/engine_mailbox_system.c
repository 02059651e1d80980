/*
 * engine_mailbox_system.c: many senders hammer one loop. Under ThreadSanitizer this is the proof of
 * the mailbox's happens-before; anywhere it shows that no message is lost, doubled or out of order,
 * and that no wake-up is missed.
 */
#include <pthread.h>

#include "actors/loop.h"
#include "tests/system/check.h"

enum { SENDERS = 4, EACH = 20000 };

struct receiver {
    uint64_t next[SENDERS]; /* the number expected of each; the receiver's thread only */
    uint64_t received;
    uint64_t disorder;
    pthread_mutex_t mutex;
    pthread_cond_t all;
    bool done;
};

struct sender {
    struct proto_sink *sink;
    uint64_t number;
};

static uint64_t receive(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct receiver *receiver = argument;
    (void)now;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        uint64_t sender = message->reply_to.ticket;
        receiver->disorder += message->as.position == receiver->next[sender] ? 0 : 1;
        receiver->next[sender] = message->as.position + 1;
        receiver->received++;
        message_free(message);
    }
    if (receiver->received == SENDERS * EACH) {
        pthread_mutex_lock(&receiver->mutex);
        receiver->done = true;
        pthread_cond_signal(&receiver->all);
        pthread_mutex_unlock(&receiver->mutex);
    }
    return ACTOR_NEVER;
}

static void *send_all(void *argument)
{
    struct sender *sender = argument;
    for (uint64_t i = 0; i < EACH; i++) {
        struct proto_message *message = message_new(PROTO_JOURNAL_ADVANCED, 0);
        message->reply_to.ticket = sender->number;
        message->as.position = i;
        if (sender->sink->send(sender->sink, &message) != RESULT_OK) {
            message_free(message);
        }
    }
    return NULL;
}

static void nothing_is_lost(void)
{
    CHECK_CASE("every message arrives once, in each sender's order");
    struct actor_loop loop;
    struct receiver receiver = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                .all = PTHREAD_COND_INITIALIZER};
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    REQUIRE(actor_loop_init(&loop, "receiver", 16) == RESULT_OK);
    actor_loop_settle(&loop, receive, &receiver);
    REQUIRE(actor_loop_start(&loop) == RESULT_OK);
    for (uint64_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.sink = &loop.sink, .number = i};
        REQUIRE(pthread_create(&threads[i], NULL, send_all, &senders[i]) == 0);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&receiver.mutex);
    while (!receiver.done && pthread_cond_timedwait(&receiver.all, &receiver.mutex, &until) == 0) {
    }
    CHECK(receiver.done);
    pthread_mutex_unlock(&receiver.mutex);
    actor_loop_stop(&loop);
    CHECK_INT(receiver.received, SENDERS * EACH);
    CHECK_INT(receiver.disorder, 0);
    fprintf(stderr, "  %llu turns for %d messages\n", (unsigned long long)actor_loop_turns(&loop),
            SENDERS * EACH);
    actor_loop_release(&loop);
}

static uint64_t slow(void *argument, struct proto_message *batch, struct actor_time now)
{
    (void)argument;
    (void)now;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message_free(message);
    }
    return ACTOR_NEVER;
}

static void stops_with_messages_in_it(void)
{
    CHECK_CASE("a loop that is stopped while it is sent to frees what it has and refuses the rest");
    struct actor_loop loop;
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    REQUIRE(actor_loop_init(&loop, "stopped", 16) == RESULT_OK);
    actor_loop_settle(&loop, slow, NULL);
    REQUIRE(actor_loop_start(&loop) == RESULT_OK);
    for (uint64_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.sink = &loop.sink, .number = i};
        REQUIRE(pthread_create(&threads[i], NULL, send_all, &senders[i]) == 0);
    }
    actor_loop_stop(&loop);
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
    }
    struct proto_message *late = message_new(PROTO_DONE, 0);
    CHECK_INT(loop.sink.send(&loop.sink, &late), RESULT_CLOSED);
    message_free(late);
    actor_loop_release(&loop);
}

int main(void)
{
    nothing_is_lost();
    stops_with_messages_in_it();
    return check_report();
}
