/*
 * modules.c: the module adapter: calls in, exactly one PROTO_CALL_DONE each out.
 *
 * A call waits in the bucket of its module (project + name) until the bucket has a free place, then
 * gets a pooled exchange (an easy handle with its buffers) and its own deadline timer; it ends when
 * curl is done, the deadline passes, it is cancelled, or the adapter closes. All on the loop's
 * thread; nothing here is called from inside libcurl.
 */
#include "transport/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "http/loop.h"
#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/wire/json.h"
#include "transport/modules/exchange.h"
#include "transport/modules/headers.h"

#define MODULES_MAGIC 0x4d4f4455u
#define CALL_MAGIC    0x43414c4cu

#define CONNECTIONS_DEFAULT        256u
#define CONNECT_TIMEOUT_MS_DEFAULT 5000u
#define CONCURRENT_DEFAULT         64u
#define TIMEOUT_MS_DEFAULT         30000u
#define BUCKET_CHAINS              256u
#define SCRATCH_BLOCK_BYTES        (64u << 10)
#define REASON_BYTES               EXCHANGE_REASON_BYTES

_Static_assert(REASON_BYTES >= HEADERS_REASON_BYTES, "one buffer holds any reason");

struct call {
    uint32_t magic;
    struct transport_modules *modules;
    struct proto_message *message; /* the PROTO_CALL, ours */
    struct bucket *bucket;
    struct exchange *exchange; /* NULL while it waits */
    struct call *previous;     /* in the bucket's waiting or active list */
    struct call *next;
    struct call *next_in_chain;
    ev_timer deadline;
    uint64_t started_ms;
};

struct call_list {
    struct call *first;
    struct call *last;
};

/* The concurrency limit of one module; lives as long as it has calls. */
struct bucket {
    struct bucket *next_in_chain;
    struct call_list waiting;
    struct call_list active;
    uint32_t active_count;
    uint32_t active_max;
    bool pumping;
    size_t project_bytes;
    size_t module_bytes;
    uint8_t key[]; /* project, module */
};

struct transport_modules {
    uint32_t magic;
    struct proto_sink sink;
    struct http_loop curl;
    struct ev_loop *loop;
    uint32_t queue_max;
    struct exchange_pool exchanges;
    struct arena scratch; /* one reply's value, until it is in its message */
    struct bucket *buckets[BUCKET_CHAINS];
    struct call **calls; /* chains by execution, token and attempt */
    size_t chain_count;  /* power of two */
    struct transport_modules_stats stats;
};

static enum result on_message(struct proto_sink *self, struct proto_message **message);
static enum result accept_call(struct transport_modules *modules, struct proto_message **message);
static void cancel_call(struct transport_modules *modules, const struct proto_call_cancel *cancel);
static void cancel_all(struct transport_modules *modules);

static struct bucket *bucket_of(struct transport_modules *modules, const struct proto_call *call);
static struct bucket **bucket_slot(struct transport_modules *modules, struct span project,
                                   struct span module);
static void bucket_pump(struct transport_modules *modules, struct bucket *bucket);

static void call_start(struct call *call);
static bool call_prepare(struct call *call, char reason[REASON_BYTES]);
static void call_end(struct call *call, struct exchange_ending ending);
static void send_done(const struct call *call, struct exchange_ending ending);
static struct call **call_chain(struct transport_modules *modules, const struct execution_id *id,
                                uint32_t token, uint32_t attempt);
static void list_append(struct call_list *list, struct call *call);
static void list_remove(struct call_list *list, struct call *call);

static void on_transfer_done(void *owner, CURL *easy, CURLcode code);
static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events);

static bool url_is_http(struct span url);
static uint64_t monotonic_ms(void);

