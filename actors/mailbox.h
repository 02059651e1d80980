/*
 * mailbox.h: the bounded queue in front of an actor: any number of senders, one reader, first in
 * first out per sender.
 *
 * Concurrency Kit's stack (push by compare-and-swap, the reader takes all at once and turns them
 * round) and a counter beside it. A sender pushes first and counts after, so whoever moves the
 * count from 0 to 1 knows that something lies there and wakes the reader; the reader sleeps only
 * when the count is 0 after it subtracted what it took. No wake-up is lost, few are sent.
 */
#ifndef ACTORS_MAILBOX_H
#define ACTORS_MAILBOX_H

#include <ck_stack.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"
#include "proto/message.h"

struct actor_mailbox {
    /* private to mailbox.c */
    struct ck_stack stack; /* newest first */
    int count;             /* pushed and not yet taken; may be -1 for a moment, see mailbox.c */
    int requests_max;
    _Atomic bool closed; /* read by senders, set by the reader; messages that slip through are freed
                            by release */
    struct proto_message *rest; /* the reader's: taken from the stack, oldest first */
};

void actor_mailbox_init(struct actor_mailbox *mailbox, uint32_t requests_max);
/* Frees what nobody took. No sender may be left. */
void actor_mailbox_release(struct actor_mailbox *mailbox);

/*
 * Any thread. RESULT_OK takes *message and sets it NULL; *wake: the reader sleeps or is about to,
 * wake it. RESULT_AGAIN: a PROTO_REQUEST beyond requests_max (answers and all other kinds always
 * fit: their room is reserved by the request that caused them). RESULT_CLOSED after close.
 */
MUST_USE enum result actor_mailbox_push(struct actor_mailbox *mailbox,
                                        struct proto_message **message, bool *wake);
/* Reader's thread: at most `max` messages, oldest first, linked by `next`. *more: call again before
 * you sleep. */
struct proto_message *actor_mailbox_take(struct actor_mailbox *mailbox, uint32_t max, bool *more);
/* Reader's thread: refuse everything from now on. */
void actor_mailbox_close(struct actor_mailbox *mailbox);
/* Any thread, a moment's value: for metrics. */
uint32_t actor_mailbox_count(const struct actor_mailbox *mailbox);

#endif
