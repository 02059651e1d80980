/*
 * exchange.c: see exchange.h. Nothing here is called from inside libcurl but on_bytes.
 */
#include "transport/modules/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "proto/base/assert.h"
#include "transport/modules/reply.h"

#define EXCHANGE_MAGIC     0x45584348u
#define BUFFER_BYTES_FIRST 4096u
#define BUFFER_BYTES_KEPT  (64u << 10) /* a larger reply buffer is not kept for the next call */
#define ARENA_BLOCK_BYTES  4096u

_Static_assert(EXCHANGE_REASON_BYTES >= REPLY_REASON_BYTES &&
                   EXCHANGE_REASON_BYTES >= CURL_ERROR_SIZE,
               "one buffer holds any reason");

static struct exchange *exchange_new(struct exchange_pool *pool);
static void exchange_free(struct exchange *exchange);
static size_t on_bytes(char *bytes, size_t one, size_t count, void *owner);
static struct exchange_ending ending_of_answer(struct exchange *exchange, struct arena *arena,
                                               char reason[EXCHANGE_REASON_BYTES]);
static struct exchange_ending ending_of_failure(const struct exchange *exchange, CURLcode code,
                                                char reason[EXCHANGE_REASON_BYTES]);

/* ---- the pool ---- */

struct exchange *exchange_take(struct exchange_pool *pool)
{
    struct exchange *exchange = pool->free;
    if (exchange == NULL) {
        return exchange_new(pool);
    }
    pool->free = exchange->next_free;
    pool->kept--;
    return exchange;
}

static struct exchange *exchange_new(struct exchange_pool *pool)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return NULL;
    }
    exchange->easy = curl_easy_init();
    if (exchange->easy == NULL) {
        free(exchange);
        return NULL;
    }
    exchange->magic = EXCHANGE_MAGIC;
    exchange->count_max = SIZE_MAX;
    arena_init(&exchange->arena, ARENA_BLOCK_BYTES, EXCHANGE_ARENA_EXTRA_BYTES);
    http_loop_prepare(pool->curl, exchange->easy);
    curl_easy_setopt(exchange->easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(exchange->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(exchange->easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(exchange->easy, CURLOPT_ERRORBUFFER, exchange->error_text);
    curl_easy_setopt(exchange->easy, CURLOPT_USERAGENT, "strider/" STRIDER_VERSION);
    curl_easy_setopt(exchange->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)pool->connect_timeout_ms);
    return exchange;
}

void exchange_give_back(struct exchange_pool *pool, struct exchange *exchange)
{
    exchange->owner = NULL;
    if (pool->kept >= pool->kept_max) {
        exchange_free(exchange);
        return;
    }
    if (exchange->capacity > BUFFER_BYTES_KEPT) {
        free(exchange->bytes);
        exchange->bytes = NULL;
        exchange->capacity = 0;
    }
    arena_clear(&exchange->arena);
    exchange->next_free = pool->free;
    pool->free = exchange;
    pool->kept++;
}

static void exchange_free(struct exchange *exchange)
{
    ASSERT(exchange->magic == EXCHANGE_MAGIC);
    curl_easy_cleanup(exchange->easy);
    arena_release(&exchange->arena);
    free(exchange->bytes);
    exchange->magic = 0;
    free(exchange);
}

void exchange_pool_release(struct exchange_pool *pool)
{
    while (pool->free != NULL) {
        struct exchange *exchange = pool->free;
        pool->free = exchange->next_free;
        exchange_free(exchange);
    }
    pool->kept = 0;
}

struct exchange *exchange_of(CURL *easy)
{
    char *tag = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &tag);
    return BASE_CAST(exchange, tag, EXCHANGE_MAGIC);
}

/* ---- a transfer ---- */

void exchange_begin(struct exchange *exchange, size_t reply_bytes_max)
{
    exchange->count = 0;
    exchange->too_large = false;
    exchange->no_memory = false;
    exchange->is_fresh = false;
    exchange->error_text[0] = '\0';
    curl_easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, 0L);
    if (exchange->count_max != reply_bytes_max) {
        exchange->count_max = reply_bytes_max;
        curl_easy_setopt(exchange->easy, CURLOPT_MAXFILESIZE_LARGE,
                         (curl_off_t)exchange->count_max);
    }
}

/* Called by libcurl with more of the reply, decoded; another count than asked for ends the
 * transfer. */
static size_t on_bytes(char *bytes, size_t one, size_t count, void *owner)
{
    struct exchange *exchange = BASE_CAST(exchange, owner, EXCHANGE_MAGIC);
    size_t more = one * count;
    if (more > exchange->count_max - exchange->count) {
        exchange->too_large = true;
        return 0;
    }
    size_t needed = exchange->count + more;
    if (needed > exchange->capacity) {
        size_t capacity = exchange->capacity == 0 ? BUFFER_BYTES_FIRST : exchange->capacity;
        while (capacity < needed) {
            capacity *= 2;
        }
        uint8_t *larger = realloc(exchange->bytes, capacity);
        if (larger == NULL) {
            exchange->no_memory = true;
            return 0;
        }
        exchange->bytes = larger;
        exchange->capacity = capacity;
    }
    memcpy(exchange->bytes + exchange->count, bytes, more);
    exchange->count = needed;
    return more;
}

