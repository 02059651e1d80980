/*
 * json_write.c: MessagePack to JSON text, without recursion: the containers that are open stand on
 * a stack.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/json_ordinary.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum { INDENT_BYTES = 2, NUMBER_BYTES = 32 };

struct level {
    uint32_t left; /* elements or pairs still to come */
    bool map;
    bool begun; /* something was written in it */
};

struct json_writer {
    struct wire_writer text; /* used as a buffer of bytes */
    struct wire_cursor from;
    enum json_style style;
    unsigned depth; /* containers open */
    struct level levels[LIMIT_WIRE_DEPTH];
};

static inline void put(struct json_writer *writer, const char *literal, size_t count)
{
    uint8_t *room = wire_writer_reserve(&writer->text, count);
    if (room != NULL) {
        memcpy(room, literal, count);
        writer->text.count += count;
    }
}

#define PUT(writer, literal) put((writer), (literal), sizeof(literal) - 1)

static void put_line(struct json_writer *writer)
{
    if (writer->style == JSON_COMPACT) {
        return;
    }
    PUT(writer, "\n");
    for (unsigned i = 0; i < writer->depth; i++) {
        put(writer, "  ", INDENT_BYTES);
    }
}

/* Strings */

static const char escapes[0x60] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
                                   ['\t'] = 't', ['"'] = '"',  ['\\'] = '\\'};

/* Writes what does not stand for itself; returns the bytes of input that it took. */
static size_t put_special(struct json_writer *writer, const uint8_t *next, const uint8_t *end)
{
    if (*next >= 0x80) {
        size_t bytes = text_utf8_sequence(next, end);
        if (bytes == 0) {
            PUT(writer, "\xef\xbf\xbd"); /* U+FFFD: our own strings may come from anywhere */
            return 1;
        }
        put(writer, (const char *)next, bytes);
        return bytes;
    }
    char escape = *next < sizeof escapes ? escapes[*next] : 0;
    if (escape != 0) {
        char text[] = {'\\', escape};
        put(writer, text, sizeof text);
    } else {
        static const char digits[] = "0123456789abcdef";
        char text[] = {'\\', 'u', '0', '0', digits[*next >> 4], digits[*next & 15]};
        put(writer, text, sizeof text);
    }
    return 1;
}

/* Behind the first `ordinary` bytes of the text, which are written. */
static void put_rest(struct json_writer *writer, struct span text, size_t ordinary)
{
    const uint8_t *next = text.bytes + ordinary;
    const uint8_t *end = text.bytes + text.count;
    while (next < end) {
        next += put_special(writer, next, end);
        const uint8_t *start = next;
        next = json_skip_ordinary(next, end);
        put(writer, (const char *)start, (size_t)(next - start));
    }
}

static void put_string(struct json_writer *writer, struct span text)
{
    size_t ordinary = 0;
    uint8_t *room = wire_writer_reserve(&writer->text, text.count + 2);
    if (room == NULL) {
        return;
    }
    *room++ = '"';
    if (text.count > 0) {
        ordinary = (size_t)(json_skip_ordinary(text.bytes, text.bytes + text.count) - text.bytes);
        memcpy(room, text.bytes, ordinary);
    }
    writer->text.count += 1 + ordinary;
    if (ordinary < text.count) {
        put_rest(writer, text, ordinary);
    }
    PUT(writer, "\"");
}

/* RFC 4648 §4, with padding. */
static void put_base64(struct json_writer *writer, struct span bytes)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    PUT(writer, "\"");
    for (size_t at = 0; at < bytes.count; at += 3) {
        size_t left = bytes.count - at;
        uint32_t group = (uint32_t)bytes.bytes[at] << 16;
        group |= left > 1 ? (uint32_t)bytes.bytes[at + 1] << 8 : 0;
        group |= left > 2 ? bytes.bytes[at + 2] : 0;
        char text[] = {alphabet[group >> 18], alphabet[group >> 12 & 63],
                       left > 1 ? alphabet[group >> 6 & 63] : '=',
                       left > 2 ? alphabet[group & 63] : '='};
        put(writer, text, sizeof text);
    }
    PUT(writer, "\"");
}

/* Numbers */

