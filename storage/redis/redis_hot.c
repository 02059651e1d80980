/*
 * redis_hot.c: the hot tier on Redis, by hiredis' asynchronous client.
 *
 * Requests stand in one queue in the order in which they were made. Those that were sent are its
 * head, and the server answers in that order; those behind wait for the connection to be logged in,
 * as on one that is not, SELECT may yet fail and they would land in the wrong database. When the
 * oldest is overdue the connection is given up: its answer could not be told from the next one's.
 * hiredis 0.14 has no time-outs of its own.
 */
#include <errno.h>
#include <ev.h>
#include <hiredis/adapters/libev.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/assert.h"
#include "proto/log.h"
#include "storage/answer.h"
#include "storage/redis/command.h"
#include "storage/redis/redis.h"

#define REDIS_MAGIC     0x53494452u
#define KEY_BYTES_MAX   1024u
#define VALUE_BYTES_MAX (512u << 20) /* Redis' own limit of a string */

#define KEY_SESSION "session:"
#define KEY_CHANNEL "channel_session:"

enum link_state {
    LINK_DOWN, /* link_timer waits for the next try */
    LINK_CONNECTING,
    LINK_UP,
};

/* What a request's answer means. */
enum request_kind {
    REQUEST_WRITE, /* done, whatever the server says but an error */
    REQUEST_READ,  /* bytes or a miss; its ttl is renewed */
};

struct request {
    struct request *next;
    struct redis_hot *owner;
    struct proto_address reply_to;
    ev_tstamp deadline;
    enum request_kind kind;
    bool sent;
    char *command;        /* a write that waits to be sent */
    size_t command_count; /* a write's bytes, sent or not */
    size_t key_count;     /* a read: its key, as the command depends on the server's version */
    char key[];
};

struct redis_hot {
    struct storage_hot hot; /* first: the port points here */
    uint32_t magic;
    struct ev_loop *loop;
    struct storage_redis_place place;
    char *key_prefix;
    char ttl_text[24]; /* milliseconds; "": for ever */
    ev_tstamp timeout;
    uint32_t in_flight_max;
    size_t in_flight_bytes_max;
    uint32_t retry_ms_first;
    uint32_t retry_ms_max;
    enum link_state state;
    redisAsyncContext *context; /* NULL when DOWN */
    ev_timer link_timer;        /* DOWN: next try; CONNECTING: time-out */
    ev_timer request_timer;     /* not later than the oldest request's deadline */
    struct request *oldest;
    struct request *newest;
    uint32_t in_flight;
    size_t in_flight_bytes;
    uint32_t tries;      /* since the connection was last up */
    bool has_getex;      /* Redis 6.2; found out by asking */
    enum result failure; /* what requests are answered that the connection takes along */
    struct storage_redis_command command; /* the one that is being made */
    enum result logged; /* state last told: OK up, else why it is down; AGAIN: nothing yet */
};

static const struct storage_hot_ops hot_ops;

static void connect_now(struct redis_hot *self);
static void on_connect(const redisAsyncContext *context, int status);
static void on_disconnect(const redisAsyncContext *context, int status);
static void on_login(redisAsyncContext *context, void *reply, void *owner);
static void on_ready(redisAsyncContext *context, void *reply, void *owner);
static void on_memory(redisAsyncContext *context, void *reply, void *owner);
static void on_reply(redisAsyncContext *context, void *reply, void *owner);
static void on_link_timer(struct ev_loop *loop, ev_timer *timer, int events);
static void on_request_timer(struct ev_loop *loop, ev_timer *timer, int events);
static void give_up(struct redis_hot *self, enum result failure, const char *why);
static void went_down(struct redis_hot *self, enum result failure, const char *why);
static void answer_all_unsent(struct redis_hot *self);
static void send_read(struct redis_hot *self, struct request *request);
static void send_write(struct redis_hot *self, struct request *request, struct span command);
static void finish_oldest(struct redis_hot *self, struct request *request,
                          struct storage_answer answer);
