/*
 * events.c: server-sent events.
 *
 * One mutex guards the listeners and their queues: events come from every actor's thread, and NNG
 * ends writes on its own threads; there is no loop here to send a message to, and this is not a hot
 * path. It is never held while calling a sink. Lock order: ours before NNG's; NNG calls us back
 * without any of its locks.
 *
 * A listener has up to three operations under way: a read (that only ever tells us that the peer
 * has left), a write, and a pulse timer. It is freed by the last of them to end after it has been
 * marked `dead`.
 */
#include "transport/admin/events.h"

#include <nng/supplemental/util/platform.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/message.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define EVENTS_MAGIC   0x45564e54u
#define LISTENER_MAGIC 0x4c49534eu

#define LISTENERS_MAX 64u
#define QUEUE_MAX     256u /* events that wait for one listener; more are lost to it */
#define PULSE_MS                                                                                   \
    15000 /* a comment when nothing else was sent: keeps proxies from closing the connection */
#define WRITE_TIMEOUT_MS 60000 /* a listener that takes nothing for so long is dropped */
#define ARENA_BLOCK      4096u
#define ARENA_EXTRA      (1u << 20)

static const char head[] = "HTTP/1.1 200 OK\r\n"
                           "Content-Type: text/event-stream; charset=utf-8\r\n"
                           "Cache-Control: no-store\r\n"
                           "X-Content-Type-Options: nosniff\r\n"
                           "Connection: close\r\n"
                           "\r\n"
                           ": connected\n\n";
static const char pulse[] = ": \n\n";

/* One event's text, shared by the queues that hold it. */
struct event_text {
    uint32_t holders; /* under the mutex */
    size_t count;
    char bytes[];
};

enum writing { WRITING_NOTHING = 0, WRITING_HEAD, WRITING_EVENT, WRITING_PULSE };

struct listener {
    uint32_t magic;
    struct admin_events *events;
    struct listener *previous;
    struct listener *next;
    nng_http_conn *connection;
    nng_aio *read;
    nng_aio *write;
    nng_aio *timer;
    uint32_t running; /* of the three */
    enum writing writing;
    bool dead;
    bool greeted; /* the head has been written */
    bool pulse_due;
    struct event_text *queue[QUEUE_MAX]; /* ring; the first one is being written in WRITING_EVENT */
    uint32_t queue_first;
    uint32_t queue_count;
    char ignored[64]; /* whatever the peer sends */
};

struct admin_events {
    uint32_t magic;
    struct proto_sink sink;
    pthread_mutex_t mutex;
    pthread_cond_t gone; /* a listener was freed */
    struct listener *first;
    /* Written under the mutex; read without it by whoever wonders whether to make an event at all:
     * one too many or too few at that instant is no harm. */
    _Atomic uint32_t count;
    uint64_t lost;
    bool closing;
};

static enum result on_event(struct proto_sink *self, struct proto_message **message);
static struct event_text *text_of(const struct proto_event *event);
static void enqueue(struct listener *listener, struct event_text *text);
static void drop_text(struct event_text *text);
static struct listener *listener_new(struct admin_events *events, nng_http_conn *connection);
static void kill_listener(struct listener *listener);
static void end_operation(struct listener *listener);
static void start_read(struct listener *listener);
static void start_write(struct listener *listener);
static void start_timer(struct listener *listener);
static void on_read(void *arg);
static void on_written(void *arg);
static void on_timer(void *arg);

struct admin_events *admin_events_new(void)
{
    struct admin_events *events = calloc(1, sizeof *events);
    if (events == NULL) {
        return NULL;
    }
    events->magic = EVENTS_MAGIC;
    events->sink.send = on_event;
    pthread_mutex_init(&events->mutex, NULL);
    pthread_cond_init(&events->gone, NULL);
    return events;
}

void admin_events_free(struct admin_events *events)
{
    ASSERT(events->magic == EVENTS_MAGIC);
    pthread_mutex_lock(&events->mutex);
    events->closing = true;
    for (struct listener *listener = events->first; listener != NULL; listener = listener->next) {
        kill_listener(listener);
    }
    while (events->count > 0) {
        pthread_cond_wait(&events->gone, &events->mutex);
    }
    pthread_mutex_unlock(&events->mutex);
    pthread_cond_destroy(&events->gone);
    pthread_mutex_destroy(&events->mutex);
    events->magic = 0;
    free(events);
}

