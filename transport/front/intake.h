/*
 * intake.h: what every listener of the front does with the bytes of a request: check, admit, hand
 * to the router, count. Any thread; the counters are atomics of their own and order nothing.
 */
#ifndef TRANSPORT_FRONT_INTAKE_H
#define TRANSPORT_FRONT_INTAKE_H

#include <stdatomic.h>

#include "proto/base/arena.h"
#include "proto/message.h"
#include "transport/front.h"
#include "transport/guard/frame.h"

struct front_intake {
    struct proto_sink *router;
    const char *const *tokens;
    size_t token_count;
    size_t request_bytes_max;
    uint32_t pending_max;
    _Atomic bool quiescing;
    _Atomic uint32_t pending;
    _Atomic uint64_t requests;
    _Atomic uint64_t replies;
    _Atomic uint64_t unsent;
    _Atomic uint64_t invalid;
    _Atomic uint64_t unauthorized;
    _Atomic uint64_t overloaded;
    _Atomic uint64_t oversized;
    _Atomic uint64_t unread;
    _Atomic uint64_t late;
    _Atomic uint64_t crowded;
    _Atomic uint32_t connections;
};

void front_intake_init(struct front_intake *intake, const struct transport_front_options *options);
/*
 * PROTO_ERROR_NONE: the router has it and will answer `reply_to` (perhaps it has already);
 * front_intake_end once when that answer is on its way. Otherwise nobody will answer: `why` is for
 * the peer.
 */
enum proto_error front_intake_take(struct front_intake *intake, struct span bytes,
                                   struct proto_address reply_to, char why[TRANSPORT_WHY_BYTES]);
void front_intake_end(struct front_intake *intake);

#define FRONT_REFUSAL_BYTES (1u << 20) /* what the arena of a refusal may need, and more */

/* The bytes of a refusal, in the arena. */
struct span front_intake_refusal(struct arena *arena, enum proto_error error, const char *why,
                                 enum proto_spelling spelling);
/* The bytes of a reply value, itself or in the arena; a refusal with Internal when the arena is too
 * small. */
struct span front_intake_reply(struct arena *arena, struct span value,
                               enum proto_spelling spelling);
/* How much an arena for front_intake_reply may need. */
size_t front_intake_reply_bytes(struct span value);

#endif
