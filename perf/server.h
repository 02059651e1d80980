/*
 * server.h: the module that `bench modules` calls, and the bare client loop that is its ceiling.
 */
#ifndef PERF_SERVER_H
#define PERF_SERVER_H

#include "perf/child.h"
#include "perf/load.h"
#include "perf/scratch.h"

/* The child's role: an HTTP/1.1 keep-alive server on a free port of 127.0.0.1 that answers every
 * POST alike; one thread, epoll. Says "port N" on stderr; leaves when stdin closes. */
int server_serve(void);
/* Waits for the port of a child in that role. */
MUST_USE enum result server_await(struct child *child, struct scratch *scratch);
/* Our bare HTTP client loop (curl multi on libev) against it: POSTs of the size that the engine
 * sends. */
MUST_USE enum result server_client_run(const struct scratch *scratch, uint32_t in_flight,
                                       double seconds, struct load_result *out);

#endif
