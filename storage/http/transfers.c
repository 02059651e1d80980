/* transfers.c: see transfers.h. */
#include "storage/http/transfers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"

#define ARENA_BLOCK       4096u
#define ARENA_BYTES_MAX   (64u << 10)
#define SERVICE_CODE_MAX  64u
#define RETRY_AFTER_S_MAX 30
#define SPEED_LEAST       1024L /* bytes a second: slower for the time-out is a failure */
#define WHOLE_TIMES       10L   /* a try may take so many times the time-out in all */
#define READS_MORE        4u    /* reads at once, where all other places are taken */
#define LOOKS_MAX         4u    /* that one put takes before it counts as tried in vain */

enum transfer_state {
    TRANSFER_QUEUED,
    TRANSFER_ACTIVE,
    TRANSFER_PAUSED,  /* its timer runs: tried in vain, to be tried again */
    TRANSFER_NO_HOME, /* waits for the container to be made */
};

struct storage_transfer {
    struct storage_transfer *next;
    struct storage_transfer *previous;
    struct storage_transfer *after;  /* an older put of the same name; NULL: none */
    struct storage_transfer *before; /* the one that waits for this one; NULL: none */
    struct storage_transfers *owner_list;
    struct storage_http_call call;
    storage_transfer_fn done;
    void *owner;
    size_t index;
    uint64_t hash; /* of the name */
    enum transfer_state state;
    uint32_t tries;
    uint32_t looks;
    bool looks_first; /* a put: before the next try it is asked which version is there */
    bool any_version; /* ... which the service does not tell */
    ev_timer timer;
    CURL *easy; /* while active */
    struct curl_slist *headers;
    struct arena arena; /* of one try */
    uint8_t *reply;
    size_t reply_count;
    size_t reply_capacity;
    bool reply_too_large;
    uint8_t texts[]; /* name, marker */
};

/* What to make of an answer. */
enum verdict { VERDICT_DONE, VERDICT_RETRY, VERDICT_MAKE, VERDICT_AT_ONCE };

struct reading {
    enum verdict verdict;
    enum result result; /* when it is done, or was the last try */
};

static void start_one(struct storage_transfers *transfers, struct storage_transfer *transfer);
static void on_done(void *owner, CURL *easy, CURLcode code);
static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events);
static void on_made(struct storage_transfer_end end);
static size_t on_bytes(char *bytes, size_t size, size_t count, void *owner);
static void settle(struct storage_transfer *transfer, struct reading reading, int64_t after_ms);
static void end(struct storage_transfer *transfer, enum result result);
static void unlink_transfer(struct storage_transfer *transfer);
static struct reading read_answer(const struct storage_transfer *transfer, CURLcode code,
                                  long status, const char *service_code);
static struct reading read_version(struct storage_transfer *transfer, struct reading reading,
                                   long status, const char *service_code);
static void service_code_of(const struct storage_transfer *transfer, char out[SERVICE_CODE_MAX]);
static void tell_state(struct storage_transfers *transfers, enum result result, long status,
                       const char *service_code, CURLcode code);

static uint32_t active_max(const struct storage_transfers *transfers)
{
    return transfers->options.parallel_max + READS_MORE;
}

