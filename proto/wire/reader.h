/*
 * reader.h: reads MessagePack in place. A "value" everywhere in Strider is a span that holds
 * exactly one MessagePack object.
 *
 * Bytes from outside pass wire_validate once; after that the functions below need no further
 * checks, though each still refuses to run past the end. Ext type 1 is a decimal: its digits in
 * ASCII as JSON wrote them (engine.md 6).
 */
#ifndef PROTO_WIRE_READER_H
#define PROTO_WIRE_READER_H

#include "proto/base/result.h"
#include "proto/base/span.h"

enum wire_type {
    WIRE_NIL,
    WIRE_BOOL,
    WIRE_INT,     /* fits int64_t */
    WIRE_UINT,    /* above INT64_MAX */
    WIRE_FLOAT,   /* float32 or float64 from a MessagePack peer */
    WIRE_DECIMAL, /* ext type 1 */
    WIRE_STRING,
    WIRE_BINARY,
    WIRE_ARRAY,
    WIRE_MAP,
    WIRE_EXT, /* any other ext type */
};

struct wire_value {
    enum wire_type type;
    union {
        bool boolean;
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
        struct span text; /* STRING, BINARY, DECIMAL, EXT: borrowed from the input */
        uint32_t count;   /* ARRAY: elements, MAP: pairs */
    } as;
};

/* A place in a run of MessagePack objects. */
struct wire_cursor {
    const uint8_t *next;
    const uint8_t *end;
};

static inline struct wire_cursor wire_cursor(struct span span)
{
    return (struct wire_cursor){span.bytes, span.count == 0 ? span.bytes : span.bytes + span.count};
}

/*
 * Whole-input check: exactly one object, nothing after it, depth <= depth_max, strings are UTF-8,
 * map keys are strings, counts fit the bytes that are there, decimals are JSON numbers.
 * RESULT_INVALID or RESULT_LIMIT; *offset says where, *reason why (static text). depth_max is at
 * most LIMIT_WIRE_DEPTH; an empty array has depth 1.
 */
MUST_USE enum result wire_validate(struct span bytes, unsigned depth_max, size_t *offset,
                                   const char **reason);

/* Are these the digits of a JSON number (RFC 8259 §6)? Then they may stand in a decimal. */
bool wire_decimal_is_valid(struct span digits);

/* Reads the head of the next object; for ARRAY and MAP the elements follow at the cursor. */
MUST_USE enum result wire_read(struct wire_cursor *cursor, struct wire_value *out);
/* Steps over one whole object, nested ones included. Iterative. */
MUST_USE enum result wire_skip(struct wire_cursor *cursor);
/* The next whole object as a span; the cursor moves behind it. */
MUST_USE enum result wire_take(struct wire_cursor *cursor, struct span *out);

/* The head of a value held by a span; WIRE_NIL for an empty span. */
struct wire_value wire_head(struct span value);
/* The two that conditions ask for most, without a look at what else it might be; false: it is none,
 * and *out is undefined. */
bool wire_is_integer(struct span value, int64_t *out);
bool wire_is_text(struct span value, struct span *out);
/* Value of `key` in a MAP value (the last of doubles); an empty span when absent or not a map. */
struct span wire_find(struct span map, struct span key);
struct span wire_find_text(struct span map, const char *key);
/* The same for several keys in one walk: values[i] is that of keys[i]. */
void wire_find_all(struct span map, const struct span *keys, struct span *values, size_t count);
/* Element of an ARRAY value; an empty span when out of range or not an array. */
struct span wire_at(struct span array, uint32_t index);
/* Number of elements or pairs; 0 when not a container. */
uint32_t wire_count(struct span value);

/* Typed access; the fallback when absent (empty span), nil or of another type. */
struct span wire_string_or(struct span value, const char *fallback);
int64_t wire_int_or(struct span value, int64_t fallback);
bool wire_bool_or(struct span value, bool fallback);
static inline bool wire_is(struct span value, enum wire_type type)
{
    return value.count > 0 && wire_head(value).type == type;
}

/* Walks a MAP value: begin, then next until it returns false. */
struct wire_map_walk {
    struct wire_cursor cursor;
    uint32_t left;
};
struct wire_map_walk wire_map_begin(struct span map);
bool wire_map_next(struct wire_map_walk *walk, struct span *key_text, struct span *value);
/* The same for an ARRAY value. */
struct wire_map_walk wire_array_begin(struct span array);
bool wire_array_next(struct wire_map_walk *walk, struct span *value);

#endif
