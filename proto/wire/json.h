/*
 * json.h: JSON (RFC 8259) to MessagePack and back, directly, with no tree between. Pure functions,
 * any thread.
 *
 * Integers of 64 bits, signed or unsigned, stay integers; every other number keeps its digits as a
 * decimal (ext type 1). Binary becomes base64 text in JSON; NaN and infinities (from a MessagePack
 * peer) and other ext types become null.
 */
#ifndef PROTO_WIRE_JSON_H
#define PROTO_WIRE_JSON_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct json_error {
    size_t offset;      /* byte of the input */
    uint32_t line;      /* from 1 */
    uint32_t column;    /* from 1, in bytes */
    const char *reason; /* static text: "invalid UTF-8", "nested too deeply", … */
};

/*
 * One JSON text. A UTF-8 BOM before it is skipped. Refused: invalid UTF-8, lone surrogates, depth
 * over depth_max (at most LIMIT_WIRE_DEPTH; an empty array has depth 1), anything after the value.
 * Duplicate keys stay: the last one wins for readers. *out lives in the arena. Errors:
 * RESULT_INVALID, or RESULT_LIMIT for depth or a full arena, with *error filled.
 */
MUST_USE enum result json_to_wire(struct span text, unsigned depth_max, struct arena *arena,
                                  struct span *out, struct json_error *error);

enum json_style { JSON_COMPACT, JSON_PRETTY };
/*
 * Output is always valid UTF-8 JSON, without a line end. `value` must have passed wire_validate (or
 * be our own). Errors: RESULT_INVALID when it is no MessagePack or a map key is no string;
 * RESULT_LIMIT for nesting over LIMIT_WIRE_DEPTH or a full arena.
 */
MUST_USE enum result json_from_wire(struct span value, enum json_style style, struct arena *arena,
                                    struct span *out);

#endif