enum result storage_transfers_init(struct storage_transfers *transfers, struct ev_loop *loop,
                                   const struct storage_http_options *options,
                                   struct storage_http_service *service)
{
    ASSERT(options->parallel_max > 0 && options->tries_max > 0 && options->timeout_ms > 0);
    *transfers = (struct storage_transfers){.options = *options, .service = service};
    transfers->idle = calloc(active_max(transfers), sizeof *transfers->idle);
    if (transfers->idle == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = storage_etags_init(&transfers->etags);
    if (result == RESULT_OK) {
        result = http_loop_init(&transfers->curl, loop, active_max(transfers), on_done, transfers);
    }
    if (result != RESULT_OK) {
        storage_etags_release(&transfers->etags);
        free(transfers->idle);
    }
    return result;
}

void storage_transfers_release(struct storage_transfers *transfers)
{
    transfers->closing = true;
    while (transfers->first != NULL) {
        if (transfers->first->easy != NULL) {
            http_loop_remove(&transfers->curl, transfers->first->easy);
            curl_easy_cleanup(transfers->first->easy);
            transfers->first->easy = NULL;
            transfers->active--;
        }
        end(transfers->first, RESULT_CLOSED);
    }
    for (uint32_t i = 0; i < transfers->idle_count; i++) {
        curl_easy_cleanup(transfers->idle[i]);
    }
    free(transfers->idle);
    storage_etags_release(&transfers->etags);
    http_loop_release(&transfers->curl);
    transfers->service->close(transfers->service);
}

/* One of those that `awaited` counts? */
static bool is_waited_for(const struct storage_transfer *transfer)
{
    return transfer->call.awaited && transfer->state != TRANSFER_ACTIVE;
}

static void set_state(struct storage_transfer *transfer, enum transfer_state state)
{
    transfer->owner_list->awaited -= is_waited_for(transfer);
    transfer->state = state;
    transfer->owner_list->awaited += is_waited_for(transfer);
}

/* Those that an awaited one must not overtake are awaited as well. */
static void await_older(struct storage_transfer *transfer)
{
    struct storage_transfer *older = transfer->call.awaited ? transfer->after : NULL;
    for (; older != NULL && !older->call.awaited; older = older->after) {
        older->call.awaited = true;
        transfer->owner_list->awaited += is_waited_for(older);
    }
}

enum result storage_transfers_add(struct storage_transfers *transfers,
                                  const struct storage_http_call *call, storage_transfer_fn done,
                                  void *owner, size_t index)
{
    if (transfers->closing) {
        return RESULT_CLOSED;
    }
    struct storage_transfer *transfer =
        calloc(1, sizeof *transfer + call->name.count + call->marker.count);
    if (transfer == NULL) {
        return RESULT_LIMIT;
    }
    transfer->owner_list = transfers;
    transfer->call = *call;
    transfer->done = done;
    transfer->owner = owner;
    transfer->index = index;
    transfer->hash = base_hash(call->name, 0);
    arena_init(&transfer->arena, ARENA_BLOCK, ARENA_BYTES_MAX);
    ev_init(&transfer->timer, on_pause_over);
    transfer->timer.data = transfer;
    if (call->name.count > 0) {
        memcpy(transfer->texts, call->name.bytes, call->name.count);
    }
    if (call->marker.count > 0) {
        memcpy(transfer->texts + call->name.count, call->marker.bytes, call->marker.count);
    }
    transfer->call.name = span_of(transfer->texts, call->name.count);
    transfer->call.marker = span_of(transfer->texts + call->name.count, call->marker.count);
    for (struct storage_transfer *older = transfers->last;
         older != NULL && call->verb == STORAGE_HTTP_PUT; older = older->previous) {
        if (older->call.verb == STORAGE_HTTP_PUT && older->hash == transfer->hash &&
            span_equal(older->call.name, transfer->call.name)) {
            transfer->after = older;
            older->before = transfer;
            break;
        }
    }
    transfer->previous = transfers->last;
    *(transfers->last == NULL ? &transfers->first : &transfers->last->next) = transfer;
    transfers->last = transfer;
    transfers->count++;
    transfers->awaited += is_waited_for(transfer);
    await_older(transfer);
    return RESULT_OK;
}

/* Oldest first, of those that are waited for or of all. */
static void start_of(struct storage_transfers *transfers, bool awaited_only)
{
    struct storage_transfer *next = NULL;
    for (struct storage_transfer *transfer = transfers->first; transfer != NULL; transfer = next) {
        bool full = transfers->active >= transfers->options.parallel_max;
        if (transfers->active >= active_max(transfers) || (full && !awaited_only) ||
            (awaited_only && transfers->awaited == 0)) {
            return;
        }
        next = transfer->next;
        bool homeless = transfers->making && transfer->call.verb == STORAGE_HTTP_PUT;
        if (transfer->state == TRANSFER_QUEUED && transfer->after == NULL && !homeless &&
            (!full || transfer->call.verb == STORAGE_HTTP_GET) &&
            (!awaited_only || transfer->call.awaited)) {
            start_one(transfers, transfer);
        }
    }
}

void storage_transfers_start(struct storage_transfers *transfers)
{
    start_of(transfers, true);
    start_of(transfers, false);
}

static void prepare_verb(CURL *easy, const struct storage_http_call *call)
{
    static const char *const methods[] = {
        [STORAGE_HTTP_PUT] = "PUT", [STORAGE_HTTP_GET] = NULL,   [STORAGE_HTTP_DELETE] = "DELETE",
        [STORAGE_HTTP_LIST] = NULL, [STORAGE_HTTP_MAKE] = "PUT", [STORAGE_HTTP_LOOK] = NULL,
    };
    if (call->verb == STORAGE_HTTP_LOOK) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    if (call->verb == STORAGE_HTTP_PUT || call->verb == STORAGE_HTTP_MAKE) {
        const void *body = call->body.count > 0 ? (const void *)call->body.bytes : "";
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.count);
    }
    if (methods[call->verb] != NULL) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, methods[call->verb]);
    }
}

