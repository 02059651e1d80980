/*
 * json_read.c: JSON text to MessagePack in one pass, without recursion.
 *
 * A state machine over the places of the grammar where a token may come; containers that are open
 * stand on a stack of LIMIT_WIRE_DEPTH marks. A reader that fails sets `reason` and `next` (the
 * byte at fault); line and column are computed only then.
 */
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/json_ordinary.h"
#include "proto/wire/writer.h"

struct level {
    size_t mark; /* of wire_open_map or wire_open_array */
    uint32_t count;
    bool map;
};

struct reader {
    const uint8_t *start;
    const uint8_t *next;
    const uint8_t *end;
    struct wire_writer writer;
    const char *reason; /* set by what fails */
    enum result result; /* of a failure */
    unsigned depth;     /* containers open */
    unsigned depth_max;
    struct level levels[LIMIT_WIRE_DEPTH];
};

static bool fail(struct reader *reader, const uint8_t *at, const char *reason)
{
    reader->next = at;
    reader->reason = at == reader->end ? "unexpected end" : reason;
    return false;
}

static inline void skip_space(struct reader *reader)
{
    const uint8_t *next = reader->next;
    while (next < reader->end &&
           (*next == ' ' || *next == '\n' || *next == '\r' || *next == '\t')) {
        next++;
    }
    reader->next = next;
}

/* Numbers */

static const uint8_t *skip_digits(const uint8_t *next, const uint8_t *end)
{
    while (next < end && *next >= '0' && *next <= '9') {
        next++;
    }
    return next;
}

/* Writes digits[0..count) with its sign when it is an integer of 64 bits; false when it is not. */
static bool write_integer(struct wire_writer *writer, const uint8_t *digits, size_t count,
                          bool negative)
{
    if (count > 20) {
        return false;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (i >= 19 && number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    if (!negative) {
        wire_write_uint(writer, number);
        return true;
    }
    if (number == 0 || number > (uint64_t)INT64_MAX + 1) { /* no integer keeps the sign of -0 */
        return false;
    }
    wire_write_int(writer, (int64_t)(0 - number));
    return true;
}

static bool read_number(struct reader *reader)
{
    const uint8_t *start = reader->next;
    const uint8_t *end = reader->end;
    bool negative = *start == '-';
    const uint8_t *digits = start + negative;
    const uint8_t *next = skip_digits(digits, end);
    if (next == digits) {
        return fail(reader, next, "digit expected");
    }
    if (*digits == '0' && next > digits + 1) {
        return fail(reader, digits + 1, "number with a leading zero");
    }
    bool whole = true;
    if (next < end && *next == '.') {
        const uint8_t *fraction = next + 1;
        next = skip_digits(fraction, end);
        whole = false;
        if (next == fraction) {
            return fail(reader, next, "digit expected");
        }
    }
    if (next < end && (*next == 'e' || *next == 'E')) {
        next++;
        next += next < end && (*next == '+' || *next == '-');
        const uint8_t *exponent = next;
        next = skip_digits(exponent, end);
        whole = false;
        if (next == exponent) {
            return fail(reader, next, "digit expected");
        }
    }
    reader->next = next;
    if (!whole || !write_integer(&reader->writer, digits, (size_t)(next - digits), negative)) {
        wire_write_decimal(&reader->writer, span_of(start, (size_t)(next - start)));
    }
    return true;
}

/* Strings */

static unsigned hex_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - (unsigned)'0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - (unsigned)'a' + 10 : 16;
}

/* Four hexadecimal digits at `at`. */
static bool read_hex(struct reader *reader, const uint8_t *at, uint32_t *out)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned digit = at + i < reader->end ? hex_of(at[i]) : 16;
        if (digit > 15) {
            return fail(reader, at + i, "\\u wants four hexadecimal digits");
        }
        number = number << 4 | digit;
    }
    *out = number;
    return true;
}

/*
 * The character of the \u escape at reader->next, which moves behind it; a surrogate pair is one
 * character.
 */
static bool read_unicode_escape(struct reader *reader, uint32_t *out)
{
    const uint8_t *start = reader->next;
    uint32_t high, low;
    if (!read_hex(reader, start + 2, &high)) {
        return false;
    }
    reader->next = start + 6;
    *out = high;
    if (high < 0xd800 || high > 0xdfff) {
        return true;
    }
    const uint8_t *second = start + 6;
    if (high >= 0xdc00 || reader->end - second < 2 || second[0] != '\\' || second[1] != 'u') {
        return fail(reader, start, "lone surrogate");
    }
    if (!read_hex(reader, second + 2, &low)) {
        return false;
    }
    if (low < 0xdc00 || low > 0xdfff) {
        return fail(reader, start, "lone surrogate");
    }
    reader->next = second + 6;
    *out = 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
    return true;
}

