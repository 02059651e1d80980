/*
 * gate.c: length, origin and token, by the headers alone.
 */
#include "transport/admin/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "transport/guard/listen.h"
#include "transport/guard/token.h"

static enum proto_error check_length(const struct admin_gate *gate, nng_http_req *request,
                                     size_t *body_bytes, char why[ROUTE_WHY_BYTES]);
static enum proto_error check_origin(const struct admin_gate *gate, nng_http_req *request,
                                     char why[ROUTE_WHY_BYTES]);
static enum proto_error check_token(const struct admin_gate *gate, nng_http_req *request,
                                    char why[ROUTE_WHY_BYTES]);

enum proto_error admin_gate_check(const struct admin_gate *gate, nng_http_req *request,
                                  bool is_open, size_t *body_bytes, char why[ROUTE_WHY_BYTES])
{
    enum proto_error error = check_length(gate, request, body_bytes, why);
    if (error == PROTO_ERROR_NONE) {
        error = check_origin(gate, request, why);
    }
    if (error == PROTO_ERROR_NONE && !is_open) {
        error = check_token(gate, request, why);
    }
    return error;
}

static enum proto_error check_length(const struct admin_gate *gate, nng_http_req *request,
                                     size_t *body_bytes, char why[ROUTE_WHY_BYTES])
{
    *body_bytes = 0;
    if (nng_http_req_get_header(request, "Transfer-Encoding") != NULL) {
        snprintf(why, ROUTE_WHY_BYTES, "a body needs Content-Length here; chunks are not read");
        return PROTO_ERROR_InvalidRequest;
    }
    const char *length = nng_http_req_get_header(request, "Content-Length");
    if (length == NULL) {
        return PROTO_ERROR_NONE;
    }
    char *end = NULL;
    unsigned long long count = strtoull(length, &end, 10);
    if (length[0] < '0' || length[0] > '9' || *end != '\0') {
        snprintf(why, ROUTE_WHY_BYTES, "Content-Length is not a number");
        return PROTO_ERROR_InvalidRequest;
    }
    if (count > gate->request_bytes_max) {
        snprintf(why, ROUTE_WHY_BYTES, "request larger than %zu bytes", gate->request_bytes_max);
        return PROTO_ERROR_PayloadTooLarge;
    }
    *body_bytes = (size_t)count;
    return PROTO_ERROR_NONE;
}

/*
 * A web page that the operator happens to visit must not reach the engine: browsers name the page's
 * origin, and a name that was rebound to 127.0.0.1 shows in Host.
 */
static enum proto_error check_origin(const struct admin_gate *gate, nng_http_req *request,
                                     char why[ROUTE_WHY_BYTES])
{
    const char *host = nng_http_req_get_header(request, "Host");
    const char *origin = nng_http_req_get_header(request, "Origin");
    if (gate->token_count == 0 && host != NULL && !transport_host_is_local(span_text(host))) {
        snprintf(why, ROUTE_WHY_BYTES,
                 "Host is not this machine: set auth.tokens to be reached by other names");
        return PROTO_ERROR_Unauthorized;
    }
    if (origin != NULL) {
        const char *rest = strstr(origin, "://");
        if (rest == NULL || host == NULL || strcasecmp(rest + 3, host) != 0) {
            snprintf(why, ROUTE_WHY_BYTES, "requests from pages of another origin are refused");
            return PROTO_ERROR_Unauthorized;
        }
    }
    return PROTO_ERROR_NONE;
}

static enum proto_error check_token(const struct admin_gate *gate, nng_http_req *request,
                                    char why[ROUTE_WHY_BYTES])
{
    const char *header = nng_http_req_get_header(request, "Authorization");
    struct span token = SPAN_EMPTY;
    if (header != NULL && strncasecmp(header, "Bearer ", 7) == 0) {
        token = span_trim(span_text(header + 7));
    }
    if (transport_token_accepted(gate->tokens, gate->token_count, token)) {
        return PROTO_ERROR_NONE;
    }
    snprintf(why, ROUTE_WHY_BYTES, "%s",
             token.count == 0 ? "Authorization: Bearer … is needed" : "unknown token");
    return PROTO_ERROR_Unauthorized;
}