/* A large blob on a slow line takes its time, as long as it moves; libcurl watches that by the
 * second. */
static void set_limits(CURL *easy, long timeout_ms)
{
    bool by_second = timeout_ms >= 1000;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, by_second ? timeout_ms * WHOLE_TIMES : timeout_ms);
    if (by_second) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, SPEED_LEAST);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, timeout_ms / 1000);
    }
}

/* Which version it replaces: the one that was written last, as far as that is known, or none. */
static void set_condition(const struct storage_transfers *transfers,
                          struct storage_transfer *transfer)
{
    struct storage_http_call *call = &transfer->call;
    bool conditional = call->rewritten && !transfers->unconditional && !transfer->any_version;
    call->if_match = conditional ? storage_etags_find(&transfers->etags, transfer->hash) : NULL;
    call->if_none = conditional && call->if_match == NULL;
}

static bool prepare_try(struct storage_transfers *transfers, struct storage_transfer *transfer)
{
    struct storage_http_call look = {.verb = STORAGE_HTTP_LOOK, .name = transfer->call.name};
    struct storage_http_call *call = transfer->looks_first ? &look : &transfer->call;
    CURL *easy =
        transfers->idle_count > 0 ? transfers->idle[--transfers->idle_count] : curl_easy_init();
    if (easy == NULL) {
        return false;
    }
    curl_easy_reset(easy);
    transfer->easy = easy;
    http_loop_prepare(&transfers->curl, easy);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    set_limits(easy, (long)transfers->options.timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    arena_clear(&transfer->arena);
    transfer->reply_count = 0;
    transfer->reply_too_large = false;
    set_condition(transfers, transfer);
    enum result result = transfers->service->prepare(transfers->service, call, &transfer->arena,
                                                     easy, &transfer->headers);
    prepare_verb(easy, call);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    return result == RESULT_OK && !transfer->arena.overflowed;
}

/* Gives what one try held back. */
static void put_away(struct storage_transfers *transfers, struct storage_transfer *transfer)
{
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    if (transfer->easy == NULL) {
        return;
    }
    if (transfers->idle_count < active_max(transfers)) {
        transfers->idle[transfers->idle_count++] = transfer->easy;
    } else {
        curl_easy_cleanup(transfer->easy);
    }
    transfer->easy = NULL;
}

static void start_one(struct storage_transfers *transfers, struct storage_transfer *transfer)
{
    transfer->tries++;
    if (prepare_try(transfers, transfer) &&
        http_loop_add(&transfers->curl, transfer->easy) == RESULT_OK) {
        set_state(transfer, TRANSFER_ACTIVE);
        transfers->active++;
        return;
    }
    put_away(transfers, transfer);
    settle(transfer, (struct reading){VERDICT_RETRY, RESULT_LIMIT}, -1);
}

static void on_done(void *owner, CURL *easy, CURLcode code)
{
    struct storage_transfers *transfers = owner;
    struct storage_transfer *transfer = NULL;
    char service_code[SERVICE_CODE_MAX] = "";
    long status = 0;
    curl_off_t after_s = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after_s);
    ASSERT(transfer->easy == easy && transfer->state == TRANSFER_ACTIVE);
    if (code == CURLE_OK && status >= 300) {
        service_code_of(transfer, service_code);
    }
    struct reading reading = read_answer(transfer, code, status, service_code);
    if (code == CURLE_OK) {
        reading = read_version(transfer, reading, status, service_code);
    }
    bool goes_on = reading.verdict == VERDICT_MAKE || reading.verdict == VERDICT_AT_ONCE;
    tell_state(transfers, goes_on ? RESULT_OK : reading.result, status, service_code, code);
    transfers->active--;
    put_away(transfers, transfer);
    int64_t after_ms = after_s > 0 && after_s <= RETRY_AFTER_S_MAX ? (int64_t)after_s * 1000 : -1;
    settle(transfer, reading, after_ms);
    storage_transfers_start(transfers);
}

