/*
 * json_ordinary.h: runs of bytes that stand for themselves in a JSON string, eight at a time.
 * Private to wire/.
 *
 * Special are: quote, backslash, below 0x20, above 0x7f.
 */
#ifndef PROTO_WIRE_JSON_ORDINARY_H
#define PROTO_WIRE_JSON_ORDINARY_H

#include "proto/base/span.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the lowest mark is that of the first byte");

/*
 * Marks the top bit of bytes that do not stand for themselves: quote, backslash, below 0x20, above
 * 0x7f. The lowest mark is exact; those above it may be false, by borrows.
 */
static inline uint64_t json_special_marks(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    uint64_t quote = (word ^ (ones * '"')) - ones;
    uint64_t backslash = (word ^ (ones * '\\')) - ones;
    uint64_t control = word - ones * 0x20;
    return (word | quote | backslash | control) & tops;
}

static inline bool json_is_special(uint8_t byte)
{
    return byte < 0x20 || byte > 0x7f || byte == '"' || byte == '\\';
}

/* To the first special byte, or the end. */
static inline const uint8_t *json_skip_ordinary(const uint8_t *next, const uint8_t *end)
{
    uint64_t word;
    while ((size_t)(end - next) >= sizeof word) {
        memcpy(&word, next, sizeof word);
        uint64_t marks = json_special_marks(word);
        if (marks != 0) {
            return next + __builtin_ctzll(marks) / 8;
        }
        next += sizeof word;
    }
    while (next < end && !json_is_special(*next)) {
        next++;
    }
    return next;
}

#endif
