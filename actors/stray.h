/*
 * stray.h: fields of a request that its operation does not read. A newer client may send what this
 * engine does not know yet, so such a field is passed over, but for three kinds that would do harm
 * in silence: what is probably one of the operation's own fields, misspelt; what this engine knows
 * as a field of other operations (but for who asks, by which channel and about which process);
 * and anything at all in a list's request, where it would be a filter that does not filter. Pure
 * functions, any thread.
 */
#ifndef ACTORS_STRAY_H
#define ACTORS_STRAY_H

#include "proto/base/span.h"
#include "proto/message.h"

struct actor_stray {
    struct span name;  /* as the request has it */
    const char *meant; /* the field that it is near to; NULL: none */
    bool is_filter;    /* of a list */
};

/* The first field of `body`, a map, to be refused; false: there is none. */
MUST_USE bool actor_request_stray(struct span body, enum proto_operation operation,
                                  struct actor_stray *out);

#endif