/* A pause that doubles, of which the second half is by chance. */
static uint64_t pause_ms(const struct storage_http_options *options, uint32_t tries)
{
    uint32_t random = 0;
    uint64_t pause = (uint64_t)options->retry_ms_first << (tries < 20 ? tries - 1 : 20);
    pause = pause < options->retry_ms_max ? pause : options->retry_ms_max;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        random = 0;
    }
    return pause / 2 + random % (pause / 2 + 1);
}

static void settle(struct storage_transfer *transfer, struct reading reading, int64_t after_ms)
{
    struct storage_transfers *transfers = transfer->owner_list;
    if (reading.verdict == VERDICT_AT_ONCE) {
        transfer->tries--; /* it was no failure */
        set_state(transfer, TRANSFER_QUEUED);
        return;
    }
    bool last = transfer->tries >= transfers->options.tries_max;
    if (reading.verdict == VERDICT_DONE || last) {
        end(transfer, reading.result);
        return;
    }
    if (reading.verdict == VERDICT_MAKE) {
        struct storage_http_call make = {.verb = STORAGE_HTTP_MAKE, .awaited = true};
        set_state(transfer, TRANSFER_NO_HOME);
        if (!transfers->making) {
            transfers->making =
                storage_transfers_add(transfers, &make, on_made, transfers, 0) == RESULT_OK;
        }
        if (!transfers->making) {
            end(transfer, RESULT_LIMIT);
        }
        return;
    }
    uint64_t pause =
        after_ms >= 0 ? (uint64_t)after_ms : pause_ms(&transfers->options, transfer->tries);
    set_state(transfer, TRANSFER_PAUSED);
    ev_now_update(transfers->curl.loop);
    ev_timer_set(&transfer->timer, (double)pause * 1e-3, 0.);
    ev_timer_start(transfers->curl.loop, &transfer->timer);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    struct storage_transfer *transfer = timer->data;
    ASSERT(transfer->state == TRANSFER_PAUSED);
    set_state(transfer, TRANSFER_QUEUED);
    storage_transfers_start(transfer->owner_list);
}

/* The container is there, or will not be: those that wait for it go on, or end as it did. */
static void on_made(struct storage_transfer_end made)
{
    struct storage_transfers *transfers = made.owner;
    transfers->making = false;
    struct storage_transfer *transfer = transfers->first;
    while (transfer != NULL && !transfers->closing) {
        struct storage_transfer *found = transfer;
        transfer = transfer->next;
        if (found->state != TRANSFER_NO_HOME) {
            continue;
        }
        if (made.result == RESULT_OK) {
            set_state(found, TRANSFER_QUEUED);
            continue;
        }
        end(found, made.result);
        transfer = transfers->first; /* (what was told may have added others) */
    }
}

static void end(struct storage_transfer *transfer, enum result result)
{
    struct storage_transfers *transfers = transfer->owner_list;
    struct storage_transfer_end told = {
        .result = result, .owner = transfer->owner, .index = transfer->index};
    if (result == RESULT_OK && transfer->reply_count > 0) {
        told.reply = span_of(transfer->reply, transfer->reply_count);
    }
    unlink_transfer(transfer);
    put_away(transfers, transfer);
    transfer->done(told);
    arena_release(&transfer->arena);
    free(transfer->reply);
    free(transfer);
}

static void unlink_transfer(struct storage_transfer *transfer)
{
    struct storage_transfers *transfers = transfer->owner_list;
    *(transfer->previous == NULL ? &transfers->first : &transfer->previous->next) = transfer->next;
    *(transfer->next == NULL ? &transfers->last : &transfer->next->previous) = transfer->previous;
    if (transfer->before != NULL) {
        transfer->before->after = NULL; /* (those behind wait for that one) */
    }
    if (transfer->after != NULL) {
        transfer->after->before = NULL;
    }
    ev_timer_stop(transfers->curl.loop, &transfer->timer);
    ASSERT(transfers->count > 0);
    transfers->count--;
    transfers->awaited -= is_waited_for(transfer);
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *owner)
{
    struct storage_transfer *transfer = owner;
    size_t more = size * count;
    size_t wanted = transfer->reply_count + more;
    if (wanted > transfer->owner_list->options.reply_bytes_max) {
        transfer->reply_too_large = true;
        return 0; /* ends the transfer */
    }
    if (wanted > transfer->reply_capacity) {
        size_t capacity = wanted < 4096 ? 4096 : wanted + wanted / 2;
        uint8_t *reply = realloc(transfer->reply, capacity);
        if (reply == NULL) {
            transfer->reply_too_large = true;
            return 0;
        }
        transfer->reply = reply;
        transfer->reply_capacity = capacity;
    }
    memcpy(transfer->reply + transfer->reply_count, bytes, more);
    transfer->reply_count = wanted;
    return more;
}

