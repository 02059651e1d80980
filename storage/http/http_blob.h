/*
 * http_blob.h: the blob port over an HTTP service: bounded parallel transfers on a libev loop
 * (everything happens on its thread), one order per name, the container made on demand, retries by
 * the service's own code.
 *
 * Answers: RESULT_DENIED the service does not let us; RESULT_NOT_FOUND; RESULT_IO it failed after
 * all tries; RESULT_TIMEOUT the last try timed out; RESULT_FULL; RESULT_LIMIT too large for it;
 * RESULT_CLOSED the tier was closed meanwhile. A call itself returns RESULT_AGAIN when too many
 * are waiting, RESULT_INVALID for a put that nobody waits for (whose bytes then are nobody's).
 * What was answered is durable: flush has nothing to do.
 */
#ifndef STORAGE_HTTP_HTTP_BLOB_H
#define STORAGE_HTTP_HTTP_BLOB_H

#include "storage/blob.h"
#include "storage/http/service.h"

struct ev_loop;

struct storage_http_options {
    uint32_t parallel_max;   /* transfers at once */
    uint32_t waiting_max;    /* further ones */
    uint32_t tries_max;      /* of one transfer */
    uint32_t retry_ms_first; /* pause before the second try; doubles up to … */
    uint32_t retry_ms_max;
    uint32_t timeout_ms;    /* of connecting, and of a try that hardly moves */
    size_t reply_bytes_max; /* of a blob that is read, or of a listing */
};

#define STORAGE_HTTP_OPTIONS_DEFAULT                                                               \
    .parallel_max = 20, .waiting_max = 1000, .tries_max = 5, .retry_ms_first = 100,                \
    .retry_ms_max = 5000, .timeout_ms = 30000, .reply_bytes_max = 256u << 20

/* Takes the service, on failure too. `close` must not be called from an answer. RESULT_LIMIT. */
MUST_USE enum result storage_http_blob_open(struct ev_loop *loop,
                                            const struct storage_http_options *options,
                                            struct storage_http_service *service,
                                            struct storage_blob **out);

#endif
