/*
 * writer.h: writes MessagePack (by msgpack-c) into an arena. Containers are written head first:
 * announce the count, then write that many values. wire_writer_map_open/close fill in a count that
 * is not known beforehand.
 */
#ifndef PROTO_WIRE_WRITER_H
#define PROTO_WIRE_WRITER_H

#include "proto/base/arena.h"
#include "proto/base/span.h"

struct wire_writer {
    struct arena *arena; /* borrowed; its `overflowed` latch says whether the result is whole */
    uint8_t *bytes;
    size_t count;
    size_t capacity;
};

/* Private to writer.c: makes room; NULL when the arena is full. */
uint8_t *wire_writer_grow(struct wire_writer *writer, size_t bytes);

/*
 * Room for `bytes` more behind what is written, or NULL when the arena is full; add to `count` what
 * you used of it.
 */
static inline uint8_t *wire_writer_reserve(struct wire_writer *writer, size_t bytes)
{
    if (__builtin_expect(writer->capacity - writer->count < bytes, 0)) {
        return wire_writer_grow(writer, bytes);
    }
    return writer->bytes + writer->count;
}

/*
 * capacity_bytes is a first guess; the buffer grows in the arena. Nothing else should allocate from
 * it meanwhile (allowed, slower).
 */
void wire_writer_init(struct wire_writer *writer, struct arena *arena, size_t capacity_bytes);
/* What was written so far; lives as long as the arena. Empty when the arena overflowed. */
struct span wire_writer_span(const struct wire_writer *writer);

void wire_write_nil(struct wire_writer *writer);
void wire_write_bool(struct wire_writer *writer, bool value);
void wire_write_int(struct wire_writer *writer, int64_t value);
void wire_write_uint(struct wire_writer *writer, uint64_t value);
void wire_write_float(struct wire_writer *writer, double value);
void wire_write_string(struct wire_writer *writer, struct span text);
void wire_write_text(struct wire_writer *writer, const char *text);
void wire_write_binary(struct wire_writer *writer, struct span bytes);
void wire_write_decimal(struct wire_writer *writer, struct span digits);
void wire_write_array(struct wire_writer *writer, uint32_t count);
void wire_write_map(struct wire_writer *writer, uint32_t count);
/* One or more ready MessagePack objects, or nil for an empty span. */
void wire_write_value(struct wire_writer *writer, struct span value);
/* Bytes as they are. */
void wire_write_raw(struct wire_writer *writer, struct span bytes);

/*
 * A map or array whose count comes later. One byte is reserved for the head; a count above 15 moves
 * what was written since by 2 or 4 bytes. So the bytes are the same as if the count had been known.
 */
size_t wire_open_map(struct wire_writer *writer);
void wire_close_map(struct wire_writer *writer, size_t mark, uint32_t count);
size_t wire_open_array(struct wire_writer *writer);
void wire_close_array(struct wire_writer *writer, size_t mark, uint32_t count);
/* A string whose text comes in pieces, by wire_write_raw. */
size_t wire_open_string(struct wire_writer *writer);
void wire_close_string(struct wire_writer *writer, size_t mark);

/* key: value pairs, the commonest case */
void wire_pair_text(struct wire_writer *writer, const char *key, const char *value);
void wire_pair_string(struct wire_writer *writer, const char *key, struct span value);
void wire_pair_int(struct wire_writer *writer, const char *key, int64_t value);
void wire_pair_bool(struct wire_writer *writer, const char *key, bool value);
void wire_pair_value(struct wire_writer *writer, const char *key, struct span value);
/* RFC 3339 text of a Unix time in ms. */
void wire_pair_time(struct wire_writer *writer, const char *key, int64_t unix_ms);

/*
 * Merge at the top level, key by key: pairs of `over` win, those of `base` stay; "$unset": ["key",
 * …] in `over` deletes (engine.md 6). Either may be empty. A non-map `over` leaves base as it is.
 * The result lives in the arena.
 */
struct span wire_merge(struct arena *arena, struct span base, struct span over);

#endif