static enum result error_of(const redisReply *reply);

enum result storage_redis_hot_open(struct ev_loop *loop,
                                   const struct storage_redis_options *options,
                                   struct storage_hot **out,
                                   char reason[STORAGE_REDIS_REASON_BYTES])
{
    ASSERT(loop != NULL && options->timeout_ms > 0 && options->in_flight_max > 0);
    ASSERT(options->retry_ms_first > 0 && options->retry_ms_first <= options->retry_ms_max);
    struct storage_redis_place place;
    enum result result = storage_redis_url_read(options->url, &place, reason);
    if (result != RESULT_OK) {
        return result;
    }
    struct redis_hot *self = calloc(1, sizeof *self);
    char *prefix = strdup(options->key_prefix == NULL ? "" : options->key_prefix);
    if (self == NULL || prefix == NULL) {
        free(prefix);
        free(self);
        return RESULT_LIMIT;
    }
    *self = (struct redis_hot){
        .hot = {.ops = &hot_ops},
        .magic = REDIS_MAGIC,
        .loop = loop,
        .place = place,
        .key_prefix = prefix,
        .timeout = options->timeout_ms * 1e-3,
        .in_flight_max = options->in_flight_max,
        .in_flight_bytes_max = options->in_flight_bytes_max,
        .retry_ms_first = options->retry_ms_first,
        .retry_ms_max = options->retry_ms_max,
        .failure = RESULT_IO,
        .logged = RESULT_AGAIN,
    };
    if (options->ttl_ms > 0) {
        snprintf(self->ttl_text, sizeof self->ttl_text, "%llu",
                 (unsigned long long)options->ttl_ms);
    }
    ev_init(&self->link_timer, on_link_timer);
    ev_init(&self->request_timer, on_request_timer);
    self->link_timer.data = &self->hot;
    self->request_timer.data = &self->hot;
    connect_now(self);
    *out = &self->hot;
    return RESULT_OK;
}

static struct redis_hot *hot_cast(struct storage_hot *hot)
{
    struct redis_hot *self = (struct redis_hot *)hot;
    ASSERT(self->magic == REDIS_MAGIC);
    return self;
}

static void hot_close(struct storage_hot *hot)
{
    struct redis_hot *self = hot_cast(hot);
    redisAsyncContext *context = self->context;
    self->context = NULL;
    self->state = LINK_DOWN;
    self->failure = RESULT_CLOSED;
    if (context != NULL) {
        redisAsyncFree(context);
    }
    answer_all_unsent(self);
    ASSERT(self->oldest == NULL && self->in_flight == 0 && self->in_flight_bytes == 0);
    ev_timer_stop(self->loop, &self->link_timer);
    ev_timer_stop(self->loop, &self->request_timer);
    storage_redis_command_release(&self->command);
    explicit_bzero(&self->place, sizeof self->place);
    free(self->key_prefix);
    self->magic = 0;
    free(self);
}

/* ---- requests ---- */

static struct request *request_new(struct redis_hot *self, enum request_kind kind, struct span key,
                                   struct proto_address reply_to)
{
    struct request *request = malloc(sizeof *request + key.count);
    if (request != NULL) {
        *request = (struct request){
            .owner = self, .reply_to = reply_to, .kind = kind, .key_count = key.count};
        if (key.count > 0) {
            memcpy(request->key, key.bytes, key.count);
        }
    }
    return request;
}

static void queue_append(struct redis_hot *self, struct request *request)
{
    if (self->oldest == NULL) {
        ev_now_update(self->loop); /* it may be long ago that the loop looked at the clock */
        self->oldest = request;
    } else {
        self->newest->next = request;
    }
    request->next = NULL;
    request->deadline = ev_now(self->loop) + self->timeout;
    self->newest = request;
    if (!ev_is_active(&self->request_timer)) {
        ev_timer_set(&self->request_timer, self->timeout, 0.);
        ev_timer_start(self->loop, &self->request_timer);
    }
}