enum result transport_modules_open(const struct transport_modules_options *options,
                                   struct transport_modules **out)
{
    ASSERT(options->loop != NULL && options->queue_max > 0);
    *out = NULL;
    struct transport_modules *modules = calloc(1, sizeof *modules);
    if (modules == NULL) {
        return RESULT_LIMIT;
    }
    uint32_t connections_max =
        options->connections_max == 0 ? CONNECTIONS_DEFAULT : options->connections_max;
    modules->magic = MODULES_MAGIC;
    modules->sink.send = on_message;
    modules->loop = options->loop;
    modules->queue_max = options->queue_max;
    modules->exchanges = (struct exchange_pool){
        .curl = &modules->curl,
        .connect_timeout_ms = options->connect_timeout_ms == 0 ? CONNECT_TIMEOUT_MS_DEFAULT
                                                               : options->connect_timeout_ms,
        .kept_max = connections_max,
    };
    modules->chain_count = 64;
    while (modules->chain_count < options->queue_max && modules->chain_count < (1u << 16)) {
        modules->chain_count *= 2;
    }
    modules->calls = calloc(modules->chain_count, sizeof(struct call *));
    if (modules->calls == NULL || http_loop_init(&modules->curl, options->loop, connections_max,
                                                 on_transfer_done, modules) != RESULT_OK) {
        free(modules->calls);
        free(modules);
        return RESULT_LIMIT;
    }
    arena_init(&modules->scratch, SCRATCH_BLOCK_BYTES, EXCHANGE_ARENA_EXTRA_BYTES);
    *out = modules;
    return RESULT_OK;
}

struct proto_sink *transport_modules_sink(struct transport_modules *modules)
{
    ASSERT(modules->magic == MODULES_MAGIC);
    return &modules->sink;
}

void transport_modules_stats(const struct transport_modules *modules,
                             struct transport_modules_stats *out)
{
    ASSERT(modules->magic == MODULES_MAGIC);
    *out = modules->stats;
}

void transport_modules_close(struct transport_modules *modules)
{
    if (modules == NULL) {
        return;
    }
    ASSERT(modules->magic == MODULES_MAGIC);
    modules->queue_max = 0; /* an answer's receiver may call again at once: not any more */
    cancel_all(modules);
    ASSERT(modules->stats.active == 0 && modules->stats.queued == 0);
    exchange_pool_release(&modules->exchanges);
    http_loop_release(&modules->curl);
    arena_release(&modules->scratch);
    free(modules->calls);
    modules->magic = 0;
    free(modules);
}

static enum result on_message(struct proto_sink *self, struct proto_message **message)
{
    struct transport_modules *modules =
        (struct transport_modules *)(void *)((char *)self -
                                             offsetof(struct transport_modules, sink));
    ASSERT(modules->magic == MODULES_MAGIC);
    ASSERT((*message)->magic == PROTO_MESSAGE_MAGIC);
    ASSERT((*message)->type == PROTO_CALL || (*message)->type == PROTO_CALL_CANCEL);
    if ((*message)->type == PROTO_CALL) {
        return accept_call(modules, message);
    }
    cancel_call(modules, &(*message)->as.call_cancel);
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

static enum result accept_call(struct transport_modules *modules, struct proto_message **message)
{
    if (modules->queue_max == 0) {
        return RESULT_CLOSED;
    }
    if (modules->stats.active + modules->stats.queued >= modules->queue_max) {
        return RESULT_AGAIN;
    }
    struct call *call = calloc(1, sizeof *call);
    struct bucket *bucket = call == NULL ? NULL : bucket_of(modules, &(*message)->as.call);
    if (bucket == NULL) {
        free(call);
        return RESULT_AGAIN;
    }
    call->magic = CALL_MAGIC;
    call->modules = modules;
    call->bucket = bucket;
    call->message = *message;
    *message = NULL;

