/* outbox_test.c: every answer is delivered once; after the stop it is kept and freed. */
#include "transport/front/outbox.h"

#include <criterion/criterion.h>
#include <semaphore.h>

#define ANSWERS 500u

static sem_t delivered;
static _Atomic uint32_t seen[ANSWERS];

static void count(void *owner, struct proto_message *answer)
{
    cr_assert_eq(owner, &delivered);
    atomic_fetch_add(&seen[answer->reply_to.ticket], 1);
    message_free(answer);
    sem_post(&delivered);
}

static void push(struct front_outbox *outbox, uint64_t ticket)
{
    struct proto_message *answer = message_new(PROTO_REPLY, 0);
    cr_assert_not_null(answer);
    answer->reply_to.ticket = ticket;
    front_outbox_push(outbox, answer);
}

Test(outbox, every_answer_is_delivered_once)
{
    struct front_outbox outbox;
    sem_init(&delivered, 0, 0);
    cr_assert_eq(front_outbox_init(&outbox, count, &delivered), RESULT_OK);
    for (uint32_t i = 0; i < ANSWERS; i++) {
        push(&outbox, i);
    }
    for (uint32_t i = 0; i < ANSWERS; i++) {
        sem_wait(&delivered);
    }
    for (uint32_t i = 0; i < ANSWERS; i++) {
        cr_expect_eq(atomic_load(&seen[i]), 1u, "answer %u", i);
    }
    front_outbox_release(&outbox);
    nng_fini();
}

Test(outbox, an_answer_after_the_stop_is_freed)
{
    struct front_outbox outbox;
    sem_init(&delivered, 0, 0);
    cr_assert_eq(front_outbox_init(&outbox, count, &delivered), RESULT_OK);
    front_outbox_stop(&outbox);
    push(&outbox, 0);
    push(&outbox, 1);
    front_outbox_release(&outbox); /* the leak sanitizer sees the rest */
    nng_fini();
}
