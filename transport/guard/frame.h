/*
 * frame.h: bytes from a peer to a checked request and a reply value back to bytes. Pure functions,
 * any thread. JSON and MessagePack are two spellings of the same maps (interfaces.md, head).
 */
#ifndef TRANSPORT_GUARD_FRAME_H
#define TRANSPORT_GUARD_FRAME_H

#include "proto/base/arena.h"
#include "proto/message.h"

#define TRANSPORT_WHY_BYTES 256u

struct transport_frame {
    enum proto_spelling
        spelling; /* set even when the rest is refused: the refusal is spelled alike */
    enum proto_operation operation;
    struct span body; /* the request, a MAP value: in the frame itself (MessagePack) or in the arena
                         (JSON) */
    struct span token; /* in `body`; empty when it has none */
};

/* JSON when the first byte after ASCII space is '{', else MessagePack. */
enum proto_spelling transport_spelling_of(struct span bytes);

/*
 * One MAP value out of `bytes`, whole and checked (depth, UTF-8, counts).
 * Errors: InvalidRequest with `why` for the peer ("… at byte N"); PayloadTooLarge when the arena is
 * too small.
 */
enum proto_error transport_value_read(struct span bytes, struct arena *arena,
                                      enum proto_spelling *spelling, struct span *value,
                                      char why[TRANSPORT_WHY_BYTES]);

/* The same, and it must be a request: `v` absent or 1, `op` known. */
enum proto_error transport_frame_read(struct span bytes, struct arena *arena,
                                      struct transport_frame *out, char why[TRANSPORT_WHY_BYTES]);

/*
 * The last `token` of a JSON request, found without reading the rest: no memory, one pass, nothing
 * is checked. In `bytes`, as it is spelled there; empty when there is none.
 */
struct span transport_frame_peek_token(struct span bytes);

/* A reply's bytes: `value` itself, or its JSON in the arena; empty when the arena is full. */
struct span transport_value_spell(struct span value, enum proto_spelling spelling,
                                  struct arena *arena);

#endif
