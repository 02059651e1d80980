/*
 * writer.c: msgpack-c's packing template, instantiated to append to the writer's own buffer. So the
 * formats are the library's, and no call through a pointer stands between a number and its bytes.
 *
 * Invariant: count <= capacity. Once the arena is full, what does not fit is dropped and the
 * arena's latch tells.
 */
#include "proto/wire/writer.h"

#include <limits.h>
#include <stdlib.h>

#include <msgpack/sysdep.h>
#include <msgpack/timestamp.h>

#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/head.h"
#include "proto/wire/reader.h"

enum { WRITER_BYTES_LEAST = 64 };

static inline int append(struct wire_writer *writer, const void *bytes, size_t count)
{
    uint8_t *room = wire_writer_reserve(writer, count);
    if (room == NULL) {
        return -1;
    }
    memcpy(room, bytes, count);
    writer->count += count;
    return 0;
}

#define msgpack_pack_inline_func(name)                 __attribute__((unused)) static inline int msgpack_pack##name
#define msgpack_pack_user                              struct wire_writer *
#define msgpack_pack_append_buffer(user, bytes, count) return append((user), (bytes), (count))
#include <msgpack/pack_template.h>

void wire_writer_init(struct wire_writer *writer, struct arena *arena, size_t capacity_bytes)
{
    *writer = (struct wire_writer){.arena = arena};
    size_t capacity = capacity_bytes > WRITER_BYTES_LEAST ? capacity_bytes : WRITER_BYTES_LEAST;
    writer->bytes = arena_alloc(arena, capacity);
    writer->capacity = writer->bytes == NULL ? 0 : capacity;
}

/*
 * Doubles; near the arena's limit takes what is left, so that a result just below the limit is not
 * refused. Where less is left than is there already, only growing in place can help: half of what is
 * left each time, so that the last stretch is not moved byte by byte.
 */
uint8_t *wire_writer_grow(struct wire_writer *writer, size_t bytes)
{
    ASSERT(writer->count <= writer->capacity);
    if (bytes > SIZE_MAX / 4 || writer->count > SIZE_MAX / 4) {
        writer->arena->overflowed = true;
        return NULL;
    }
    size_t needed = writer->count + bytes;
    size_t spare = arena_spare_bytes(writer->arena);
    size_t wanted = 2 * writer->capacity < spare ? 2 * writer->capacity : spare;
    size_t capacity = wanted > needed ? wanted : needed;
    if (spare < needed && spare > bytes) {
        capacity = needed + (spare - bytes) / 2;
    }
    uint8_t *grown = arena_grow(writer->arena, writer->bytes, writer->capacity, capacity);
    if (grown == NULL) {
        return NULL;
    }
    writer->bytes = grown;
    writer->capacity = capacity;
    return grown + writer->count;
}

struct span wire_writer_span(const struct wire_writer *writer)
{
    return writer->arena->overflowed ? SPAN_EMPTY : span_of(writer->bytes, writer->count);
}

void wire_write_nil(struct wire_writer *writer)
{
    msgpack_pack_nil(writer);
}

void wire_write_bool(struct wire_writer *writer, bool value)
{
    if (value) {
        msgpack_pack_true(writer);
    } else {
        msgpack_pack_false(writer);
    }
}

void wire_write_int(struct wire_writer *writer, int64_t value)
{
    if (value >= 0) { /* the shortest form of a number is its unsigned one */
        msgpack_pack_uint64(writer, (uint64_t)value);
    } else {
        msgpack_pack_int64(writer, value);
    }
}

void wire_write_uint(struct wire_writer *writer, uint64_t value)
{
    msgpack_pack_uint64(writer, value);
}

void wire_write_float(struct wire_writer *writer, double value)
{
    msgpack_pack_double(writer, value);
}

/* What a 32-bit length cannot say is refused as the arena's overflow is. */
static bool fits(struct wire_writer *writer, size_t count)
{
    if (count > UINT32_MAX) {
        writer->arena->overflowed = true;
        return false;
    }
    return true;
}

void wire_write_string(struct wire_writer *writer, struct span text)
{
    if (!fits(writer, text.count)) {
        return;
    }
    uint8_t *room = wire_writer_reserve(writer, text.count + 5);
    if (room == NULL) {
        return;
    }
    if (text.count < 32) { /* nearly all */
        room[0] = (uint8_t)(0xa0 | text.count);
        writer->count += 1 + text.count;
        if (text.count > 0) {
            memcpy(room + 1, text.bytes, text.count);
        }
        return;
    }
    msgpack_pack_str(writer, text.count);
    msgpack_pack_str_body(writer, text.bytes, text.count);
}

void wire_write_text(struct wire_writer *writer, const char *text)
{
    wire_write_string(writer, span_text(text));
}

void wire_write_binary(struct wire_writer *writer, struct span bytes)
{
    if (fits(writer, bytes.count)) {
        msgpack_pack_bin(writer, bytes.count);
        wire_write_raw(writer, bytes);
    }
}