static void queue_remove_oldest(struct redis_hot *self, struct request *request)
{
    ASSERT(self->oldest == request);
    self->oldest = request->next;
    if (self->oldest == NULL) {
        self->newest = NULL;
        ev_timer_stop(self->loop, &self->request_timer);
    }
}

/* Takes the request in any case; the command of a write is copied if it cannot be sent yet. */
static enum result submit(struct redis_hot *self, struct request *request, struct span command)
{
    if (request == NULL) {
        return RESULT_LIMIT;
    }
    if (self->state == LINK_DOWN) {
        enum result result =
            storage_answer(request->reply_to, (struct storage_answer){.result = self->failure});
        free(request);
        return result;
    }
    if (self->state == LINK_CONNECTING && request->kind == REQUEST_WRITE) {
        request->command =
            malloc(command.count + 1); /* a NUL behind, as in what it is copied from */
        if (request->command == NULL) {
            free(request);
            return RESULT_LIMIT;
        }
        memcpy(request->command, command.bytes, command.count + 1);
    }
    request->command_count = command.count;
    self->in_flight++;
    self->in_flight_bytes += command.count;
    queue_append(self, request);
    if (self->state == LINK_UP && request->kind == REQUEST_WRITE) {
        send_write(self, request, command);
    } else if (self->state == LINK_UP) {
        send_read(self, request);
    }
    return RESULT_OK;
}

static enum result admit(const struct redis_hot *self, struct span key, struct span value)
{
    if (key.count == 0 || key.count > KEY_BYTES_MAX) {
        return RESULT_INVALID;
    }
    if (value.count > VALUE_BYTES_MAX) {
        return RESULT_LIMIT;
    }
    /* (One that is larger than the bound goes alone.) */
    bool full =
        self->in_flight >= self->in_flight_max ||
        (self->in_flight > 0 && self->in_flight_bytes + value.count > self->in_flight_bytes_max);
    return full ? RESULT_AGAIN : RESULT_OK;
}

/* "{prefix}{kind}{id}" in `out`, of KEY_BYTES_MAX; empty when it is longer. */
static struct span key_text(const struct redis_hot *self, const char *kind, struct span id,
                            char *out)
{
    size_t prefix_count = strlen(self->key_prefix);
    size_t kind_count = strlen(kind);
    if (prefix_count + kind_count > KEY_BYTES_MAX ||
        id.count > KEY_BYTES_MAX - prefix_count - kind_count) {
        return SPAN_EMPTY;
    }
    memcpy(out, self->key_prefix, prefix_count);
    memcpy(out + prefix_count, kind, kind_count);
    if (id.count > 0) {
        memcpy(out + prefix_count + kind_count, id.bytes, id.count);
    }
    return span_of(out, prefix_count + kind_count + id.count);
}

static enum result write_by(struct redis_hot *self, const struct span *arguments, size_t count,
                            struct proto_address reply_to)
{
    struct storage_redis_command *command = &self->command;
    enum result result = storage_redis_command_write(command, arguments, count);
    if (result == RESULT_OK) {
        result = submit(self, request_new(self, REQUEST_WRITE, SPAN_EMPTY, reply_to),
                        span_of(command->bytes, command->count));
    }
    storage_redis_command_trim(command);
    return result;
}

static enum result set(struct redis_hot *self, const char *kind, struct span id, struct span value,
                       struct proto_address reply_to)
{
    char text[KEY_BYTES_MAX];
    struct span key = key_text(self, kind, id, text);
    enum result result = admit(self, id.count == 0 ? id : key, value);
    if (result != RESULT_OK) {
        return result;
    }
    const struct span arguments[] = {span_text("SET"), key, value, span_text("PX"),
                                     span_text(self->ttl_text)};
    return write_by(self, arguments, self->ttl_text[0] == '\0' ? 3 : 5, reply_to);
}