    const struct proto_call *asked = &call->message->as.call;
    struct call **chain = call_chain(modules, &asked->execution_id, asked->token, asked->attempt);
    call->next_in_chain = *chain;
    *chain = call;
    list_append(&bucket->waiting, call);
    modules->stats.calls++;
    modules->stats.queued++;
    bucket_pump(modules, bucket);
    return RESULT_OK;
}

static void cancel_call(struct transport_modules *modules, const struct proto_call_cancel *cancel)
{
    struct call *call = *call_chain(modules, &cancel->execution_id, cancel->token, cancel->attempt);
    for (; call != NULL; call = call->next_in_chain) {
        const struct proto_call *asked = &call->message->as.call;
        if (asked->token == cancel->token && asked->attempt == cancel->attempt &&
            span_equal(execution_id_span(&asked->execution_id),
                       execution_id_span(&cancel->execution_id))) {
            call_end(call, (struct exchange_ending){.outcome = PROTO_CALL_CANCELLED,
                                                    .retry_after_ms = -1,
                                                    .reason = "cancelled"});
            return;
        }
    }
    /* Its answer was already under way: the canceller sees that one. */
}

static void cancel_all(struct transport_modules *modules)
{
    for (size_t index = 0; index < modules->chain_count; index++) {
        while (modules->calls[index] != NULL) {
            call_end(modules->calls[index],
                     (struct exchange_ending){.outcome = PROTO_CALL_CANCELLED,
                                              .retry_after_ms = -1,
                                              .reason = "the dispatcher is closing"});
        }
    }
}

/* The bucket of a call's module, made when it has none; its limit is what the newest call says.
 * NULL without memory. */
static struct bucket *bucket_of(struct transport_modules *modules, const struct proto_call *call)
{
    struct bucket **slot = bucket_slot(modules, call->project, call->module);
    if (*slot == NULL) {
        struct bucket *bucket =
            calloc(1, sizeof *bucket + call->project.count + call->module.count);
        if (bucket == NULL) {
            return NULL;
        }
        bucket->project_bytes = call->project.count;
        bucket->module_bytes = call->module.count;
        if (call->project.count > 0) {
            memcpy(bucket->key, call->project.bytes, call->project.count);
        }
        if (call->module.count > 0) {
            memcpy(bucket->key + call->project.count, call->module.bytes, call->module.count);
        }
        *slot = bucket;
    }
    (*slot)->active_max = call->concurrent_max == 0 ? CONCURRENT_DEFAULT : call->concurrent_max;
    return *slot;
}

/* Where the bucket hangs, or the end of its chain. */
static struct bucket **bucket_slot(struct transport_modules *modules, struct span project,
                                   struct span module)
{
    uint64_t hash = base_hash(module, base_hash(project, 0));
    struct bucket **slot = &modules->buckets[hash % BUCKET_CHAINS];
    while (*slot != NULL &&
           !(span_equal(span_of((*slot)->key, (*slot)->project_bytes), project) &&
             span_equal(span_of((*slot)->key + (*slot)->project_bytes, (*slot)->module_bytes),
                        module))) {
        slot = &(*slot)->next_in_chain;
    }
    return slot;
}

/*
 * Starts what the limit allows and drops the bucket when nothing is left. A call that ends at once
 * (bad URL) comes back in here through call_end, and so may a receiver that calls again: only the
 * outermost one works, so the stack stays flat.
 */
static void bucket_pump(struct transport_modules *modules, struct bucket *bucket)
{
    if (bucket->pumping) {
        return;
    }
    bucket->pumping = true;
    while (modules->queue_max > 0 && bucket->waiting.first != NULL &&
           bucket->active_count < bucket->active_max) {
        call_start(bucket->waiting.first);
    }
    bucket->pumping = false;
    if (bucket->waiting.first == NULL && bucket->active_count == 0) {
        struct bucket **slot =
            bucket_slot(modules, span_of(bucket->key, bucket->project_bytes),
                        span_of(bucket->key + bucket->project_bytes, bucket->module_bytes));
        ASSERT(*slot == bucket);
        *slot = bucket->next_in_chain;
        free(bucket);
    }
}

static void call_start(struct call *call)
{
    struct transport_modules *modules = call->modules;
    call->started_ms = monotonic_ms();
    call->exchange = exchange_take(&modules->exchanges);
    char reason[REASON_BYTES];
    if (call->exchange == NULL) {
        call_end(call, (struct exchange_ending){PROTO_CALL_UNREACHABLE, .retry_after_ms = -1,
                                                .reason = "no memory for the call"});
        return;
    }
    list_remove(&call->bucket->waiting, call);
    list_append(&call->bucket->active, call);
    call->bucket->active_count++;
    modules->stats.queued--;
    modules->stats.active++;
    call->exchange->owner = call;
    if (!call_prepare(call, reason)) {
        call_end(call, (struct exchange_ending){PROTO_CALL_REFUSED, .retry_after_ms = -1,
                                                .reason = reason});
        return;
    }
    if (http_loop_add(&modules->curl, call->exchange->easy) != RESULT_OK) {
        call_end(call, (struct exchange_ending){PROTO_CALL_UNREACHABLE, .retry_after_ms = -1,
                                                .reason = "no memory for the call"});
        return;
    }
    uint32_t timeout_ms = call->message->as.call.timeout_ms;
    ev_timer_init(&call->deadline, on_deadline,
                  (timeout_ms == 0 ? TIMEOUT_MS_DEFAULT : timeout_ms) * 1e-3, 0.);
    ev_timer_start(modules->loop, &call->deadline);
}

/* Sets what differs from call to call. False, with the reason: this call can never be made. */
static bool call_prepare(struct call *call, char reason[REASON_BYTES])
{
    const struct proto_call *asked = &call->message->as.call;
    struct exchange *exchange = call->exchange;
    if (!url_is_http(asked->url)) {
        snprintf(reason, REASON_BYTES, "the module's URL is not an http:// or https:// URL");
        return false;
    }
    exchange->arena.limit_bytes = 16 * asked->body.count + EXCHANGE_ARENA_EXTRA_BYTES;
    struct curl_slist *headers = NULL;
    if (headers_build(asked, &exchange->arena, &headers, reason) != RESULT_OK) {
        return false;
    }
    struct span body = asked->body;
    struct span url = arena_copy(&exchange->arena, asked->url);
    if ((asked->spelling == PROTO_JSON &&
         json_from_wire(asked->body, JSON_COMPACT, &exchange->arena, &body) != RESULT_OK) ||
        exchange->arena.overflowed) {
        snprintf(reason, REASON_BYTES, "the call's body is too large to spell");
        return false;
    }
    exchange_begin(exchange,
                   asked->reply_bytes_max == 0 ? LIMIT_REPLY_BYTES : asked->reply_bytes_max);
    curl_easy_setopt(exchange->easy, CURLOPT_URL, (const char *)url.bytes);
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.count);
    curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDS, body.bytes);
    return true;
}

