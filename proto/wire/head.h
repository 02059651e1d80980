/*
 * head.h: the one place that knows how a MessagePack object begins (msgpack.org spec, "formats").
 * Private to wire/.
 */
#ifndef PROTO_WIRE_HEAD_H
#define PROTO_WIRE_HEAD_H

#include "proto/base/span.h"

enum wire_kind {
    WIRE_KIND_ILLEGAL, /* 0xc1 */
    WIRE_KIND_NIL,
    WIRE_KIND_FALSE,
    WIRE_KIND_TRUE,
    WIRE_KIND_UNSIGNED,
    WIRE_KIND_SIGNED,
    WIRE_KIND_FLOAT_32,
    WIRE_KIND_FLOAT_64,
    WIRE_KIND_STRING,
    WIRE_KIND_BINARY,
    WIRE_KIND_EXT,
    WIRE_KIND_ARRAY,
    WIRE_KIND_MAP,
};

#define WIRE_EXT_DECIMAL 1

struct wire_head {
    enum wire_kind kind;
    uint64_t number;     /* sign-extended; or the count of bytes, elements or pairs */
    const uint8_t *body; /* behind the head; for EXT behind its type byte */
    size_t bytes;        /* head and body; for ARRAY and MAP the head only */
    uint64_t children;   /* objects that follow and belong to this one */
    int8_t ext_type;
};

/* What the bytes 0xc0..0xdf announce: a big-endian field, and for fixext a body of a known size. */
struct wire_form {
    uint8_t kind;
    uint8_t field_bytes;
    uint8_t body_bytes;
};

extern const struct wire_form wire_forms[32];

static inline uint64_t wire_load(const uint8_t *bytes, unsigned width)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (width) {
    case 1:
        return bytes[0];
    case 2:
        memcpy(&two, bytes, sizeof two);
        return __builtin_bswap16(two);
    case 4:
        memcpy(&four, bytes, sizeof four);
        return __builtin_bswap32(four);
    case 8:
        memcpy(&eight, bytes, sizeof eight);
        return __builtin_bswap64(eight);
    default: /* no field */
        return 0;
    }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wire_load swaps bytes");

static inline int64_t wire_extend(uint64_t number, unsigned width)
{
    unsigned unused_bits = 64 - 8 * width;
    return (int64_t)(number << unused_bits) >> unused_bits;
}

/* Heads 0xc0..0xdf. */
static inline bool wire_head_parse_long(const uint8_t *next, size_t room, struct wire_head *head)
{
    struct wire_form form = wire_forms[next[0] - 0xc0];
    size_t head_bytes = 1u + form.field_bytes + (form.kind == WIRE_KIND_EXT);
    if (room < head_bytes) {
        return false;
    }
    uint64_t number = wire_load(next + 1, form.field_bytes);
    *head = (struct wire_head){form.kind, number, next + head_bytes, head_bytes, 0, 0};
    switch ((enum wire_kind)form.kind) {
    case WIRE_KIND_SIGNED:
        head->number = (uint64_t)wire_extend(number, form.field_bytes);
        return true;
    case WIRE_KIND_EXT:
        head->number = form.field_bytes == 0 ? form.body_bytes : number;
        head->ext_type = (int8_t)next[head_bytes - 1];
        head->bytes += head->number;
        return room >= head->bytes;
    case WIRE_KIND_STRING:
    case WIRE_KIND_BINARY:
        head->bytes += number;
        return room >= head->bytes;
    case WIRE_KIND_ARRAY:
        head->children = number;
        return true;
    case WIRE_KIND_MAP:
        head->children = 2 * number;
        return true;
    case WIRE_KIND_ILLEGAL:
        return false;
    case WIRE_KIND_NIL:
    case WIRE_KIND_FALSE:
    case WIRE_KIND_TRUE:
    case WIRE_KIND_UNSIGNED:
    case WIRE_KIND_FLOAT_32:
    case WIRE_KIND_FLOAT_64:
        return true;
    }
    return false;
}

/*
 * Parses the head at `next`; false when it is illegal or it and its body do not fit into `room`
 * bytes.
 */
static inline bool wire_head_parse(const uint8_t *next, size_t room, struct wire_head *head)
{
    if (room == 0) {
        return false;
    }
    uint8_t first = next[0];
    if (first < 0x80) {
        *head = (struct wire_head){WIRE_KIND_UNSIGNED, first, next + 1, 1, 0, 0};
        return true;
    }
    if (first >= 0xe0) {
        *head = (struct wire_head){WIRE_KIND_SIGNED, (uint64_t)(int8_t)first, next + 1, 1, 0, 0};
        return true;
    }
    if (first >= 0xc0) {
        return wire_head_parse_long(next, room, head);
    }
    if (first >= 0xa0) {
        uint64_t count = first & 0x1f;
        *head = (struct wire_head){WIRE_KIND_STRING, count, next + 1, 1 + count, 0, 0};
        return room > count;
    }
    uint64_t count = first & 0x0f;
    if (first >= 0x90) {
        *head = (struct wire_head){WIRE_KIND_ARRAY, count, next + 1, 1, count, 0};
    } else {
        *head = (struct wire_head){WIRE_KIND_MAP, count, next + 1, 1, 2 * count, 0};
    }
    return true;
}

#endif
