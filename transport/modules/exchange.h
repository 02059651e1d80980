/*
 * exchange.h: one HTTP transfer of a call: an easy handle and its memory, kept from call to call,
 * and what became of it. Thread: the loop's.
 */
#ifndef TRANSPORT_MODULES_EXCHANGE_H
#define TRANSPORT_MODULES_EXCHANGE_H

#include "http/loop.h"
#include "proto/base/arena.h"
#include "proto/message.h"

#define EXCHANGE_REASON_BYTES 256u
#define EXCHANGE_ARENA_EXTRA_BYTES                                                                 \
    (1u << 20) /* what a call or reply may need beside its own size */

struct exchange {
    uint32_t magic;
    CURL *easy;
    void *owner; /* whose it is just now */
    struct exchange *next_free;
    struct arena arena; /* URL, headers, JSON body */
    uint8_t *bytes;     /* the reply so far */
    size_t count;
    size_t capacity;
    size_t count_max;
    bool too_large;
    bool no_memory;
    bool is_fresh; /* on a connection of its own, after those that were kept had died */
    char error_text[CURL_ERROR_SIZE];
};

struct exchange_pool {
    struct http_loop *curl;
    uint32_t connect_timeout_ms;
    uint32_t kept;
    uint32_t kept_max;
    struct exchange *free;
};

/* How a call ended. `body` lies in the exchange or in the arena of exchange_end, `reason` is the
 * caller's. */
struct exchange_ending {
    enum proto_call_outcome outcome;
    uint32_t status;
    int64_t retry_after_ms; /* -1: none was named */
    struct span body;
    const char *reason;
};

/* NULL: no memory. */
struct exchange *exchange_take(struct exchange_pool *pool);
/* Its transfer has ended, or was removed. */
void exchange_give_back(struct exchange_pool *pool, struct exchange *exchange);
/* Frees those that were given back. */
void exchange_pool_release(struct exchange_pool *pool);
/* Whose easy handle this is. */
struct exchange *exchange_of(CURL *easy);

/* Before a transfer: nothing of the last one is left. A reply has at most reply_bytes_max. */
void exchange_begin(struct exchange *exchange, size_t reply_bytes_max);
/* A transfer that ended so is under way again, and will end anew. */
bool exchange_goes_on(struct exchange_pool *pool, struct exchange *exchange, CURLcode code);
/* What became of it. The reply's value, if any, may lie in the arena, whose limit is set here. */
struct exchange_ending exchange_end(struct exchange *exchange, CURLcode code, struct arena *arena,
                                    char reason[EXCHANGE_REASON_BYTES]);

#endif