/* A server may close a kept connection at any time, also just as we use it: that is no failure of
 * the module. curl itself goes on to other connections that were kept, but gives up after five
 * which have died, too (a restart of a busy module). Then one is opened, once a call. Nothing came
 * on the others, and the module knows the call by its Idempotency-Key. */
bool exchange_goes_on(struct exchange_pool *pool, struct exchange *exchange, CURLcode code)
{
    CURL *easy = exchange->easy;
    long head_bytes = 0;
    long opened = 0;
    curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &head_bytes);
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &opened);
    if ((code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR && code != CURLE_GOT_NOTHING) ||
        exchange->is_fresh || opened > 0 || head_bytes > 0 || exchange->count > 0) {
        return false;
    }
    http_loop_remove(pool->curl, easy);
    exchange->is_fresh = true;
    exchange->error_text[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    return http_loop_add(pool->curl, easy) == RESULT_OK;
}

/* ---- what became of it ---- */

struct exchange_ending exchange_end(struct exchange *exchange, CURLcode code, struct arena *arena,
                                    char reason[EXCHANGE_REASON_BYTES])
{
    long status = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    bool too_large = exchange->too_large || code == CURLE_FILESIZE_EXCEEDED;
    bool refused_by_peer = status >= 300;
    if (code != CURLE_OK && !(too_large && refused_by_peer)) {
        return ending_of_failure(exchange, code, reason);
    }
    /* An error page that is too long to read still is an answer with a status. */
    exchange->count = too_large ? 0 : exchange->count;
    return ending_of_answer(exchange, arena, reason);
}

/* The wall clock, which Retry-After's dates are on. */
static int64_t unix_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

/* Calls ask for no encoding, so that a small answer never unpacks to a large one (RFC 9110
 * §12.5.3). A server that compresses all the same is told so by name. */
static bool is_compressed(CURL *easy, char reason[EXCHANGE_REASON_BYTES])
{
    struct curl_header *encoding = NULL;
    if (curl_easy_header(easy, "Content-Encoding", 0, CURLH_HEADER, -1, &encoding) != CURLHE_OK ||
        encoding->value[0] == '\0' || strcasecmp(encoding->value, "identity") == 0) {
        return false;
    }
    snprintf(reason, EXCHANGE_REASON_BYTES,
             "reply has Content-Encoding \"%.40s\", and the call did not ask for any",
             encoding->value);
    return true;
}

static struct exchange_ending ending_of_answer(struct exchange *exchange, struct arena *arena,
                                               char reason[EXCHANGE_REASON_BYTES])
{
    long status = 0;
    char *content_type = NULL;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(exchange->easy, CURLINFO_CONTENT_TYPE, &content_type);

    struct exchange_ending ending = {PROTO_CALL_ANSWERED, .status = (uint32_t)status,
                                     .retry_after_ms = -1};
    struct curl_header *retry_after = NULL;
    if (status >= 300 && curl_easy_header(exchange->easy, "Retry-After", 0, CURLH_HEADER, -1,
                                          &retry_after) == CURLHE_OK) {
        ending.retry_after_ms = reply_retry_after_ms(retry_after->value, unix_seconds());
    }
    if (exchange->count == 0 && status != 200) {
        return ending;
    }
    if (status < 300 && is_compressed(exchange->easy, reason)) {
        ending.outcome = PROTO_CALL_BAD_REPLY;
        ending.reason = reason;
        return ending;
    }
    arena->limit_bytes = 16 * exchange->count + EXCHANGE_ARENA_EXTRA_BYTES;
    bool readable = reply_read(span_of(exchange->bytes, exchange->count), content_type, arena,
                               &ending.body, reason);
    if (!readable && status < 300) {
        ending.outcome = PROTO_CALL_BAD_REPLY;
        ending.reason = reason;
    }
    return ending;
}

static struct exchange_ending ending_of_failure(const struct exchange *exchange, CURLcode code,
                                                char reason[EXCHANGE_REASON_BYTES])
{
    struct exchange_ending ending = {PROTO_CALL_UNREACHABLE, .retry_after_ms = -1,
                                     .reason = reason};
    if (exchange->too_large || code == CURLE_FILESIZE_EXCEEDED) {
        ending.outcome = PROTO_CALL_BAD_REPLY;
        snprintf(reason, EXCHANGE_REASON_BYTES, "reply larger than %zu bytes", exchange->count_max);
        return ending;
    }
    if (exchange->no_memory ||
        code == CURLE_OUT_OF_MEMORY) { /* curl says so of long headers, too */
        snprintf(reason, EXCHANGE_REASON_BYTES,
                 "no memory for the reply, or a header that is too long");
        return ending;
    }
    /* The scheme was checked before, so an unsupported protocol is the server's: bytes that are no
     * HTTP. */
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY) {
        ending.outcome = PROTO_CALL_BAD_REPLY;
        snprintf(reason, EXCHANGE_REASON_BYTES, "reply is not HTTP");
        return ending;
    }
    if (code == CURLE_URL_MALFORMAT) {
        ending.outcome = PROTO_CALL_REFUSED;
    }
    long os_error = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_error);
    const char *text =
        exchange->error_text[0] != '\0' ? exchange->error_text : curl_easy_strerror(code);
    if (os_error != 0) {
        char os_text[64];
        snprintf(reason, EXCHANGE_REASON_BYTES, "%.160s (%s)", text,
                 strerror_r((int)os_error, os_text, sizeof os_text));
    } else {
        snprintf(reason, EXCHANGE_REASON_BYTES, "%s", text);
    }
    return ending;
}
