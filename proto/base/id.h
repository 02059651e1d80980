/*
 * id.h: identifiers as one-field structs, so that one kind cannot be passed for another, and their
 * rules.
 */
#ifndef PROTO_BASE_ID_H
#define PROTO_BASE_ID_H

#include "proto/base/limits.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct execution_id {
    uint8_t count;                 /* bytes used */
    char text[LIMIT_ID_BYTES + 1]; /* NUL-terminated */
};

/* 128 random or hashed bits, printed as a UUID. */
struct uuid {
    uint8_t bytes[16];
};
#define UUID_TEXT_BYTES 36u

static inline struct span execution_id_span(const struct execution_id *id)
{
    return span_of(id->text, id->count);
}

/*
 * Is this 1..128 of A-Za-z0-9._:@+- and neither starting nor ending with a dot (interfaces.md,
 * head)? Every id that becomes part of a path or key passes here first.
 */
bool id_is_valid(struct span text);
/* 1..512 bytes of UTF-8 without control characters. */
bool channel_session_id_is_valid(struct span text);
/* RESULT_INVALID when the rule above is broken. */
MUST_USE enum result execution_id_parse(struct span text, struct execution_id *out);

/* Writes 36 lower-case characters and a NUL. */
void uuid_format(struct uuid uuid, char out[UUID_TEXT_BYTES + 1]);
/* RFC 9562 version 7: time-ordered; random_bytes are the caller's (the core has no randomness). */
struct uuid uuid_v7(uint64_t unix_ms, const uint8_t random_bytes[10]);
/*
 * RFC 9562 version 5 (SHA-1) in Strider's own namespace: the id of a start that brings only a
 * requestId (engine.md 9).
 */
struct uuid uuid_v5(struct span workspace_id, struct span request_id);
/* Version 5 of the concatenated parts in any namespace. */
struct uuid uuid_v5_in(const uint8_t name_space[16], const struct span *parts, size_t part_count);
/*
 * Version 8: SipHash-2-4-128 of (executionId, run, sequence). The stepId: reproducible, so replay
 * gives the same bytes.
 */
struct uuid uuid_of_step(struct span execution_id, uint32_t run, uint32_t sequence);

#endif