static enum result get(struct redis_hot *self, const char *kind, struct span id,
                       struct proto_address reply_to)
{
    char text[KEY_BYTES_MAX];
    struct span key = key_text(self, kind, id, text);
    enum result result = admit(self, id.count == 0 ? id : key, SPAN_EMPTY);
    return result != RESULT_OK
               ? result
               : submit(self, request_new(self, REQUEST_READ, key, reply_to), SPAN_EMPTY);
}

static enum result hot_put(struct storage_hot *hot, struct span execution_id, struct span bytes,
                           uint64_t now_ms, struct proto_address reply_to)
{
    (void)now_ms;
    return set(hot_cast(hot), KEY_SESSION, execution_id, bytes, reply_to);
}

static enum result hot_get(struct storage_hot *hot, struct span execution_id, uint64_t now_ms,
                           struct proto_address reply_to)
{
    (void)now_ms;
    return get(hot_cast(hot), KEY_SESSION, execution_id, reply_to);
}

static enum result hot_remove(struct storage_hot *hot, struct span execution_id,
                              struct proto_address reply_to)
{
    struct redis_hot *self = hot_cast(hot);
    char text[KEY_BYTES_MAX];
    struct span key = key_text(self, KEY_SESSION, execution_id, text);
    enum result result = admit(self, execution_id.count == 0 ? execution_id : key, SPAN_EMPTY);
    const struct span arguments[] = {span_text("DEL"), key};
    return result != RESULT_OK ? result : write_by(self, arguments, 2, reply_to);
}

static enum result hot_bind(struct storage_hot *hot, struct span channel_session_id,
                            struct span execution_id, uint64_t now_ms,
                            struct proto_address reply_to)
{
    (void)now_ms;
    return set(hot_cast(hot), KEY_CHANNEL, channel_session_id, execution_id, reply_to);
}

static enum result hot_resolve(struct storage_hot *hot, struct span channel_session_id,
                               uint64_t now_ms, struct proto_address reply_to)
{
    (void)now_ms;
    return get(hot_cast(hot), KEY_CHANNEL, channel_session_id, reply_to);
}

/* One step on the server: between a GET and a DEL of ours another engine could bind anew. */
static enum result hot_unbind(struct storage_hot *hot, struct span channel_session_id,
                              struct span execution_id, struct proto_address reply_to)
{
    static const char script[] = "if redis.call('GET',KEYS[1])==ARGV[1] then "
                                 "return redis.call('DEL',KEYS[1]) end return 0";
    struct redis_hot *self = hot_cast(hot);
    char text[KEY_BYTES_MAX];
    struct span key = key_text(self, KEY_CHANNEL, channel_session_id, text);
    enum result result =
        admit(self, channel_session_id.count == 0 ? channel_session_id : key, SPAN_EMPTY);
    const struct span arguments[] = {span_text("EVAL"), span_text(script), span_text("1"), key,
                                     execution_id};
    return result != RESULT_OK ? result : write_by(self, arguments, 5, reply_to);
}

/* ---- the connection ---- */

static void connect_now(struct redis_hot *self)
{
    ASSERT(self->context == NULL);
    self->tries++;
    self->has_getex = true;
    /* (Blocks for the name's resolution; addresses and /etc/hosts do not.) */
    redisAsyncContext *context = redisAsyncConnect(self->place.host, self->place.port);
    self->context = context;
    self->state = LINK_CONNECTING;
    if (context == NULL || context->err != 0 || redisLibevAttach(self->loop, context) != REDIS_OK) {
        give_up(self, RESULT_IO, context == NULL ? "no memory" : context->errstr);
        return;
    }
    context->data = &self->hot;
    redisAsyncSetConnectCallback(context, on_connect);
    redisAsyncSetDisconnectCallback(context, on_disconnect);
    ev_timer_stop(self->loop, &self->link_timer);
    ev_timer_set(&self->link_timer, self->timeout, 0.);
    ev_timer_start(self->loop, &self->link_timer);
}

