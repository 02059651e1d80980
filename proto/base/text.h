/*
 * text.h: UTF-8 checks and RFC 3339 times. Pure functions, any thread.
 */
#ifndef PROTO_BASE_TEXT_H
#define PROTO_BASE_TEXT_H

#include "proto/base/result.h"
#include "proto/base/span.h"

/*
 * Bytes of the valid UTF-8 sequence at `next` (1..4), or 0 when there is none before `end` (RFC
 * 3629 §4; the second byte's range depends on the first: no overlong forms, no surrogates, nothing
 * above U+10FFFF).
 */
static inline size_t text_utf8_sequence(const uint8_t *next, const uint8_t *end)
{
    size_t room = (size_t)(end - next);
    uint8_t first = room == 0 ? 0xff : next[0];
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    if (first < 0xe0) {
        return room >= 2 && (next[1] & 0xc0) == 0x80 ? 2 : 0;
    }
    if (first < 0xf0) {
        uint8_t low = first == 0xe0 ? 0xa0 : 0x80;
        uint8_t high = first == 0xed ? 0x9f : 0xbf;
        return room >= 3 && next[1] >= low && next[1] <= high && (next[2] & 0xc0) == 0x80 ? 3 : 0;
    }
    uint8_t low = first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
    return room >= 4 && next[1] >= low && next[1] <= high && (next[2] & 0xc0) == 0x80 &&
                   (next[3] & 0xc0) == 0x80
               ? 4
               : 0;
}

/*
 * Offset of the first byte that is not valid UTF-8 (RFC 3629: no surrogates, no overlong forms), or
 * span.count.
 */
size_t text_utf8_valid_count(struct span span);

#define TEXT_TIME_BYTES 24u /* "2026-11-30T10:27:33.123Z" */
/* UTC with milliseconds; writes 24 characters and a NUL. Years 0000..9999; others are clamped. */
void text_format_time(int64_t unix_ms, char out[TEXT_TIME_BYTES + 1]);
/* RFC 3339 with any offset, optional fraction; RESULT_INVALID otherwise. */
MUST_USE enum result text_parse_time(struct span text, int64_t *unix_ms);
/* A decimal number of 1 to 5 digits, at most `most`; false for anything else. */
MUST_USE bool text_read_number(struct span text, uint32_t most, uint32_t *out);
/* The value of a hexadecimal digit in either case; -1 for any other byte. */
int text_hex_digit(uint8_t byte);
/*
 * Percent-decoding (RFC 3986 §2.1) to text with a NUL behind it, of at most `capacity` bytes with
 * that. False: a '%' without two digits, a NUL byte, or no room.
 */
MUST_USE bool text_percent_decode(struct span text, char *out, size_t capacity);
/* "did you mean": edit distance of two texts of at most 64 bytes, SIZE_MAX when longer. Two
 * neighbours that changed places are one edit. */
size_t text_distance(struct span a, struct span b);

#endif
