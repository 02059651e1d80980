/* text.c: UTF-8 by code point, case mapping, the characters of names, and escape sequences. */
#include "engine/expression/text.h"

#include "proto/base/assert.h"

#define BUFFER_SPARE_BYTES 64u

struct code_range {
    uint32_t first;
    uint32_t last;
};

static const struct code_range name_starts[] = {
    {'?', '?'},       {'A', 'Z'},       {'_', '_'},       {'a', 'z'},
    {0x00c0, 0x00d6}, {0x00d8, 0x00f6}, {0x00f8, 0x02ff}, {0x0370, 0x037d},
    {0x037f, 0x1fff}, {0x200c, 0x200d}, {0x2070, 0x218f}, {0x2c00, 0x2fef},
    {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd}, {0x10000, 0xeffff},
};

static const struct code_range name_parts[] = {
    {'0', '9'}, {0x00b7, 0x00b7}, {0x0300, 0x036f}, {0x203f, 0x2040}};

static const struct code_range spaces[] = {{0x09, 0x0d},     {' ', ' '},       {0x85, 0x85},
                                           {0xa0, 0xa0},     {0x1680, 0x1680}, {0x180e, 0x180e},
                                           {0x2000, 0x200b}, {0x2028, 0x2029}, {0x202f, 0x202f},
                                           {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static bool in_ranges(uint32_t point, const struct code_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

bool expression_text_is_name_start(uint32_t point)
{
    return in_ranges(point, name_starts, COUNT_OF(name_starts));
}

bool expression_text_is_name_part(uint32_t point)
{
    return expression_text_is_name_start(point) ||
           in_ranges(point, name_parts, COUNT_OF(name_parts));
}

bool expression_text_is_space(uint32_t point)
{
    return in_ranges(point, spaces, COUNT_OF(spaces));
}

uint32_t expression_text_decode(struct span text, size_t *offset)
{
    ASSERT(*offset < text.count);
    uint8_t lead = text.bytes[(*offset)++];
    if (lead < 0x80) {
        return lead;
    }
    unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    uint32_t point = lead & (0x3fu >> more);
    for (; more > 0 && *offset < text.count; more--) {
        point = point << 6 | (text.bytes[(*offset)++] & 0x3fu);
    }
    return point;
}

size_t expression_text_encode(uint32_t point, uint8_t out[4])
{
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out[0] = (uint8_t)(0xff00u >> (more + 1) | point >> (6 * more));
    for (unsigned i = 1; i <= more; i++) {
        out[i] = (uint8_t)(0x80 | (point >> (6 * (more - i)) & 0x3f));
    }
    return more + 1;
}

size_t expression_text_count(struct span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.count; i++) {
        count += (text.bytes[i] & 0xc0) != 0x80;
    }
    return count;
}

size_t expression_text_offset(struct span text, size_t index)
{
    size_t offset = 0;
    for (; index > 0 && offset < text.count; index--) {
        expression_text_decode(text, &offset);
    }
    return offset;
}

size_t expression_text_find(struct span text, struct span part)
{
    if (part.count == 0) {
        return 0;
    }
    if (text.count == 0) {
        return EXPRESSION_NOT_FOUND;
    }
    const uint8_t *found = memmem(text.bytes, text.count, part.bytes, part.count);
    return found == NULL ? EXPRESSION_NOT_FOUND : (size_t)(found - text.bytes);
}

size_t expression_text_find_last(struct span text, struct span part)
{
    if (part.count > text.count) {
        return EXPRESSION_NOT_FOUND;
    }
    for (size_t at = text.count - part.count;; at--) {
        if (span_equal(span_of(text.bytes + at, part.count), part)) {
            return at;
        }
        if (at == 0) {
            return EXPRESSION_NOT_FOUND;
        }
    }
}

bool expression_text_ends_with(struct span text, struct span part)
{
    return text.count >= part.count &&
           span_equal(span_of(text.bytes + (text.count - part.count), part.count), part);
}

/* What a code point becomes: one, or up to three. */
static uint32_t change_case(uint32_t point, bool to_upper, uint32_t out[3])
{
    const uint32_t *longer = to_upper ? expression_point_upper_long(point) : NULL;
    if (longer != NULL) {
        memcpy(out, longer, 3 * sizeof *out);
        return longer[2] == 0 ? 2 : 3;
    }
    if (!to_upper && point == 0x130) { /* an I with its dot */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = to_upper ? expression_point_upper(point) : expression_point_lower(point);
    return 1;
}

/* Letters of ASCII, into as many bytes; where there are others, how far it came. */
static size_t map_ascii(struct span text, bool to_upper, uint8_t *out)
{
    uint8_t first = to_upper ? 'a' : 'A';
    size_t at = 0;
    for (; at < text.count && text.bytes[at] < 0x80; at++) {
        uint8_t byte = text.bytes[at];
        out[at] = (uint8_t)(byte - first) < 26 ? byte ^ 0x20 : byte;
    }
    return at;
}

static struct span map_case(struct arena *arena, struct span text, bool to_upper)
{
    uint8_t *bytes = arena_alloc(arena, text.count);
    if (bytes == NULL) {
        return SPAN_EMPTY;
    }
    struct expression_buffer out = {.arena = arena, .bytes = bytes, .capacity = text.count};
    out.count = map_ascii(text, to_upper, bytes);
    for (size_t offset = out.count; offset < text.count && !arena->overflowed;) {
        uint32_t points[3];
        uint32_t count = change_case(expression_text_decode(text, &offset), to_upper, points);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t encoded[4];
            expression_buffer_add(&out,
                                  span_of(encoded, expression_text_encode(points[i], encoded)));
        }
    }
    return arena->overflowed ? SPAN_EMPTY : expression_buffer_span(&out);
}

struct span expression_text_upper(struct arena *arena, struct span text)
{
    return map_case(arena, text, true);
}

struct span expression_text_lower(struct arena *arena, struct span text)
{
    return map_case(arena, text, false);
}

struct span expression_text_concatenate(struct arena *arena, struct span a, struct span b)
{
    uint8_t *out = arena_alloc(arena, a.count + b.count);
    if (out == NULL) {
        return SPAN_EMPTY;
    }
    if (a.count > 0) {
        memcpy(out, a.bytes, a.count);
    }
    if (b.count > 0) {
        memcpy(out + a.count, b.bytes, b.count);
    }
    return span_of(out, a.count + b.count);
}

void expression_buffer_add(struct expression_buffer *buffer, struct span text)
{
    if (text.count == 0) {
        return;
    }
    if (text.count > buffer->capacity - buffer->count) {
        size_t capacity = buffer->capacity * 2;
        if (capacity < buffer->count + text.count) {
            capacity = buffer->count + text.count + BUFFER_SPARE_BYTES;
        }
        uint8_t *bytes = arena_grow(buffer->arena, buffer->bytes, buffer->capacity, capacity);
        if (bytes == NULL) {
            return;
        }
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->count, text.bytes, text.count);
    buffer->count += text.count;
}

struct span expression_buffer_span(const struct expression_buffer *buffer)
{
    return span_of(buffer->bytes, buffer->count);
}

/* `digits` hexadecimal digits at *offset; false when there are fewer. */
static bool read_hex(struct span raw, size_t *offset, unsigned digits, uint32_t *out)
{
    uint32_t point = 0;
    if (raw.count - *offset < digits) {
        return false;
    }
    for (unsigned i = 0; i < digits; i++) {
        uint8_t byte = raw.bytes[*offset + i];
        uint8_t letter = byte | 0x20;
        if (byte >= '0' && byte <= '9') {
            point = point << 4 | (uint32_t)(byte - '0');
        } else if (letter >= 'a' && letter <= 'f') {
            point = point << 4 | (uint32_t)(letter - 'a' + 10);
        } else {
            return false;
        }
    }
    *offset += digits;
    *out = point;
    return true;
}

/* Behind "\u" or "\U"; a pair of surrogates is one code point. */
static const char *read_unicode(struct span raw, size_t *offset, unsigned digits, uint32_t *point)
{
    if (!read_hex(raw, offset, digits, point)) {
        return digits == 4 ? "\\u needs 4 hexadecimal digits" : "\\U needs 6 hexadecimal digits";
    }
    if (*point >= 0xd800 && *point <= 0xdbff && raw.count - *offset >= 6 &&
        raw.bytes[*offset] == '\\' && raw.bytes[*offset + 1] == 'u') {
        size_t behind = *offset + 2;
        uint32_t low;
        if (read_hex(raw, &behind, 4, &low) && low >= 0xdc00 && low <= 0xdfff) {
            *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
            *offset = behind;
        }
    }
    if (*point >= 0xd800 && *point <= 0xdfff) {
        return "lone surrogate in a string";
    }
    return *point > 0x10ffff ? "no such code point" : NULL;
}

/* Decodes the escape at *offset, a backslash. */
static const char *read_escape(struct span raw, enum expression_escapes escapes, size_t *offset,
                               uint32_t *point)
{
    static const char simple[][2] = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
    *point = '\\';
    size_t at = (*offset)++;
    uint8_t letter = at + 1 < raw.count ? raw.bytes[at + 1] : 0;
    if (letter == '\\' || letter == '"' || letter == '\'') {
        *point = letter;
        (*offset)++;
        return NULL;
    }
    if (escapes == ESCAPES_JUEL) {
        *offset = at;
        return "invalid escape sequence: only \\\\, \\\" and \\' are known";
    }
    for (size_t i = 0; i < COUNT_OF(simple); i++) {
        if (letter == (uint8_t)simple[i][0]) {
            *point = (uint8_t)simple[i][1];
            (*offset)++;
            return NULL;
        }
    }
    if (letter == 'u' || letter == 'U') {
        *offset = at + 2;
        const char *why = read_unicode(raw, offset, letter == 'u' ? 4 : 6, point);
        *offset = why == NULL ? *offset : at;
        return why;
    }
    return NULL;
}

const char *expression_text_unescape(struct arena *arena, struct span raw,
                                     enum expression_escapes escapes, struct span *out,
                                     size_t *offset)
{
    *out = raw;
    if (raw.count == 0 || memchr(raw.bytes, '\\', raw.count) == NULL) {
        return NULL;
    }
    /* No escape is shorter than what it stands for. */
    uint8_t *bytes = arena_alloc(arena, raw.count);
    size_t written = 0;
    if (bytes == NULL) {
        *offset = 0;
        return "out of memory";
    }
    for (*offset = 0; *offset < raw.count;) {
        if (raw.bytes[*offset] != '\\') {
            bytes[written++] = raw.bytes[(*offset)++];
            continue;
        }
        uint32_t point;
        const char *why = read_escape(raw, escapes, offset, &point);
        if (why != NULL) {
            return why;
        }
        uint8_t encoded[4];
        size_t count = expression_text_encode(point, encoded);
        memcpy(bytes + written, encoded, count);
        written += count;
    }
    *out = span_of(bytes, written);
    return NULL;
}