/* The tier that a connection belongs to; NULL when it has been given up. */
static struct redis_hot *owner_of(const redisAsyncContext *context)
{
    struct redis_hot *self = hot_cast(context->data);
    return self->context == context ? self : NULL;
}

static void on_connect(const redisAsyncContext *context, int status)
{
    struct redis_hot *self = owner_of(context);
    if (self == NULL) {
        return;
    }
    if (status != REDIS_OK) {
        went_down(self, RESULT_IO, context->errstr); /* hiredis frees the context itself */
        answer_all_unsent(self);
        return;
    }
    redisAsyncContext *mine = self->context;
    const struct storage_redis_place *place = &self->place;
    redisEnableKeepAlive(&mine->c);
    if (place->user[0] != '\0') {
        redisAsyncCommand(mine, on_login, NULL, "AUTH %s %s", place->user, place->password);
    } else if (place->password[0] != '\0') {
        redisAsyncCommand(mine, on_login, NULL, "AUTH %s", place->password);
    }
    if (place->database > 0) {
        redisAsyncCommand(mine, on_login, NULL, "SELECT %u", (unsigned)place->database);
    }
    redisAsyncCommand(mine, on_ready, NULL, "PING");
}

static void on_login(redisAsyncContext *context, void *answer, void *nothing)
{
    (void)nothing;
    struct redis_hot *self = answer == NULL ? NULL : owner_of(context);
    const redisReply *reply = answer;
    if (self != NULL && reply->type == REDIS_REPLY_ERROR) {
        enum result failure = error_of(reply);
        give_up(self, failure == RESULT_IO ? RESULT_DENIED : failure, reply->str);
    }
}

static void on_ready(redisAsyncContext *context, void *answer, void *nothing)
{
    (void)nothing;
    struct redis_hot *self = owner_of(context);
    const redisReply *reply = answer;
    if (self == NULL) {
        return;
    }
    if (reply == NULL) {
        went_down(self, RESULT_IO, context->errstr);
        answer_all_unsent(self);
        return;
    }
    /* A user who may not PING may be allowed all that we need. */
    if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) != 0) {
        give_up(self, error_of(reply), reply->str);
        return;
    }
    self->state = LINK_UP;
    self->tries = 0;
    ev_timer_stop(self->loop, &self->link_timer);
    if (self->logged != RESULT_OK) {
        log_line(LOG_INFO, "STORAGE-REDIS-UP", "host=%s port=%u database=%u", self->place.host,
                 (unsigned)self->place.port, (unsigned)self->place.database);
        self->logged = RESULT_OK;
    }
    redisAsyncCommand(context, on_memory, NULL, "INFO memory");
    for (struct request *request = self->oldest; request != NULL; request = request->next) {
        if (request->kind == REQUEST_READ) {
            send_read(self, request);
        } else {
            send_write(self, request, span_of(request->command, request->command_count));
            free(request->command);
            request->command = NULL;
        }
    }
}

/* A server that drops keys of its own accord makes resumes slower, which is worth a word. */
static void on_memory(redisAsyncContext *context, void *answer, void *nothing)
{
    (void)nothing;
    static const char bound[] = "\nmaxmemory:";
    static const char policy[] = "\nmaxmemory_policy:";
    struct redis_hot *self = answer == NULL ? NULL : owner_of(context);
    const redisReply *reply = answer;
    if (self == NULL || reply->type != REDIS_REPLY_STRING) {
        return; /* not allowed to ask */
    }
    const char *bytes = strstr(reply->str, bound);
    const char *name = strstr(reply->str, policy);
    name = name == NULL ? "noeviction" : name + strlen(policy);
    if (bytes != NULL && bytes[strlen(bound)] != '0' && strncmp(name, "noeviction", 10) != 0) {
        log_line(LOG_WARN, "STORAGE-REDIS-EVICTS", "host=%s port=%u policy=%.*s", self->place.host,
                 (unsigned)self->place.port, (int)strcspn(name, "\r\n"), name);
    }
}