void wire_write_decimal(struct wire_writer *writer, struct span digits)
{
    if (fits(writer, digits.count)) {
        msgpack_pack_ext(writer, digits.count, WIRE_EXT_DECIMAL);
        wire_write_raw(writer, digits);
    }
}

void wire_write_array(struct wire_writer *writer, uint32_t count)
{
    msgpack_pack_array(writer, count);
}

void wire_write_map(struct wire_writer *writer, uint32_t count)
{
    msgpack_pack_map(writer, count);
}

void wire_write_value(struct wire_writer *writer, struct span value)
{
    if (value.count == 0) {
        msgpack_pack_nil(writer);
    } else {
        append(writer, value.bytes, value.count);
    }
}

void wire_write_raw(struct wire_writer *writer, struct span bytes)
{
    if (bytes.count > 0) {
        append(writer, bytes.bytes, bytes.count);
    }
}

static size_t open_head(struct wire_writer *writer, uint8_t fixed_head)
{
    size_t mark = writer->count;
    append(writer, &fixed_head, 1);
    return mark;
}

/*
 * The byte at `mark` becomes `head` with a big-endian count of field_bytes; what stands behind it
 * moves on.
 */
static void widen_head(struct wire_writer *writer, size_t mark, uint8_t head, size_t field_bytes,
                       uint64_t count)
{
    if (wire_writer_reserve(writer, field_bytes) == NULL) {
        return;
    }
    uint8_t *at = writer->bytes + mark;
    memmove(at + 1 + field_bytes, at + 1, writer->count - mark - 1);
    at[0] = head;
    for (size_t i = 0; i < field_bytes; i++) {
        at[1 + i] = (uint8_t)(count >> 8 * (field_bytes - 1 - i));
    }
    writer->count += field_bytes;
}

static void close_container(struct wire_writer *writer, size_t mark, uint32_t count,
                            const uint8_t heads[2])
{
    if (writer->arena->overflowed) {
        return; /* the head may not have been written */
    }
    ASSERT(mark < writer->count);
    if (count < 16) {
        writer->bytes[mark] = (uint8_t)(writer->bytes[mark] | count);
    } else if (count <= UINT16_MAX) {
        widen_head(writer, mark, heads[0], 2, count);
    } else {
        widen_head(writer, mark, heads[1], 4, count);
    }
}

size_t wire_open_map(struct wire_writer *writer)
{
    return open_head(writer, 0x80);
}

void wire_close_map(struct wire_writer *writer, size_t mark, uint32_t count)
{
    static const uint8_t heads[] = {0xde, 0xdf};
    close_container(writer, mark, count, heads);
}

size_t wire_open_array(struct wire_writer *writer)
{
    return open_head(writer, 0x90);
}

void wire_close_array(struct wire_writer *writer, size_t mark, uint32_t count)
{
    static const uint8_t heads[] = {0xdc, 0xdd};
    close_container(writer, mark, count, heads);
}

size_t wire_open_string(struct wire_writer *writer)
{
    return open_head(writer, 0xa0);
}

void wire_close_string(struct wire_writer *writer, size_t mark)
{
    if (writer->arena->overflowed) {
        return;
    }
    ASSERT(mark < writer->count);
    size_t count = writer->count - mark - 1;
    if (!fits(writer, count)) {
        return;
    }
    if (count < 32) {
        writer->bytes[mark] = (uint8_t)(0xa0 | count);
    } else if (count <= UINT8_MAX) {
        widen_head(writer, mark, 0xd9, 1, count);
    } else if (count <= UINT16_MAX) {
        widen_head(writer, mark, 0xda, 2, count);
    } else {
        widen_head(writer, mark, 0xdb, 4, count);
    }
}

void wire_pair_text(struct wire_writer *writer, const char *key, const char *value)
{
    wire_write_text(writer, key);
    wire_write_text(writer, value);
}

void wire_pair_string(struct wire_writer *writer, const char *key, struct span value)
{
    wire_write_text(writer, key);
    wire_write_string(writer, value);
}

void wire_pair_int(struct wire_writer *writer, const char *key, int64_t value)
{
    wire_write_text(writer, key);
    wire_write_int(writer, value);
}

void wire_pair_bool(struct wire_writer *writer, const char *key, bool value)
{
    wire_write_text(writer, key);
    wire_write_bool(writer, value);
}

void wire_pair_value(struct wire_writer *writer, const char *key, struct span value)
{
    wire_write_text(writer, key);
    wire_write_value(writer, value);
}

void wire_pair_time(struct wire_writer *writer, const char *key, int64_t unix_ms)
{
    char text[TEXT_TIME_BYTES + 1];
    text_format_time(unix_ms, text);
    wire_write_text(writer, key);
    wire_write_string(writer, span_of(text, TEXT_TIME_BYTES));
}