/* The one way out of every call, waiting or active; its transfer, if any, has left the multi handle
 * or leaves it here. */
static void call_end(struct call *call, struct exchange_ending ending)
{
    struct transport_modules *modules = call->modules;
    struct bucket *bucket = call->bucket;
    ASSERT(call->magic == CALL_MAGIC);

    const struct proto_call *asked = &call->message->as.call;
    struct call **slot = call_chain(modules, &asked->execution_id, asked->token, asked->attempt);
    while (*slot != call) {
        ASSERT(*slot != NULL);
        slot = &(*slot)->next_in_chain;
    }
    *slot = call->next_in_chain;

    if (call->exchange != NULL) {
        ev_timer_stop(modules->loop, &call->deadline);
        http_loop_remove(&modules->curl, call->exchange->easy);
        list_remove(&bucket->active, call);
        bucket->active_count--;
        modules->stats.active--;
    } else {
        list_remove(&bucket->waiting, call);
        modules->stats.queued--;
    }
    if (ending.outcome == PROTO_CALL_ANSWERED) {
        modules->stats.answered++;
    } else {
        modules->stats.failed++;
    }
    /* The receiver may call again at once, and that call may end at once: the bucket must not go
     * away under us. */
    bool pumping = bucket->pumping;
    bucket->pumping = true;
    send_done(call, ending);
    bucket->pumping = pumping;
    if (call->exchange != NULL) {
        exchange_give_back(&modules->exchanges, call->exchange);
    }
    arena_clear(&modules->scratch);
    message_free(call->message);
    call->magic = 0;
    free(call);
    bucket_pump(modules, bucket);
}

