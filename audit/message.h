/*
 * message.h: an audit message as it comes by the bus (interfaces.md 5): untrusted text that becomes
 * a value, or a reason why not. Pure functions.
 */
#ifndef AUDIT_MESSAGE_H
#define AUDIT_MESSAGE_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

/* Of what no column holds: a message with a longer text is set aside alone. */
#define AUDIT_TIME_BYTES_MAX 40u
#define AUDIT_TEXT_BYTES_MAX (8u << 20)

/*
 * `json` as a MAP value in the arena, its fields of the types and lengths that the audit tables
 * take: executionId an id, revision and log indexes not negative, texts and numbers where they
 * belong; unknown fields are let through. RESULT_INVALID: `reason`, of AUDIT_REASON_BYTES, says
 * what is wrong, quoting nothing but field names. RESULT_LIMIT: the arena is full.
 */
MUST_USE enum result audit_message_read(struct span json, struct arena *arena, struct span *out,
                                        char *reason);

#endif
