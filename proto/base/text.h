/*
 * text.h: UTF-8 checks and RFC 3339 times. Pure functions, any thread.
 */
#ifndef PROTO_BASE_TEXT_H
#define PROTO_BASE_TEXT_H

#include "proto/base/result.h"
#include "proto/base/span.h"

/* Offset of the first byte that is not valid UTF-8 (RFC 3629: no surrogates, no overlong forms), or span.count. */
size_t text_utf8_valid_count(struct span span);

#define TEXT_TIME_BYTES 24u /* "2026-11-30T10:27:33.123Z" */
/* UTC with milliseconds; writes 24 characters and a NUL. Years 0000..9999; others are clamped. */
void text_format_time(int64_t unix_ms, char out[TEXT_TIME_BYTES + 1]);
/* RFC 3339 with any offset, optional fraction; RESULT_INVALID otherwise. */
MUST_USE enum result text_parse_time(struct span text, int64_t *unix_ms);
/* "did you mean": edit distance of two short texts (at most 64 bytes each), SIZE_MAX when longer. */
size_t text_distance(struct span a, struct span b);

#endif