/* ---- what an answer means ---- */

/* The service's own code: Azure's header, else the <Code> of the body; "" when there is none. */
static void service_code_of(const struct storage_transfer *transfer, char out[SERVICE_CODE_MAX])
{
    struct curl_header *header = NULL;
    if (curl_easy_header(transfer->easy, "x-ms-error-code", 0, CURLH_HEADER, -1, &header) ==
        CURLHE_OK) {
        snprintf(out, SERVICE_CODE_MAX, "%s", header->value);
    } else if (transfer->reply_count > 0) {
        const uint8_t *begin = memmem(transfer->reply, transfer->reply_count, "<Code>", 6);
        size_t left = begin == NULL ? 0 : (size_t)(transfer->reply + transfer->reply_count - begin);
        const uint8_t *close = left == 0 ? NULL : memchr(begin + 6, '<', left - 6);
        if (close != NULL) {
            snprintf(out, SERVICE_CODE_MAX, "%.*s", (int)(close - begin - 6), begin + 6);
        }
    }
    for (char *at = out; *at != '\0'; at++) {
        bool letter = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z');
        if (!letter && (*at < '0' || *at > '9')) {
            *at = '\0'; /* (a code goes into log lines) */
            return;
        }
    }
}

static struct reading done_as(enum result result)
{
    return (struct reading){VERDICT_DONE, result};
}

static struct reading try_again(enum result result)
{
    return (struct reading){VERDICT_RETRY, result};
}

static struct reading read_failure(const struct storage_transfer *transfer, CURLcode code)
{
    switch ((int)code) {
    case CURLE_OPERATION_TIMEDOUT:
        return try_again(RESULT_TIMEOUT);
    case CURLE_WRITE_ERROR:
        return transfer->reply_too_large ? done_as(RESULT_LIMIT) : try_again(RESULT_IO);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return done_as(RESULT_INVALID);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return done_as(RESULT_DENIED);
    default:
        return try_again(RESULT_IO);
    }
}

static struct reading read_answer(const struct storage_transfer *transfer, CURLcode code,
                                  long status, const char *service_code)
{
    const struct storage_http_service *service = transfer->owner_list->service;
    enum storage_http_verb verb = transfer->call.verb;
    if (code != CURLE_OK) {
        return read_failure(transfer, code);
    }
    if (status >= 200 && status < 300) {
        return done_as(RESULT_OK);
    }
    if (strcmp(service_code, service->container_busy) == 0) {
        return try_again(RESULT_IO);
    }
    if (strcmp(service_code, service->container_missing) == 0 && verb == STORAGE_HTTP_PUT) {
        return (struct reading){VERDICT_MAKE, RESULT_IO};
    }
    if (strcmp(service_code, service->container_exists) == 0 && verb == STORAGE_HTTP_MAKE) {
        return done_as(RESULT_OK);
    }
    switch (status) {
    case 400:
        return done_as(RESULT_INVALID);
    case 401:
    case 403:
        return done_as(RESULT_DENIED);
    case 404:
        return done_as(RESULT_NOT_FOUND);
    case 409: /* somebody's lease or retention rule: a person must act */
    case 412:
        return done_as(RESULT_DENIED);
    case 413:
        return done_as(RESULT_LIMIT);
    case 507:
        return done_as(RESULT_FULL);
    case 408:
    case 429:
        return try_again(RESULT_IO);
    default:
        return status >= 500 ? try_again(RESULT_IO) : done_as(RESULT_IO);
    }
}

