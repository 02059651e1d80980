/*
 * loop.h: a thread, its libev loop, a mailbox, and the actor that lives there.
 *
 * An actor is its turn function: it is given what arrived (at most LIMIT_ACTOR_BATCH messages,
 * oldest first) and the time, and says when it wants a turn even if nothing arrives. It never
 * blocks on another actor, and it needs no loop to run: the simulator calls the same function.
 */
#ifndef ACTORS_LOOP_H
#define ACTORS_LOOP_H

#include <ev.h>
#include <pthread.h>

#include "actors/clock.h"
#include "actors/mailbox.h"
#include "proto/sink.h"

/* Takes the batch (NULL: only time has passed). Returns the monotonic ms of the next turn wanted,
 * or ACTOR_NEVER. */
typedef uint64_t (*actor_turn_fn)(void *actor, struct proto_message *batch, struct actor_time now);

struct actor_loop {
    uint32_t magic;
    struct proto_sink sink; /* any thread: sends to the mailbox */
    struct ev_loop *ev;     /* for adapters that live on this loop, before start */
    struct actor_mailbox mailbox;
    /* private to loop.c */
    const char *name;
    actor_turn_fn turn;
    void *actor;
    struct actor_clock clock;
    ev_async wake;
    ev_timer timer;
    uint64_t due_ms;
    _Atomic bool stopping;
    pthread_t thread;
    bool running;
    _Atomic uint64_t turns;
};

/* name: at most 15 bytes, shown by ps and gdb; borrowed. RESULT_LIMIT: no loop could be made. */
MUST_USE enum result actor_loop_init(struct actor_loop *loop, const char *name,
                                     uint32_t requests_max);
/* Before start: who lives here. */
void actor_loop_settle(struct actor_loop *loop, actor_turn_fn turn, void *actor);
/* Starts the thread; its first turn comes at once. */
MUST_USE enum result actor_loop_start(struct actor_loop *loop);
/* Closes the mailbox after the current turn and joins the thread. Idempotent. */
void actor_loop_stop(struct actor_loop *loop);
/* Once stopped: the turns that take what had been sent by then, on the caller's thread. */
void actor_loop_finish(struct actor_loop *loop);
/* Stops, and frees what was not taken. */
void actor_loop_release(struct actor_loop *loop);
/* Turns so far: any thread, for metrics. */
uint64_t actor_loop_turns(const struct actor_loop *loop);

#endif
