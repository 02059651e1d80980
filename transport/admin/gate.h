/*
 * gate.h: may this request come in? Told by its headers, before a byte of its body is read. Any
 * thread.
 */
#ifndef TRANSPORT_ADMIN_GATE_H
#define TRANSPORT_ADMIN_GATE_H

#include <nng/nng.h>
#include <nng/supplemental/http/http.h>

#include "proto/operation.h"
#include "transport/admin/route.h"

struct admin_gate {
    const char *const *tokens; /* none: only this machine is served */
    size_t token_count;
    size_t request_bytes_max;
};

/* `is_open`: no token is asked for. *body_bytes: what Content-Length says; 0 without one. */
enum proto_error admin_gate_check(const struct admin_gate *gate, nng_http_req *request,
                                  bool is_open, size_t *body_bytes, char why[ROUTE_WHY_BYTES]);

#endif