static void write_utf8(struct wire_writer *writer, uint32_t character)
{
    uint8_t bytes[4];
    unsigned follow = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (uint8_t)(leads[follow] | character >> 6 * follow);
    for (unsigned i = 1; i <= follow; i++) {
        bytes[i] = (uint8_t)(0x80 | (character >> 6 * (follow - i) & 0x3f));
    }
    wire_write_raw(writer, span_of(bytes, 1 + follow));
}

/* reader->next stands on a backslash, and moves behind the escape. */
static bool read_escape(struct reader *reader)
{
    static const uint8_t simple[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    const uint8_t *at = reader->next;
    if (reader->end - at < 2) {
        return fail(reader, reader->end, NULL);
    }
    if (at[1] == 'u') {
        uint32_t character;
        if (!read_unicode_escape(reader, &character)) {
            return false;
        }
        write_utf8(&reader->writer, character);
        return true;
    }
    if (simple[at[1]] == 0) {
        return fail(reader, at + 1, "unknown escape");
    }
    wire_write_raw(&reader->writer, span_of(&simple[at[1]], 1));
    reader->next = at + 2;
    return true;
}

/* Moves reader->next over bytes that stand for themselves, to a quote or a backslash. */
static inline bool skip_plain(struct reader *reader)
{
    const uint8_t *end = reader->end;
    const uint8_t *next = json_skip_ordinary(reader->next, end);
    while (next<end && * next> 0x7f) {
        size_t bytes = text_utf8_sequence(next, end);
        if (bytes == 0) {
            return fail(reader, next, "invalid UTF-8");
        }
        next = json_skip_ordinary(next + bytes, end);
    }
    if (next == end || *next < 0x20) {
        return fail(reader, next, "control character in a string");
    }
    reader->next = next;
    return true;
}

/* From the first backslash on; what stands before it, from `start`, is not yet written. */
static bool read_escaped(struct reader *reader, const uint8_t *start)
{
    struct wire_writer *writer = &reader->writer;
    size_t mark = wire_open_string(writer);
    while (*reader->next == '\\') {
        wire_write_raw(writer, span_of(start, (size_t)(reader->next - start)));
        if (!read_escape(reader)) {
            return false;
        }
        start = reader->next;
        if (!skip_plain(reader)) {
            return false;
        }
    }
    wire_write_raw(writer, span_of(start, (size_t)(reader->next - start)));
    wire_close_string(writer, mark);
    reader->next++;
    return true;
}

/* reader->next stands on the opening quote. */
static bool read_string(struct reader *reader)
{
    const uint8_t *start = ++reader->next;
    if (!skip_plain(reader)) {
        return false;
    }
    if (*reader->next == '\\') {
        return read_escaped(reader, start);
    }
    wire_write_string(&reader->writer, span_of(start, (size_t)(reader->next - start)));
    reader->next++;
    return true;
}

/* Values */

static bool read_word(struct reader *reader, const char *word)
{
    const uint8_t *next = reader->next;
    for (; *word != '\0'; word++, next++) {
        if (next == reader->end || *next != (uint8_t)*word) {
            return fail(reader, next, "unexpected character");
        }
    }
    reader->next = next;
    return true;
}

static bool open_container(struct reader *reader, bool map)
{
    if (reader->depth == reader->depth_max) {
        reader->result = RESULT_LIMIT;
        return fail(reader, reader->next, "nested too deeply");
    }
    struct wire_writer *writer = &reader->writer;
    size_t mark = map ? wire_open_map(writer) : wire_open_array(writer);
    reader->levels[reader->depth++] = (struct level){.mark = mark, .map = map};
    reader->next++;
    return true;
}

static void close_container(struct reader *reader)
{
    ASSERT(reader->depth > 0);
    struct level *level = &reader->levels[--reader->depth];
    if (level->map) {
        wire_close_map(&reader->writer, level->mark, level->count);
    } else {
        wire_close_array(&reader->writer, level->mark, level->count);
    }
    reader->next++;
}

static bool read_scalar(struct reader *reader)
{
    switch (*reader->next) {
    case '"':
        return read_string(reader);
    case 't':
        wire_write_bool(&reader->writer, true);
        return read_word(reader, "true");
    case 'f':
        wire_write_bool(&reader->writer, false);
        return read_word(reader, "false");
    case 'n':
        wire_write_nil(&reader->writer);
        return read_word(reader, "null");
    default:
        if (*reader->next == '-' || (*reader->next >= '0' && *reader->next <= '9')) {
            return read_number(reader);
        }
        return fail(reader, reader->next, "unexpected character");
    }
}

/* "key" : */
static bool read_key(struct reader *reader)
{
    if (reader->next == reader->end || *reader->next != '"') {
        return fail(reader, reader->next, "key in quotes expected");
    }
    if (!read_string(reader)) {
        return false;
    }
    skip_space(reader);
    if (reader->next == reader->end || *reader->next != ':') {
        return fail(reader, reader->next, "':' expected");
    }
    reader->next++;
    skip_space(reader);
    return true;
}

/*
 * Behind a value: closes what ends here, and stands on the next value of what goes on (in a map
 * behind its key). *more is false when the outermost value has ended.
 */
static bool go_on(struct reader *reader, bool *more)
{
    while (reader->depth > 0) {
        struct level *level = &reader->levels[reader->depth - 1];
        level->count++;
        skip_space(reader);
        uint8_t byte = reader->next < reader->end ? *reader->next : 0;
        if (byte == ',') {
            reader->next++;
            skip_space(reader);
            *more = true;
            return !level->map || read_key(reader);
        }
        if (byte != (level->map ? '}' : ']')) {
            return fail(reader, reader->next,
                        level->map ? "',' or '}' expected" : "',' or ']' expected");
        }
        close_container(reader);
    }
    *more = false;
    return true;
}

static bool read_value(struct reader *reader)
{
    for (bool more = true; more;) {
        if (reader->next == reader->end) {
            return fail(reader, reader->next, NULL);
        }
        uint8_t byte = *reader->next;
        if (byte == '{' || byte == '[') {
            if (!open_container(reader, byte == '{')) {
                return false;
            }
            skip_space(reader);
            if (reader->next == reader->end || *reader->next != (byte == '{' ? '}' : ']')) {
                if (byte == '{' && !read_key(reader)) {
                    return false;
                }
                continue;
            }
            close_container(reader);
        } else if (!read_scalar(reader)) {
            return false;
        }
        if (!go_on(reader, &more)) {
            return false;
        }
    }
    return true;
}

/* Whole text */

/*
 * RFC 8259 §8.1 allows UTF-8 only. A JSON text begins with two ASCII characters, so NULs give
 * UTF-16 and UTF-32 away.
 */
static bool read_encoding(struct reader *reader)
{
    const uint8_t *start = reader->start;
    size_t count = (size_t)(reader->end - start);
    if (count >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) {
        reader->next += 3;
        return true;
    }
    if (count >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0 ||
                       start[0] == 0 || start[1] == 0)) {
        return fail(reader, start, "UTF-16 or UTF-32, where JSON must be UTF-8");
    }
    return true;
}