/* hiredis frees the context after this. */
static void on_disconnect(const redisAsyncContext *context, int status)
{
    struct redis_hot *self = owner_of(context);
    if (self != NULL) {
        went_down(self, RESULT_IO, status == REDIS_OK ? "closed" : context->errstr);
        answer_all_unsent(self);
    }
}

/* Ends the connection ourselves; its requests are answered with `failure`. */
static void give_up(struct redis_hot *self, enum result failure, const char *why)
{
    redisAsyncContext *context = self->context;
    went_down(self, failure, why);
    if (context != NULL) {
        redisAsyncFree(context); /* answers what was sent: at once, or when its callback returns */
    }
    answer_all_unsent(self);
}

/* There is no connection any more: says so once, and waits before the next try. */
static void went_down(struct redis_hot *self, enum result failure, const char *why)
{
    static const char blank[] = "\"\r\n";
    char text[128];
    self->context = NULL;
    self->state = LINK_DOWN;
    self->failure = failure;
    enum result told = failure == RESULT_DENIED ? RESULT_DENIED : RESULT_IO;
    if (self->logged != told) {
        snprintf(text, sizeof text, "%s", why);
        for (char *at = strpbrk(text, blank); at != NULL; at = strpbrk(at, blank)) {
            *at = '\'';
        }
        log_line(told == RESULT_DENIED ? LOG_ERROR : LOG_WARN,
                 told == RESULT_DENIED ? "STORAGE-REDIS-DENIED" : "STORAGE-REDIS-DOWN",
                 "host=%s port=%u reason=\"%s\"", self->place.host, (unsigned)self->place.port,
                 text);
        self->logged = told;
    }
    uint32_t doublings = self->tries > 1 ? self->tries - 1 : 0;
    uint64_t pause = (uint64_t)self->retry_ms_first << (doublings < 20 ? doublings : 20);
    uint32_t random = 0;
    pause = pause < self->retry_ms_max ? pause : self->retry_ms_max;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        random = 0; /* (early at boot: then all come at once, once) */
    }
    pause = pause / 2 + random % (pause / 2 + 1);
    ev_timer_stop(self->loop, &self->link_timer);
    ev_timer_set(&self->link_timer, (double)pause * 1e-3, 0.);
    ev_timer_start(self->loop, &self->link_timer);
}

static void on_link_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    struct redis_hot *self = hot_cast(timer->data);
    if (self->state == LINK_CONNECTING) {
        give_up(self, RESULT_TIMEOUT, "no connection within the time-out");
        self->failure = RESULT_IO;
        return;
    }
    ASSERT(self->state == LINK_DOWN);
    connect_now(self);
}

static void on_request_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct redis_hot *self = hot_cast(timer->data);
    ASSERT(self->oldest != NULL);
    ev_tstamp left = self->oldest->deadline - ev_now(loop);
    if (left > 0.) {
        ev_timer_set(timer, left, 0.);
        ev_timer_start(loop, timer);
        return;
    }
    give_up(self, RESULT_TIMEOUT, "no answer within the time-out");
    self->failure = RESULT_IO;
}

/* ---- commands and answers ---- */

/* A command that is ready, into hiredis' buffer: the loop writes what a turn has gathered at once.
 * It fails on a context that is being freed (that one is not ours), and without memory. */
static bool send_command(struct redis_hot *self, struct request *request, struct span command)
{
    return redisAsyncFormattedCommand(self->context, request == NULL ? NULL : on_reply, request,
                                      (const char *)command.bytes, command.count) == REDIS_OK;
}

static void send_write(struct redis_hot *self, struct request *request, struct span command)
{
    request->sent = send_command(self, request, command);
    ASSERT(request->sent);
}