struct proto_sink *admin_events_sink(struct admin_events *events)
{
    return &events->sink;
}

uint32_t admin_events_listeners(struct admin_events *events)
{
    return atomic_load_explicit(&events->count, memory_order_relaxed);
}

uint64_t admin_events_lost(struct admin_events *events)
{
    pthread_mutex_lock(&events->mutex);
    uint64_t lost = events->lost;
    pthread_mutex_unlock(&events->mutex);
    return lost;
}

enum result admin_events_add(struct admin_events *events, nng_http_conn *connection)
{
    ASSERT(events->magic == EVENTS_MAGIC);
    struct listener *listener = NULL;
    pthread_mutex_lock(&events->mutex);
    if (events->count < LISTENERS_MAX && !events->closing) {
        listener = listener_new(events, connection);
    }
    if (listener != NULL) {
        listener->next = events->first;
        if (events->first != NULL) {
            events->first->previous = listener;
        }
        events->first = listener;
        events->count++;
        start_read(listener);
        start_write(listener);
        start_timer(listener);
    }
    pthread_mutex_unlock(&events->mutex);
    return listener == NULL ? RESULT_AGAIN : RESULT_OK;
}

static enum result on_event(struct proto_sink *self, struct proto_message **message)
{
    struct admin_events *events =
        (struct admin_events *)(void *)((char *)self - offsetof(struct admin_events, sink));
    ASSERT(events->magic == EVENTS_MAGIC);
    ASSERT((*message)->magic == PROTO_MESSAGE_MAGIC && (*message)->type == PROTO_EVENT);

    struct event_text *text =
        admin_events_listeners(events) > 0 ? text_of(&(*message)->as.event) : NULL;
    if (text != NULL) {
        pthread_mutex_lock(&events->mutex);
        for (struct listener *listener = events->first; listener != NULL;
             listener = listener->next) {
            enqueue(listener, text);
        }
        drop_text(text);
        pthread_mutex_unlock(&events->mutex);
    }
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

/* "event: NAME", "data: JSON": compact JSON has no line breaks, so one data line holds it. With one
 * holder: the caller. */
static struct event_text *text_of(const struct proto_event *event)
{
    struct arena arena;
    struct event_text *text = NULL;
    struct span json = SPAN_EMPTY;
    arena_init(&arena, ARENA_BLOCK, 8 * event->body.count + ARENA_EXTRA);
    if (json_from_wire(event->body, JSON_COMPACT, &arena, &json) == RESULT_OK) {
        struct span name = wire_string_or(wire_find_text(event->body, "event"), "message");
        struct span whole =
            arena_format(&arena, "event: %.*s\ndata: %.*s\n\n", SPAN_ARG(name), SPAN_ARG(json));
        text = whole.count == 0 ? NULL : malloc(sizeof *text + whole.count);
        if (text != NULL) {
            text->holders = 1;
            text->count = whole.count;
            memcpy(text->bytes, whole.bytes, whole.count);
        }
    }
    arena_release(&arena);
    return text;
}

static void enqueue(struct listener *listener, struct event_text *text)
{
    if (listener->dead) {
        return;
    }
    if (listener->queue_count == QUEUE_MAX) {
        listener->events->lost++;
        return;
    }
    text->holders++;
    listener->queue[(listener->queue_first + listener->queue_count++) % QUEUE_MAX] = text;
    if (listener->writing == WRITING_NOTHING) {
        start_write(listener);
    }
}

static void drop_text(struct event_text *text)
{
    ASSERT(text->holders > 0);
    if (--text->holders == 0) {
        free(text);
    }
}

static struct listener *listener_new(struct admin_events *events, nng_http_conn *connection)
{
    struct listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        return NULL;
    }
    listener->magic = LISTENER_MAGIC;
    listener->events = events;
    listener->connection = connection;
    if (nng_aio_alloc(&listener->read, on_read, listener) != 0 ||
        nng_aio_alloc(&listener->write, on_written, listener) != 0 ||
        nng_aio_alloc(&listener->timer, on_timer, listener) != 0) {
        nng_aio_free(listener->write);
        nng_aio_free(listener->read);
        free(listener);
        return NULL;
    }
    nng_aio_set_timeout(listener->write, WRITE_TIMEOUT_MS);
    return listener;
}