static bool read_text(struct reader *reader)
{
    if (!read_encoding(reader)) {
        return false;
    }
    skip_space(reader);
    if (!read_value(reader)) {
        return false;
    }
    skip_space(reader);
    return reader->next == reader->end || fail(reader, reader->next, "text after the value");
}

static void locate(const struct reader *reader, struct json_error *error)
{
    const uint8_t *line_start = reader->start;
    uint32_t line = 1;
    for (const uint8_t *at = reader->start; at < reader->next; at++) {
        if (*at == '\n') {
            line++;
            line_start = at + 1;
        }
    }
    *error = (struct json_error){
        .offset = (size_t)(reader->next - reader->start),
        .line = line,
        .column = (uint32_t)(reader->next - line_start) + 1,
        .reason = reader->reason,
    };
}

enum result json_to_wire(struct span text, unsigned depth_max, struct arena *arena,
                         struct span *out, struct json_error *error)
{
    ASSERT(depth_max <= LIMIT_WIRE_DEPTH);
    *out = SPAN_EMPTY;
    struct reader reader; /* the levels need no zeroes */
    reader.start = text.count == 0 ? (const uint8_t *)"" : text.bytes;
    reader.next = reader.start;
    reader.end = reader.start + text.count;
    reader.reason = NULL;
    reader.result = RESULT_INVALID;
    reader.depth = 0;
    reader.depth_max = depth_max;
    wire_writer_init(&reader.writer, arena, text.count + 16);
    bool whole = read_text(&reader);
    if (arena->overflowed) {
        reader.reason = "too large";
        reader.result = RESULT_LIMIT;
    } else if (whole) {
        *out = wire_writer_span(&reader.writer);
        return RESULT_OK;
    }
    locate(&reader, error);
    return reader.result;
}