static bool send_arguments(struct redis_hot *self, struct request *request,
                           const struct span *arguments, size_t count)
{
    struct storage_redis_command *command = &self->command;
    return storage_redis_command_write(command, arguments, count) == RESULT_OK &&
           send_command(self, request, span_of(command->bytes, command->count));
}

static void send_read(struct redis_hot *self, struct request *request)
{
    struct span key = span_of(request->key, request->key_count);
    struct span ttl = span_text(self->ttl_text);
    const struct span get_and_renew[] = {span_text("GETEX"), key, span_text("PX"), ttl};
    const struct span get_alone[] = {span_text("GET"), key};
    const struct span renew[] = {span_text("PEXPIRE"), key, ttl};
    if (ttl.count > 0 && self->has_getex) {
        request->sent = send_arguments(self, request, get_and_renew, 4);
    } else {
        request->sent = send_arguments(self, request, get_alone, 2);
        (void)(request->sent && ttl.count > 0 && send_arguments(self, NULL, renew, 3));
    }
    ASSERT(request->sent);
}

static void finish_oldest(struct redis_hot *self, struct request *request,
                          struct storage_answer answer)
{
    queue_remove_oldest(self, request);
    ASSERT(self->in_flight > 0);
    self->in_flight--;
    self->in_flight_bytes -= request->command_count;
    struct proto_address reply_to = request->reply_to;
    free(request->command);
    free(request);
    (void)storage_answer(reply_to, answer);
}

static void answer_all_unsent(struct redis_hot *self)
{
    while (self->oldest != NULL && !self->oldest->sent) {
        finish_oldest(self, self->oldest, (struct storage_answer){.result = self->failure});
    }
}

/* A NULL reply: the connection has gone. */
static void on_reply(redisAsyncContext *context, void *answer, void *owner)
{
    struct request *request = owner;
    struct redis_hot *self = request->owner;
    const redisReply *reply = answer;
    if (reply == NULL) {
        if (self->context == context) {
            went_down(self, RESULT_IO, context->errstr);
        }
        finish_oldest(self, request, (struct storage_answer){.result = self->failure});
        return;
    }
    bool failed = reply->type == REDIS_REPLY_ERROR;
    if (failed && request->kind == REQUEST_READ &&
        strncmp(reply->str, "ERR unknown command", 19) == 0 && self->context == context) {
        self->has_getex = false; /* older than 6.2, or renamed away */
        queue_remove_oldest(self, request);
        queue_append(self, request);
        send_read(self, request);
        return;
    }
    struct storage_answer outcome = {.result = failed ? error_of(reply) : RESULT_OK};
    if (request->kind == REQUEST_READ && reply->type == REDIS_REPLY_STRING) {
        outcome.bytes = span_of(reply->str, reply->len);
    } else if (request->kind == REQUEST_READ && outcome.result == RESULT_OK) {
        outcome.result = RESULT_NOT_FOUND;
    }
    finish_oldest(self, request, outcome);
}

/* The one table from Redis' error codes to ours. */
static enum result error_of(const redisReply *reply)
{
    static const struct {
        const char *code;
        enum result result;
    } rows[] = {
        {"NOAUTH ", RESULT_DENIED},
        {"WRONGPASS ", RESULT_DENIED},
        {"NOPERM ", RESULT_DENIED},
        {"DENIED ", RESULT_DENIED},              /* protected mode */
        {"ERR invalid password", RESULT_DENIED}, /* before Redis 6 */
        {"OOM ", RESULT_FULL},
        {"WRONGTYPE ", RESULT_NOT_FOUND}, /* somebody else's: a miss, as all unknown bytes are */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strncmp(reply->str, rows[i].code, strlen(rows[i].code)) == 0) {
            return rows[i].result;
        }
    }
    return RESULT_IO;
}

static const struct storage_hot_ops hot_ops = {
    .put = hot_put,
    .get = hot_get,
    .remove = hot_remove,
    .bind = hot_bind,
    .resolve = hot_resolve,
    .unbind = hot_unbind,
    .close = hot_close,
};
