/*
 * decode_part.h: the parts of reading execution.msgpack, for decode*.c alone. Bytes come from a
 * store: what contradicts itself is RESULT_CORRUPT, never a crash.
 */
#ifndef ENGINE_DECODE_PART_H
#define ENGINE_DECODE_PART_H

#include "engine/apply_part.h"

/* ---- values ---- */

/* A string, kept in the execution; empty where there is none. */
struct span engine_decode_text(struct engine_execution *execution, struct span value);
/* Nil stands for an empty payload where a key says that it is empty. */
struct span engine_decode_no_nil(struct span value);
/* False: it is there and is no such number. */
bool engine_decode_u32(struct span value, uint32_t fallback, uint32_t *out);
bool engine_decode_u8(struct span value, uint8_t most, uint8_t *out);
/* By id, or by number as older bytes have it. False: there is none. */
bool engine_decode_node(const struct engine_process *process, struct span value, uint32_t *node);
bool engine_decode_flow(const struct engine_process *process, struct span value, uint32_t *flow);

/* ---- decode_scope.c ---- */

/* What the snapshot says of scopes; the root's own are fields of the execution. */
struct engine_decode_scopes {
    struct span variables, nodes, joins, records, blocks; /* the root's */
    struct span inner;                                    /* ARRAY of the others */
};
enum result engine_decode_scopes(struct engine_execution *execution,
                                 const struct engine_decode_scopes *from);

/* ---- decode_token.c ---- */

/* After the scopes: each token finds its own. */
enum result engine_decode_tokens(struct engine_execution *execution, struct span tokens);

#endif