static void send_done(const struct call *call, struct exchange_ending ending)
{
    const struct proto_call *asked = &call->message->as.call;
    struct span reason = span_text(ending.reason);
    struct proto_message *done = message_new(PROTO_CALL_DONE, ending.body.count + reason.count);
    if (done == NULL && ending.body.count > 0) {
        ending = (struct exchange_ending){PROTO_CALL_UNREACHABLE, .retry_after_ms = -1};
        reason = span_text("no memory for the reply");
        done = message_new(PROTO_CALL_DONE, reason.count);
    }
    ASSERT(done != NULL); /* a few hundred bytes; without them nothing else goes on either */
    done->as.call_done = (struct proto_call_done){
        .execution_id = asked->execution_id,
        .token = asked->token,
        .attempt = asked->attempt,
        .outcome = ending.outcome,
        .status = ending.status,
        .retry_after_ms = ending.retry_after_ms,
        .body = message_keep(done, ending.body),
        .reason = message_keep(done, reason),
        .elapsed_ms = call->started_ms == 0 ? 0 : (uint32_t)(monotonic_ms() - call->started_ms),
    };
    message_answer(call->message->reply_to, done);
}

static struct call **call_chain(struct transport_modules *modules, const struct execution_id *id,
                                uint32_t token, uint32_t attempt)
{
    uint64_t hash = base_hash(execution_id_span(id), (uint64_t)token << 32 | attempt);
    return &modules->calls[hash & (modules->chain_count - 1)];
}

static void list_append(struct call_list *list, struct call *call)
{
    call->next = NULL;
    call->previous = list->last;
    if (list->last == NULL) {
        list->first = call;
    } else {
        list->last->next = call;
    }
    list->last = call;
}

static void list_remove(struct call_list *list, struct call *call)
{
    if (call->previous == NULL) {
        ASSERT(list->first == call);
        list->first = call->next;
    } else {
        call->previous->next = call->next;
    }
    if (call->next == NULL) {
        ASSERT(list->last == call);
        list->last = call->previous;
    } else {
        call->next->previous = call->previous;
    }
}

static void on_transfer_done(void *owner, CURL *easy, CURLcode code)
{
    (void)owner;
    struct exchange *exchange = exchange_of(easy);
    struct call *call = BASE_CAST(call, exchange->owner, CALL_MAGIC);
    if (exchange_goes_on(&call->modules->exchanges, exchange, code)) {
        return;
    }
    char reason[REASON_BYTES] = "";
    call_end(call, exchange_end(exchange, code, &call->modules->scratch, reason));
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    struct call *call = (struct call *)(void *)((char *)timer - offsetof(struct call, deadline));
    ASSERT(call->magic == CALL_MAGIC);
    uint32_t timeout_ms = call->message->as.call.timeout_ms;
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason, "no whole reply within %u ms",
             timeout_ms == 0 ? TIMEOUT_MS_DEFAULT : timeout_ms);
    call_end(call, (struct exchange_ending){PROTO_CALL_TIMED_OUT, .retry_after_ms = -1,
                                            .reason = reason});
}

static bool url_is_http(struct span url)
{
    bool http = (url.count > 7 && strncasecmp((const char *)url.bytes, "http://", 7) == 0) ||
                (url.count > 8 && strncasecmp((const char *)url.bytes, "https://", 8) == 0);
    return http && memchr(url.bytes, '\0', url.count) == NULL;
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}