static void put_unsigned(struct json_writer *writer, uint64_t number, bool negative)
{
    char text[NUMBER_BYTES];
    char *next = text + sizeof text;
    do {
        *--next = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    if (negative) {
        *--next = '-';
    }
    put(writer, next, (size_t)(text + sizeof text - next));
}

/* The fewest of 15 to 17 digits that read back as the same number. */
static void put_real(struct json_writer *writer, double real)
{
    if (!isfinite(real)) {
        PUT(writer, "null");
        return;
    }
    char text[NUMBER_BYTES];
    int count = 0;
    for (int digits = 15; digits <= 17; digits++) {
        count = snprintf(text, sizeof text, "%.*g", digits, real);
        ASSERT(count > 0 && (size_t)count < sizeof text);
        if (strtod(text, NULL) == real) {
            break;
        }
    }
    put(writer, text, (size_t)count);
}

static void put_scalar(struct json_writer *writer, const struct wire_value *value)
{
    switch (value->type) {
    case WIRE_BOOL:
        if (value->as.boolean) {
            PUT(writer, "true");
        } else {
            PUT(writer, "false");
        }
        return;
    case WIRE_INT:
        if (value->as.integer < 0) {
            put_unsigned(writer, 0 - (uint64_t)value->as.integer, true);
        } else {
            put_unsigned(writer, (uint64_t)value->as.integer, false);
        }
        return;
    case WIRE_UINT:
        put_unsigned(writer, value->as.unsigned_integer, false);
        return;
    case WIRE_FLOAT:
        put_real(writer, value->as.real);
        return;
    case WIRE_DECIMAL:
        if (wire_decimal_is_valid(value->as.text)) {
            put(writer, (const char *)value->as.text.bytes, value->as.text.count);
        } else {
            put_string(writer, value->as.text);
        }
        return;
    case WIRE_STRING:
        put_string(writer, value->as.text);
        return;
    case WIRE_BINARY:
        put_base64(writer, value->as.text);
        return;
    case WIRE_NIL:
    case WIRE_EXT:
        PUT(writer, "null");
        return;
    case WIRE_ARRAY:
    case WIRE_MAP:
        break;
    }
    ASSERT_UNREACHABLE();
}

/* Values */

static enum result put_value(struct json_writer *writer)
{
    struct wire_value value;
    if (wire_read(&writer->from, &value) != RESULT_OK) {
        return RESULT_INVALID;
    }
    bool map = value.type == WIRE_MAP;
    if (!map && value.type != WIRE_ARRAY) {
        put_scalar(writer, &value);
        return RESULT_OK;
    }
    if (writer->depth == LIMIT_WIRE_DEPTH) {
        return RESULT_LIMIT;
    }
    put(writer, map ? "{" : "[", 1);
    writer->levels[writer->depth++] = (struct level){.left = value.as.count, .map = map};
    return RESULT_OK;
}

static enum result put_key(struct json_writer *writer)
{
    struct wire_value key;
    if (wire_read(&writer->from, &key) != RESULT_OK || key.type != WIRE_STRING) {
        return RESULT_INVALID;
    }
    put_string(writer, key.as.text);
    if (writer->style == JSON_PRETTY) {
        PUT(writer, ": ");
    } else {
        PUT(writer, ":");
    }
    return RESULT_OK;
}

static void close_level(struct json_writer *writer)
{
    const struct level *level = &writer->levels[--writer->depth];
    if (level->begun) {
        put_line(writer);
    }
    put(writer, level->map ? "}" : "]", 1);
}

/* The next element or pair of the innermost container. */
static enum result put_next(struct json_writer *writer)
{
    struct level *level = &writer->levels[writer->depth - 1];
    if (level->begun) {
        PUT(writer, ",");
    }
    level->begun = true;
    level->left--;
    put_line(writer);
    enum result result = level->map ? put_key(writer) : RESULT_OK;
    return result == RESULT_OK ? put_value(writer) : result;
}

enum result json_from_wire(struct span value, enum json_style style, struct arena *arena,
                           struct span *out)
{
    struct json_writer writer; /* the levels need no zeroes */
    writer.from = wire_cursor(value);
    writer.style = style;
    writer.depth = 0;
    wire_writer_init(&writer.text, arena, value.count + value.count / 2 + 16);
    *out = SPAN_EMPTY;
    enum result result = put_value(&writer);
    while (result == RESULT_OK && writer.depth > 0 && !arena->overflowed) {
        if (writer.levels[writer.depth - 1].left == 0) {
            close_level(&writer);
        } else {
            result = put_next(&writer);
        }
    }
    if (arena->overflowed) {
        return RESULT_LIMIT;
    }
    if (result == RESULT_OK && writer.from.next != writer.from.end) {
        result = RESULT_INVALID;
    }
    if (result == RESULT_OK) {
        *out = wire_writer_span(&writer.text);
    }
    return result;
}
