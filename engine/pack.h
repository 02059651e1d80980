/*
 * pack.h: MessagePack pairs with keys known at compile time, written without a call: step blobs are
 * encoded once a step.
 */
#ifndef ENGINE_PACK_H
#define ENGINE_PACK_H

#include "proto/wire/writer.h"

static inline __attribute__((always_inline)) void engine_pack_short(struct wire_writer *writer,
                                                                    const char *text, size_t count)
{
    uint8_t *room = wire_writer_reserve(writer, 32); /* fixstr: one head byte, up to 31 of text */
    if (room != NULL) {
        room[0] = (uint8_t)(0xa0 | count);
        memcpy(room + 1, text, count);
        writer->count += 1 + count;
    }
}

/* A literal of at most 31 bytes. */
#define ENGINE_PACK(writer, literal)                                                               \
    do {                                                                                           \
        _Static_assert(sizeof(literal) - 1 <= 31, "fixstr");                                       \
        engine_pack_short((writer), "" literal, sizeof(literal) - 1);                              \
    } while (0)

static inline void engine_pack_uint(struct wire_writer *writer, uint64_t value)
{
    uint8_t *room = value < 0x80 ? wire_writer_reserve(writer, 1) : NULL;
    if (room != NULL) {
        room[0] = (uint8_t)value;
        writer->count++;
    } else {
        wire_write_uint(writer, value);
    }
}

static inline void engine_pack_string(struct wire_writer *writer, struct span text)
{
    uint8_t *room = text.count <= 31 ? wire_writer_reserve(writer, 32) : NULL;
    if (room != NULL) {
        room[0] = (uint8_t)(0xa0 | text.count);
        if (text.count > 0) {
            memcpy(room + 1, text.bytes, text.count);
        }
        writer->count += 1 + text.count;
    } else {
        wire_write_string(writer, text);
    }
}

static inline void engine_pack_raw(struct wire_writer *writer, struct span bytes)
{
    uint8_t *room = wire_writer_reserve(writer, bytes.count);
    if (room != NULL && bytes.count > 0) {
        memcpy(room, bytes.bytes, bytes.count);
        writer->count += bytes.count;
    }
}

#define ENGINE_PACK_UINT(writer, key, value)                                                       \
    do {                                                                                           \
        ENGINE_PACK(writer, key);                                                                  \
        engine_pack_uint((writer), (value));                                                       \
    } while (0)
#define ENGINE_PACK_STRING(writer, key, value)                                                     \
    do {                                                                                           \
        ENGINE_PACK(writer, key);                                                                  \
        engine_pack_string((writer), (value));                                                     \
    } while (0)
#define ENGINE_PACK_VALUE(writer, key, value)                                                      \
    do {                                                                                           \
        ENGINE_PACK(writer, key);                                                                  \
        engine_pack_raw((writer), (value));                                                        \
    } while (0)

/* A map of any size whose count comes last: map16, patched by close. */
static inline size_t engine_pack_map_open(struct wire_writer *writer)
{
    size_t mark = writer->count;
    uint8_t *room = wire_writer_reserve(writer, 3);
    if (room != NULL) {
        room[0] = 0xde;
        room[1] = 0;
        room[2] = 0;
        writer->count += 3;
    }
    return mark;
}

static inline void engine_pack_map_close(struct wire_writer *writer, size_t mark, uint32_t count)
{
    if (writer->count >= mark + 3) {
        writer->bytes[mark + 1] = (uint8_t)(count >> 8);
        writer->bytes[mark + 2] = (uint8_t)count;
    }
}

#endif
