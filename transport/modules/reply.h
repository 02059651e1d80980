/*
 * reply.h: a module's HTTP body to a checked value, or a sentence that says what is wrong with it.
 * Pure functions.
 */
#ifndef TRANSPORT_MODULES_REPLY_H
#define TRANSPORT_MODULES_REPLY_H

#include "proto/base/arena.h"

#define REPLY_REASON_BYTES 256u

/*
 * Reads a whole body. `content_type` may be NULL; where it names neither JSON nor MessagePack the
 * first byte decides. True: *value is one validated value, in `body` itself (MessagePack) or in the
 * arena (JSON). False: `reason` is for a person: "reply is not JSON: invalid UTF-8 at byte 7".
 */
bool reply_read(struct span body, const char *content_type, struct arena *arena, struct span *value,
                char reason[REPLY_REASON_BYTES]);

/* Retry-After, as seconds or as an HTTP date, seen at `unix_s`; capped to an hour; -1 when it is
 * neither (or NULL). */
int64_t reply_retry_after_ms(const char *header, int64_t unix_s);

#endif
