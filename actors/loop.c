/*
 * loop.c: drives an actor's turns. Everything here but the sink and stop runs on the loop's own
 * thread.
 */
#include "actors/loop.h"

#include <signal.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"

enum { LOOP_MAGIC = 0x4c4f4f50, TURNS_BEFORE_POLL = 4 };

static enum result send_to_mailbox(struct proto_sink *self, struct proto_message **message)
{
    struct actor_loop *loop =
        (struct actor_loop *)((char *)self - offsetof(struct actor_loop, sink));
    ASSERT(loop->magic == LOOP_MAGIC);
    bool wake;
    enum result result = actor_mailbox_push(&loop->mailbox, message, &wake);
    if (wake) {
        ev_async_send(loop->ev, &loop->wake);
    }
    return result;
}

static void arm(struct actor_loop *loop, uint64_t due_ms, uint64_t now_ms)
{
    if (due_ms == loop->due_ms && ev_is_active(&loop->timer)) {
        return;
    }
    loop->due_ms = due_ms;
    ev_timer_stop(loop->ev, &loop->timer);
    if (due_ms != ACTOR_NEVER) {
        ev_timer_set(&loop->timer, due_ms <= now_ms ? 0. : (double)(due_ms - now_ms) / 1000., 0.);
        ev_timer_start(loop->ev, &loop->timer);
    }
}

/* Some turns without asking the kernel in between, then the adapters on this loop get their share.
 */
static void run_turns(struct actor_loop *loop)
{
    bool more = true;
    uint64_t due_ms = ACTOR_NEVER;
    struct actor_time now = {0};
    for (int i = 0; i < TURNS_BEFORE_POLL && more; i++) {
        struct proto_message *batch = actor_mailbox_take(&loop->mailbox, LIMIT_ACTOR_BATCH, &more);
        now = actor_clock_now(&loop->clock);
        due_ms = loop->turn(loop->actor, batch, now);
        atomic_fetch_add_explicit(&loop->turns, 1, memory_order_relaxed);
        more = more || due_ms <= now.monotonic_ms;
    }
    if (more) {
        ev_async_send(loop->ev, &loop->wake);
    }
    arm(loop, due_ms, now.monotonic_ms);
}

static void on_wake(struct ev_loop *ev, ev_async *watcher, int events)
{
    (void)events;
    struct actor_loop *loop = BASE_CAST(actor_loop, watcher->data, LOOP_MAGIC);
    if (atomic_load_explicit(&loop->stopping, memory_order_acquire)) {
        ev_break(ev, EVBREAK_ALL);
        return;
    }
    run_turns(loop);
}

static void on_timer(struct ev_loop *ev, ev_timer *watcher, int events)
{
    (void)ev;
    (void)events;
    struct actor_loop *loop = BASE_CAST(actor_loop, watcher->data, LOOP_MAGIC);
    ev_now_update(loop->ev);
    run_turns(loop);
}

enum result actor_loop_init(struct actor_loop *loop, const char *name, uint32_t requests_max)
{
    *loop = (struct actor_loop){.magic = LOOP_MAGIC, .sink.send = send_to_mailbox, .name = name};
    loop->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (loop->ev == NULL) {
        return RESULT_LIMIT;
    }
    actor_mailbox_init(&loop->mailbox, requests_max);
    ev_async_init(&loop->wake, on_wake);
    loop->wake.data = loop;
    ev_async_start(loop->ev, &loop->wake);
    ev_timer_init(&loop->timer, on_timer, 0., 0.);
    loop->timer.data = loop;
    loop->due_ms = ACTOR_NEVER;
    return RESULT_OK;
}

void actor_loop_settle(struct actor_loop *loop, actor_turn_fn turn, void *actor)
{
    ASSERT(!loop->running);
    loop->turn = turn;
    loop->actor = actor;
}

static void *run(void *argument)
{
    struct actor_loop *loop = BASE_CAST(actor_loop, argument, LOOP_MAGIC);
    ev_now_update(loop->ev);
    ev_async_send(loop->ev, &loop->wake);
    ev_run(loop->ev, 0);
    return NULL;
}

enum result actor_loop_start(struct actor_loop *loop)
{
    ASSERT(loop->turn != NULL);
    ASSERT(!loop->running);
    /* Signals belong to main's thread. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&loop->thread, NULL, run, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        return RESULT_LIMIT;
    }
    pthread_setname_np(loop->thread, loop->name);
    loop->running = true;
    return RESULT_OK;
}

void actor_loop_stop(struct actor_loop *loop)
{
    ASSERT(loop->magic == LOOP_MAGIC);
    actor_mailbox_close(&loop->mailbox);
    if (!loop->running) {
        return;
    }
    /* Pairs with the acquire in on_wake; a message could be lost behind a full batch, this flag
     * cannot. */
    atomic_store_explicit(&loop->stopping, true, memory_order_release);
    ev_async_send(loop->ev, &loop->wake);
    pthread_join(loop->thread, NULL);
    loop->running = false;
}

void actor_loop_finish(struct actor_loop *loop)
{
    ASSERT(!loop->running);
    bool more = loop->turn != NULL;
    while (more) {
        struct proto_message *batch = actor_mailbox_take(&loop->mailbox, LIMIT_ACTOR_BATCH, &more);
        (void)loop->turn(loop->actor, batch, actor_clock_now(&loop->clock));
    }
}

void actor_loop_release(struct actor_loop *loop)
{
    if (loop->magic != LOOP_MAGIC) {
        return; /* never made */
    }
    actor_loop_stop(loop);
    actor_mailbox_release(&loop->mailbox);
    ev_async_stop(loop->ev, &loop->wake);
    ev_timer_stop(loop->ev, &loop->timer);
    ev_loop_destroy(loop->ev);
    loop->magic = 0;
}

uint64_t actor_loop_turns(const struct actor_loop *loop)
{
    return atomic_load_explicit(&loop->turns, memory_order_relaxed);
}