/* The answer to a look, or the version that a put has made. false: the service does not tell. */
static bool keep_version(struct storage_transfer *transfer)
{
    struct curl_header *header = NULL;
    struct storage_etags *etags = &transfer->owner_list->etags;
    bool told = curl_easy_header(transfer->easy, "ETag", 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
    return storage_etags_keep(etags, transfer->hash, told ? header->value : "");
}

static struct reading read_look(struct storage_transfer *transfer, struct reading reading,
                                long status)
{
    if (reading.verdict == VERDICT_RETRY) {
        return reading;
    }
    transfer->looks_first = false;
    if (status >= 200 && status < 300) {
        transfer->any_version = !keep_version(transfer);
    } else {
        storage_etags_forget(&transfer->owner_list->etags, transfer->hash);
        transfer->any_version = status != 404; /* it does not let us look */
    }
    return (struct reading){VERDICT_AT_ONCE, RESULT_IO};
}

/* Has another version been there than the put has named? */
static bool is_refused(const struct storage_transfer *transfer, long status,
                       const char *service_code)
{
    const struct storage_http_service *service = transfer->owner_list->service;
    bool named = transfer->call.if_match != NULL;
    return (named || transfer->call.if_none) &&
           ((status == 412 && strcmp(service_code, service->condition_failed) == 0) ||
            (status == 409 && strcmp(service_code, service->blob_exists) == 0) ||
            (status == 404 && named && strcmp(service_code, service->blob_missing) == 0));
}

/* What an answer says of versions goes before what it says else. */
static struct reading read_version(struct storage_transfer *transfer, struct reading reading,
                                   long status, const char *service_code)
{
    struct storage_transfers *transfers = transfer->owner_list;
    const struct storage_http_call *call = &transfer->call;
    if (call->verb == STORAGE_HTTP_DELETE && reading.result == RESULT_OK) {
        storage_etags_forget(&transfers->etags, transfer->hash);
    }
    if (call->verb != STORAGE_HTTP_PUT || !call->rewritten) {
        return reading;
    }
    if (transfer->looks_first) {
        return read_look(transfer, reading, status);
    }
    if (reading.verdict == VERDICT_DONE && reading.result == RESULT_OK) {
        (void)keep_version(transfer);
        return reading;
    }
    if (is_refused(transfer, status, service_code)) {
        bool again = transfer->looks++ < LOOKS_MAX;
        transfer->looks_first = true;
        return again ? (struct reading){VERDICT_AT_ONCE, RESULT_IO} : try_again(RESULT_IO);
    }
    bool conditional = call->if_match != NULL || call->if_none;
    if (conditional && status == 409 && strcmp(service_code, transfers->service->blob_busy) == 0) {
        return try_again(RESULT_IO);
    }
    if (conditional && status == 501) {
        log_line(LOG_WARN, "STORAGE-BLOB-UNCONDITIONAL", "service=%s", transfers->service->name);
        transfers->unconditional = true;
        return (struct reading){VERDICT_AT_ONCE, RESULT_IO};
    }
    return reading;
}

/* One line when it stops working, one when it works again. */
static void tell_state(struct storage_transfers *transfers, enum result result, long status,
                       const char *service_code, CURLcode code)
{
    bool works = result == RESULT_OK || result == RESULT_NOT_FOUND || result == RESULT_LIMIT ||
                 result == RESULT_INVALID;
    enum result state = works ? RESULT_OK : result == RESULT_DENIED ? RESULT_DENIED : RESULT_IO;
    if (state == transfers->told) {
        return;
    }
    transfers->told = state;
    const char *name = transfers->service->name;
    if (works) {
        log_line(LOG_INFO, "STORAGE-BLOB-UP", "service=%s", name);
    } else {
        log_line(state == RESULT_DENIED ? LOG_ERROR : LOG_WARN,
                 state == RESULT_DENIED ? "STORAGE-BLOB-DENIED" : "STORAGE-BLOB-DOWN",
                 "service=%s status=%ld code=%s transport=\"%s\"", name, status, service_code,
                 code == CURLE_OK ? "" : curl_easy_strerror(code));
    }
}

bool storage_http_header(struct curl_slist **headers, struct arena *arena, const char *name,
                         const char *value)
{
    const char *line =
        (const char *)arena_format(arena, "%s:%s%s", name, value[0] == '\0' ? "" : " ", value)
            .bytes;
    struct curl_slist *longer = line == NULL ? NULL : curl_slist_append(*headers, line);
    if (longer != NULL) {
        *headers = longer;
    }
    return longer != NULL;
}
