/*
 * listen.h: may we listen there? Shared by the two listeners (front, admin). Pure functions, any
 * thread.
 */
#ifndef TRANSPORT_GUARD_LISTEN_H
#define TRANSPORT_GUARD_LISTEN_H

#include "proto/base/result.h"
#include "proto/base/span.h"

/*
 * Does this URL reach only this machine: ipc://, inproc://, abstract://, or a host of 127.0.0.0/8,
 * ::1 or "localhost"? A wildcard ("*", no host, 0.0.0.0, ::) and any other name reach further.
 */
bool transport_url_is_local(const char *url);
/* The same for the host of "host", "host:port" or "[v6]:port", as it stands in a Host header. */
bool transport_host_is_local(struct span host);

/* An NNG error as our result: address in use is RESULT_EXISTS, an unusable URL RESULT_INVALID, and
 * so on. */
enum result transport_result_of_nng(int nng_error);

#endif
