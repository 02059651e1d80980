/*
 * route.h: an HTTP request to what it asks for: one of our own pages, or an operation as the NNG
 * front would get it. Pure functions.
 */
#ifndef TRANSPORT_ADMIN_ROUTE_H
#define TRANSPORT_ADMIN_ROUTE_H

#include "proto/base/arena.h"
#include "proto/message.h"

#define ROUTE_WHY_BYTES 256u

enum route_target {
    ROUTE_INSPECTOR,
    ROUTE_HEALTH,
    ROUTE_READY,
    ROUTE_METRICS,
    ROUTE_EVENTS,
    ROUTE_OPERATION, /* `operation`, `body` */
    ROUTE_UNKNOWN_PATH,
    ROUTE_UNKNOWN_METHOD, /* the path exists, for other methods */
    ROUTE_REFUSED,        /* `error`, `why` */
};

struct route_request {
    const char *method;
    const char *uri; /* as it came: path, "?", query */
    struct span body;
    const char *const
        *headers; /* by enum hook_header, NULL where it has none; or NULL: no headers */
};

struct route {
    enum route_target target;
    enum proto_spelling spelling; /* of the body, so of the answer */
    enum proto_operation operation;
    struct span body; /* a MAP value with `op` and everything that path, query and body say; in the
                         arena or the request */
    enum proto_error error;
    char why[ROUTE_WHY_BYTES];
};

/* Which page or operation, by method and path only: what may be asked before the body has been
 * read. */
enum route_target route_find(const char *method, const char *uri);
/* The whole of it. */
void route_resolve(const struct route_request *request, struct arena *arena, struct route *out);

#endif