static void kill_listener(struct listener *listener)
{
    listener->dead = true;
    nng_aio_abort(listener->read, NNG_ECLOSED);
    nng_aio_abort(listener->write, NNG_ECLOSED);
    nng_aio_abort(listener->timer, NNG_ECLOSED);
}

/* With the mutex held; the last operation of a dead listener frees it. NNG reaps an aio only after
 * its callback is over. */
static void end_operation(struct listener *listener)
{
    struct admin_events *events = listener->events;
    ASSERT(listener->running > 0);
    if (--listener->running > 0 || !listener->dead) {
        return;
    }
    if (listener->previous == NULL) {
        events->first = listener->next;
    } else {
        listener->previous->next = listener->next;
    }
    if (listener->next != NULL) {
        listener->next->previous = listener->previous;
    }
    for (; listener->queue_count > 0; listener->queue_count--) {
        drop_text(listener->queue[listener->queue_first]);
        listener->queue_first = (listener->queue_first + 1) % QUEUE_MAX;
    }
    nng_http_conn_close(listener->connection);
    nng_aio_reap(listener->read);
    nng_aio_reap(listener->write);
    nng_aio_reap(listener->timer);
    listener->magic = 0;
    free(listener);
    events->count--;
    pthread_cond_signal(&events->gone);
}

static void start_read(struct listener *listener)
{
    nng_iov iov = {listener->ignored, sizeof listener->ignored};
    nng_aio_set_iov(listener->read, 1, &iov);
    listener->running++;
    nng_http_conn_read(listener->connection, listener->read);
}

/* Writes what comes first: the head, the oldest event, a pulse that is due; or nothing. */
static void start_write(struct listener *listener)
{
    nng_iov iov;
    if (!listener->greeted) {
        iov = (nng_iov){(void *)(uintptr_t)head, sizeof head - 1};
        listener->writing = WRITING_HEAD;
    } else if (listener->queue_count > 0) {
        struct event_text *text = listener->queue[listener->queue_first];
        iov = (nng_iov){text->bytes, text->count};
        listener->writing = WRITING_EVENT;
    } else if (listener->pulse_due) {
        iov = (nng_iov){(void *)(uintptr_t)pulse, sizeof pulse - 1};
        listener->writing = WRITING_PULSE;
    } else {
        return;
    }
    nng_aio_set_iov(listener->write, 1, &iov);
    listener->running++;
    nng_http_conn_write_all(listener->connection, listener->write);
}

static void start_timer(struct listener *listener)
{
    listener->running++;
    nng_sleep_aio(PULSE_MS, listener->timer);
}

static void on_read(void *arg)
{
    struct listener *listener = BASE_CAST(listener, arg, LISTENER_MAGIC);
    pthread_mutex_t *mutex = &listener->events->mutex;
    pthread_mutex_lock(mutex);
    if (nng_aio_result(listener->read) != 0 || nng_aio_count(listener->read) == 0) {
        kill_listener(listener);
    } else if (!listener->dead) {
        start_read(listener);
    }
    end_operation(listener);
    pthread_mutex_unlock(mutex);
}

static void on_written(void *arg)
{
    struct listener *listener = BASE_CAST(listener, arg, LISTENER_MAGIC);
    pthread_mutex_t *mutex = &listener->events->mutex;
    pthread_mutex_lock(mutex);
    if (nng_aio_result(listener->write) != 0) {
        kill_listener(listener);
    }
    listener->greeted = true;
    listener->pulse_due = false; /* whatever was written was a sign of life */
    if (listener->writing == WRITING_EVENT) {
        drop_text(listener->queue[listener->queue_first]);
        listener->queue_first = (listener->queue_first + 1) % QUEUE_MAX;
        listener->queue_count--;
    }
    listener->writing = WRITING_NOTHING;
    if (!listener->dead) {
        start_write(listener);
    }
    end_operation(listener);
    pthread_mutex_unlock(mutex);
}

static void on_timer(void *arg)
{
    struct listener *listener = BASE_CAST(listener, arg, LISTENER_MAGIC);
    pthread_mutex_t *mutex = &listener->events->mutex;
    pthread_mutex_lock(mutex);
    if (nng_aio_result(listener->timer) != 0) {
        kill_listener(listener);
    } else if (!listener->dead) {
        listener->pulse_due = true;
        if (listener->writing == WRITING_NOTHING) {
            start_write(listener);
        }
        start_timer(listener);
    }
    end_operation(listener);
    pthread_mutex_unlock(mutex);
}
