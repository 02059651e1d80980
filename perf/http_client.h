/*
 * http_client.h: the bare HTTP client loop: libcurl's multi interface on libev (http/loop.h, as the
 * module adapter has it) with nothing around it: no queue, no deadline, no check of what comes
 * back. It is the ceiling that `strider bench modules` is held against; perf/http_spike.c holds it
 * against other clients.
 */
#ifndef PERF_HTTP_CLIENT_H
#define PERF_HTTP_CLIENT_H

#include "perf/load.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct http_client_options {
    const char *url;
    uint32_t in_flight; /* each on a kept-alive connection of its own */
    double seconds;
    struct span body; /* POSTed each time */
};

/* A module call's body as the engine sends it for a small process. */
struct span http_client_body(void);
/* Runs on a loop of its own, on the calling thread. A unit is one request with its whole answer.
 * RESULT_LIMIT: no memory. */
MUST_USE enum result http_client_run(const struct http_client_options *options,
                                     struct load_result *out);

#endif
