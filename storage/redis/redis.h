/*
 * redis.h: the hot tier on a Redis server (5 or later; 6.2 or later answer a read in one command).
 *
 * One connection, pipelined, on the libev loop that it was opened on; everything happens on that
 * loop's thread. It comes back by itself after a loss, with growing, jittered pauses; while it is
 * away each request is answered at once, so that its asker goes the cold way. Keys:
 * {prefix}session:{executionId}, {prefix}channel_session:{channelSessionId}. The ttl is the
 * server's: the caller's now_ms is not used. SIGPIPE must be ignored by the program.
 *
 * Answers: RESULT_IO no connection, or an error of the server; RESULT_TIMEOUT; RESULT_DENIED wrong
 * credentials or not allowed; RESULT_FULL the server is out of memory; RESULT_CLOSED the tier was
 * closed meanwhile. A call itself returns RESULT_AGAIN when too many are in flight.
 */
#ifndef STORAGE_REDIS_REDIS_H
#define STORAGE_REDIS_REDIS_H

#include <stdint.h>

#include "storage/hot.h"
#include "storage/redis/redis_url.h"

struct ev_loop;

struct storage_redis_options {
    const char *url;            /* see redis_url.h */
    const char *key_prefix;     /* NULL or "": none */
    uint64_t ttl_ms;            /* 0: for ever */
    uint32_t timeout_ms;        /* of connecting, and of each request */
    uint32_t in_flight_max;     /* requests that are not answered yet … */
    size_t in_flight_bytes_max; /* … and what they write */
    uint32_t retry_ms_first;    /* pause before the second try to connect; doubles up to … */
    uint32_t retry_ms_max;
};

#define STORAGE_REDIS_OPTIONS_DEFAULT                                                              \
    .ttl_ms = 10u * 60 * 1000, .timeout_ms = 2000, .in_flight_max = 10000,                         \
    .in_flight_bytes_max = 64u << 20, .retry_ms_first = 100, .retry_ms_max = 5000

/*
 * Begins to connect; that the server is away is no error here. Copies the options.
 * RESULT_INVALID, RESULT_UNSUPPORTED: a URL that cannot be used, `reason` says why; RESULT_LIMIT.
 * `close` answers what is in flight with RESULT_CLOSED; it must not be called from an answer.
 */
MUST_USE enum result storage_redis_hot_open(struct ev_loop *loop,
                                            const struct storage_redis_options *options,
                                            struct storage_hot **out,
                                            char reason[STORAGE_REDIS_REASON_BYTES]);

#endif
