/*
 * reader.c: walks MessagePack without recursion and without allocating: a claimed count costs
 * nothing but the bytes that are really there.
 */
#include "proto/wire/reader.h"

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/head.h"

const struct wire_form wire_forms[32] = {
    {WIRE_KIND_NIL, 0, 0},      /* c0 */
    {WIRE_KIND_ILLEGAL, 0, 0},  /* c1 */
    {WIRE_KIND_FALSE, 0, 0},    /* c2 */
    {WIRE_KIND_TRUE, 0, 0},     /* c3 */
    {WIRE_KIND_BINARY, 1, 0},   /* c4 */
    {WIRE_KIND_BINARY, 2, 0},   /* c5 */
    {WIRE_KIND_BINARY, 4, 0},   /* c6 */
    {WIRE_KIND_EXT, 1, 0},      /* c7 */
    {WIRE_KIND_EXT, 2, 0},      /* c8 */
    {WIRE_KIND_EXT, 4, 0},      /* c9 */
    {WIRE_KIND_FLOAT_32, 4, 0}, /* ca */
    {WIRE_KIND_FLOAT_64, 8, 0}, /* cb */
    {WIRE_KIND_UNSIGNED, 1, 0}, /* cc */
    {WIRE_KIND_UNSIGNED, 2, 0}, /* cd */
    {WIRE_KIND_UNSIGNED, 4, 0}, /* ce */
    {WIRE_KIND_UNSIGNED, 8, 0}, /* cf */
    {WIRE_KIND_SIGNED, 1, 0},   /* d0 */
    {WIRE_KIND_SIGNED, 2, 0},   /* d1 */
    {WIRE_KIND_SIGNED, 4, 0},   /* d2 */
    {WIRE_KIND_SIGNED, 8, 0},   /* d3 */
    {WIRE_KIND_EXT, 0, 1},      /* d4 */
    {WIRE_KIND_EXT, 0, 2},      /* d5 */
    {WIRE_KIND_EXT, 0, 4},      /* d6 */
    {WIRE_KIND_EXT, 0, 8},      /* d7 */
    {WIRE_KIND_EXT, 0, 16},     /* d8 */
    {WIRE_KIND_STRING, 1, 0},   /* d9 */
    {WIRE_KIND_STRING, 2, 0},   /* da */
    {WIRE_KIND_STRING, 4, 0},   /* db */
    {WIRE_KIND_ARRAY, 2, 0},    /* dc */
    {WIRE_KIND_ARRAY, 4, 0},    /* dd */
    {WIRE_KIND_MAP, 2, 0},      /* de */
    {WIRE_KIND_MAP, 4, 0},      /* df */
};

static size_t digits_count(struct span text, size_t from)
{
    size_t at = from;
    while (at < text.count && text.bytes[at] >= '0' && text.bytes[at] <= '9') {
        at++;
    }
    return at - from;
}

bool wire_decimal_is_valid(struct span digits)
{
    size_t at = digits.count > 0 && digits.bytes[0] == '-';
    size_t whole = digits_count(digits, at);
    if (whole == 0 || (whole > 1 && digits.bytes[at] == '0')) {
        return false;
    }
    at += whole;
    if (at < digits.count && digits.bytes[at] == '.') {
        size_t fraction = digits_count(digits, at + 1);
        if (fraction == 0) {
            return false;
        }
        at += 1 + fraction;
    }
    if (at < digits.count && (digits.bytes[at] | 0x20) == 'e') {
        at++;
        at += at < digits.count && (digits.bytes[at] == '+' || digits.bytes[at] == '-');
        size_t exponent = digits_count(digits, at);
        if (exponent == 0) {
            return false;
        }
        at += exponent;
    }
    return at == digits.count;
}

static double real_of(const struct wire_head *head)
{
    if (head->kind == WIRE_KIND_FLOAT_64) {
        double real;
        memcpy(&real, &head->number, sizeof real);
        return real;
    }
    uint32_t bits = (uint32_t)head->number;
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    return (double)narrow;
}

static inline struct wire_value value_of(const struct wire_head *head)
{
    struct wire_value value;
    switch (head->kind) {
    case WIRE_KIND_STRING:
        value.type = WIRE_STRING;
        value.as.text = span_of(head->body, head->number);
        return value;
    case WIRE_KIND_UNSIGNED:
        value.type = head->number > INT64_MAX ? WIRE_UINT : WIRE_INT;
        value.as.unsigned_integer = head->number;
        return value;
    case WIRE_KIND_SIGNED:
        value.type = WIRE_INT;
        value.as.integer = (int64_t)head->number;
        return value;
    case WIRE_KIND_ARRAY:
        value.type = WIRE_ARRAY;
        value.as.count = (uint32_t)head->number;
        return value;
    case WIRE_KIND_MAP:
        value.type = WIRE_MAP;
        value.as.count = (uint32_t)head->number;
        return value;
    case WIRE_KIND_TRUE:
    case WIRE_KIND_FALSE:
        value.type = WIRE_BOOL;
        value.as.boolean = head->kind == WIRE_KIND_TRUE;
        return value;
    case WIRE_KIND_BINARY:
        value.type = WIRE_BINARY;
        value.as.text = span_of(head->body, head->number);
        return value;
    case WIRE_KIND_EXT:
        value.type = head->ext_type == WIRE_EXT_DECIMAL ? WIRE_DECIMAL : WIRE_EXT;
        value.as.text = span_of(head->body, head->number);
        return value;
    case WIRE_KIND_FLOAT_32:
    case WIRE_KIND_FLOAT_64:
        value.type = WIRE_FLOAT;
        value.as.real = real_of(head);
        return value;
    case WIRE_KIND_NIL:
    case WIRE_KIND_ILLEGAL:
        break;
    }
    return (struct wire_value){.type = WIRE_NIL};
}

/* The one-byte heads, nearly all there are, straight to *out: no head in between. */
enum result wire_read(struct wire_cursor *cursor, struct wire_value *out)
{
    const uint8_t *next = cursor->next;
    size_t room = (size_t)(cursor->end - next);
    if (room == 0) {
        return RESULT_INVALID;
    }
    uint8_t first = next[0];
    if (first >= 0xa0 && first < 0xc0) {
        size_t count = first & 0x1f;
        if (room <= count) {
            return RESULT_INVALID;
        }
        out->type = WIRE_STRING;
        out->as.text = span_of(next + 1, count);
        cursor->next = next + 1 + count;
        return RESULT_OK;
    }
    if (first < 0x80 || first >= 0xe0) {
        out->type = WIRE_INT;
        out->as.integer = (int8_t)first;
        cursor->next = next + 1;
        return RESULT_OK;
    }
    if (first < 0xa0) {
        out->type = first < 0x90 ? WIRE_MAP : WIRE_ARRAY;
        out->as.count = first & 0x0f;
        cursor->next = next + 1;
        return RESULT_OK;
    }
    struct wire_head head;
    if (!wire_head_parse(next, room, &head)) {
        return RESULT_INVALID;
    }
    cursor->next = next + head.bytes;
    *out = value_of(&head);
    return RESULT_OK;
}

/*
 * Where the object at `at` ends, for nearly all of them: texts of less than 256 bytes, numbers,
 * booleans, nil; 0: look closer. Reads two bytes; what it returns may be behind the last one. Sizes
 * that the first byte alone decides are constants behind branches, not computed from it: so a walk
 * need not wait for this object to know where the next one begins.
 */
#define FORM(first) (UINT32_C(1) << ((first)-0xc0)) /* a bit for each of 0xc0..0xdf */

static inline size_t short_end(const uint8_t *bytes, size_t at)
{
    uint8_t first = bytes[at];
    if (first == 0xd9) {
        return at + 2 + bytes[at + 1];
    }
    if (first >= 0xa0 && first < 0xc0) {
        return at + first - 0x9f;
    }
    if (first < 0x80 || first >= 0xe0) {
        return at + 1;
    }
    if (first < 0xc0) {
        return 0;
    }
    uint32_t form = FORM(first);
    if ((form & (FORM(0xcc) | FORM(0xd0))) != 0) {
        return at + 2;
    }
    if ((form & (FORM(0xcd) | FORM(0xd1))) != 0) {
        return at + 3;
    }
    if ((form & (FORM(0xc0) | FORM(0xc2) | FORM(0xc3))) != 0) {
        return at + 1;
    }
    if ((form & (FORM(0xca) | FORM(0xce) | FORM(0xd2))) != 0) {
        return at + 5;
    }
    if ((form & (FORM(0xcb) | FORM(0xcf) | FORM(0xd3))) != 0) {
        return at + 9;
    }
    if (first == 0xc7) {
        return at + 3 + bytes[at + 1];
    }
    return first >= 0xd4 && first <= 0xd8 ? at + 2 + ((size_t)1 << (first - 0xd4)) : 0;
}

/*
 * Behind the one object at `next`, of any form; NULL when it breaks off. Whatever a container
 * claims to hold, each round consumes a byte at least.
 */
static inline const uint8_t *behind_any(const uint8_t *next, const uint8_t *end)
{
    size_t count = (size_t)(end - next);
    size_t at = 0;
    for (uint64_t left = 1; left > 0; left--) {
        if (at >= count) {
            return NULL;
        }
        uint8_t first = next[at];
        if (first >= 0x80 && first < 0xa0) { /* a map or array of up to 15 */
            left += (first & 0x0fu) << (first < 0x90);
            at++;
            continue;
        }
        size_t behind = at + 1 < count ? short_end(next, at) : 0;
        struct wire_head head;
        if (behind > 0) {
            at = behind;
        } else if (wire_head_parse(next + at, count - at, &head)) {
            at += head.bytes;
            left += head.children;
        } else {
            return NULL;
        }
    }
    return at <= count ? next + at : NULL;
}

enum result wire_skip(struct wire_cursor *cursor)
{
    const uint8_t *behind = behind_any(cursor->next, cursor->end);
    if (behind == NULL) {
        return RESULT_INVALID;
    }
    cursor->next = behind;
    return RESULT_OK;
}

enum result wire_take(struct wire_cursor *cursor, struct span *out)
{
    const uint8_t *start = cursor->next;
    enum result result = wire_skip(cursor);
    *out = result == RESULT_OK ? span_of(start, (size_t)(cursor->next - start)) : SPAN_EMPTY;
    return result;
}

/* Validation */

struct level {
    uint64_t left; /* objects still to come */
    bool map;
};

struct validation {
    struct span bytes;
    size_t at;          /* the object looked at; on a fault, its place */
    const char *reason; /* set by what fails */
    unsigned depth;
    unsigned depth_max;
    struct level levels[LIMIT_WIRE_DEPTH + 1]; /* the first holds the one value that all is in */
};

static enum result refuse(struct validation *validation, size_t at, const char *reason)
{
    validation->at = at;
    validation->reason = reason;
    return RESULT_INVALID;
}

/* `start` is where the content stands in the input. */
static enum result check_content(struct validation *validation, const struct wire_head *head,
                                 size_t start)
{
    struct span content = span_of(head->body, head->number);
    if (head->kind == WIRE_KIND_STRING) {
        size_t valid_count = text_utf8_valid_count(content);
        if (valid_count < content.count) {
            return refuse(validation, start + valid_count, "invalid UTF-8");
        }
    } else if (head->kind == WIRE_KIND_EXT && head->ext_type == WIRE_EXT_DECIMAL &&
               !wire_decimal_is_valid(content)) {
        return refuse(validation, start, "decimal is no number");
    }
    return RESULT_OK;
}

static enum result enter(struct validation *validation, const struct wire_head *head)
{
    size_t behind_head = validation->at + head->bytes;
    if (head->children > validation->bytes.count - behind_head) {
        return refuse(validation, validation->at, "truncated");
    }
    if (validation->depth == validation->depth_max) {
        validation->reason = "nested too deeply";
        return RESULT_LIMIT;
    }
    validation->levels[++validation->depth] =
        (struct level){head->children, head->kind == WIRE_KIND_MAP};
    return RESULT_OK;
}

/* One object, of a container its head only. */
static enum result check_object(struct validation *validation, bool is_key)
{
    size_t at = validation->at;
    size_t room = validation->bytes.count - at;
    struct wire_head head;
    if (!wire_head_parse(validation->bytes.bytes + at, room, &head)) {
        bool reserved = room > 0 && validation->bytes.bytes[at] == 0xc1;
        return refuse(validation, at, reserved ? "byte 0xc1 is no MessagePack" : "truncated");
    }
    if (is_key && head.kind != WIRE_KIND_STRING) {
        return refuse(validation, at, "map key is no string");
    }
    bool container = head.kind == WIRE_KIND_ARRAY || head.kind == WIRE_KIND_MAP;
    size_t start = (size_t)(head.body - validation->bytes.bytes);
    enum result result =
        container ? enter(validation, &head) : check_content(validation, &head, start);
    if (result == RESULT_OK) {
        validation->at += head.bytes;
    }
    return result;
}

static enum result check_all(struct validation *validation)
{
    if (validation->bytes.count == 0) {
        return refuse(validation, 0, "empty");
    }
    enum result result = RESULT_OK;
    while (result == RESULT_OK) {
        struct level *level = &validation->levels[validation->depth];
        if (level->left > 0) {
            bool is_key = level->map && level->left % 2 == 0;
            level->left--;
            result = check_object(validation, is_key);
        } else if (validation->depth > 0) {
            validation->depth--;
        } else {
            return validation->at == validation->bytes.count
                       ? RESULT_OK
                       : refuse(validation, validation->at, "bytes after the value");
        }
    }
    return result;
}

enum result wire_validate(struct span bytes, unsigned depth_max, size_t *offset,
                          const char **reason)
{
    ASSERT(depth_max <= LIMIT_WIRE_DEPTH);
    struct validation validation; /* the other levels need no zeroes */
    validation.bytes = bytes;
    validation.at = 0;
    validation.reason = NULL;
    validation.depth = 0;
    validation.depth_max = depth_max;
    validation.levels[0] = (struct level){.left = 1, .map = false};
    enum result result = check_all(&validation);
    *offset = validation.at;
    *reason = validation.reason;
    return result;
}

/* Values held by a span */

struct wire_value wire_head(struct span value)
{
    struct wire_head head;
    if (!wire_head_parse(value.bytes, value.count, &head)) {
        return (struct wire_value){.type = WIRE_NIL};
    }
    return value_of(&head);
}

bool wire_is_integer(struct span value, int64_t *out)
{
    uint8_t first = value.count > 0 ? value.bytes[0] : 0xc0;
    if (first < 0x80 || first >= 0xe0) {
        *out = (int8_t)first;
        return true;
    }
    unsigned width = 1u << (first & 3); /* 0xcc..0xcf unsigned, 0xd0..0xd3 signed */
    if (first < 0xcc || first > 0xd3 || value.count <= width) {
        return false;
    }
    uint64_t number = wire_load(value.bytes + 1, width);
    *out = first < 0xd0 ? (int64_t)number : wire_extend(number, width);
    return first != 0xcf || number <= INT64_MAX;
}

bool wire_is_text(struct span value, struct span *out)
{
    uint8_t first = value.count > 0 ? value.bytes[0] : 0xc0;
    if (first >= 0xa0 && first < 0xc0) {
        *out = span_of(value.bytes + 1, first & 0x1fu);
        return value.count > out->count;
    }
    struct wire_head head;
    if (first < 0xd9 || first > 0xdb || !wire_head_parse(value.bytes, value.count, &head)) {
        return false;
    }
    *out = span_of(head.body, head.number);
    return true;
}

/* At the first element of a container of that kind; nothing is left to walk when it is none. */
static inline struct wire_map_walk begin(struct span value, enum wire_kind kind)
{
    struct wire_head head;
    uint8_t first = value.count > 0 ? value.bytes[0] : 0;
    if ((first & 0xf0) == (kind == WIRE_KIND_MAP ? 0x80 : 0x90)) { /* up to 15 of them */
        return (struct wire_map_walk){{value.bytes + 1, value.bytes + value.count}, first & 0x0fu};
    }
    if (!wire_head_parse(value.bytes, value.count, &head) || head.kind != kind) {
        return (struct wire_map_walk){0};
    }
    return (struct wire_map_walk){{head.body, value.bytes + value.count}, (uint32_t)head.number};
}

struct wire_map_walk wire_map_begin(struct span map)
{
    return begin(map, WIRE_KIND_MAP);
}

struct wire_map_walk wire_array_begin(struct span array)
{
    return begin(array, WIRE_KIND_ARRAY);
}

bool wire_map_next(struct wire_map_walk *walk, struct span *key_text, struct span *value)
{
    struct wire_value key;
    if (walk->left == 0 || wire_read(&walk->cursor, &key) != RESULT_OK || key.type != WIRE_STRING ||
        wire_take(&walk->cursor, value) != RESULT_OK) {
        walk->left = 0;
        return false;
    }
    walk->left--;
    *key_text = key.as.text;
    return true;
}

bool wire_array_next(struct wire_map_walk *walk, struct span *value)
{
    if (walk->left == 0 || wire_take(&walk->cursor, value) != RESULT_OK) {
        walk->left = 0;
        return false;
    }
    walk->left--;
    return true;
}

/* The key at `next`, which must be a string; the place behind it, or NULL. */
static inline const uint8_t *read_key(const uint8_t *next, const uint8_t *end, struct span *key)
{
    size_t room = (size_t)(end - next);
    if (__builtin_expect(room > 0 && next[0] >= 0xa0 && next[0] < 0xc0, 1)) {
        *key = span_of(next + 1, next[0] & 0x1f);
        return room > key->count ? next + 1 + key->count : NULL;
    }
    struct wire_head head;
    if (!wire_head_parse(next, room, &head) || head.kind != WIRE_KIND_STRING) {
        return NULL;
    }
    *key = span_of(head.body, head.number);
    return next + head.bytes;
}

/* Most names of the same length differ in their first or last byte. */
static inline bool is_key(struct span name, struct span key)
{
    size_t count = key.count;
    return name.count == count && (count == 0 || (name.bytes[0] == key.bytes[0] &&
                                                  name.bytes[count - 1] == key.bytes[count - 1] &&
                                                  memcmp(name.bytes, key.bytes, count) == 0));
}

/* The next key and value of a map, of any form; NULL when there is none. */
static inline const uint8_t *next_member(const uint8_t *next, const uint8_t *end, struct span *name,
                                         const uint8_t **value)
{
    *value = read_key(next, end, name);
    return *value == NULL ? NULL : behind_any(*value, end);
}

/* One of 64 sieve holes, by length and first byte: most members fall through no key's. */
static inline unsigned hole_of(size_t count, uint8_t first)
{
    return (first + 5u * (unsigned)count) & 63u;
}

static inline uint64_t sieve_of(const struct span *keys, size_t count)
{
    uint64_t sieve = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].count == 0) {
            return UINT64_MAX; /* it has no first byte: every member is looked at */
        }
        sieve |= UINT64_C(1) << hole_of(keys[i].count, keys[i].bytes[0]);
    }
    return sieve;
}

/* A key of up to 31 bytes with its head, and the two bytes of a value that short_end reads. */
#define HOP_BYTES 34u

/*
 * Hops over short members whose keys fall through the sieve, to the first that deserves a look;
 * `bytes` are those of the members. What it returns may be behind the end, where the last breaks
 * off.
 */
static inline size_t hop(struct span bytes, size_t at, uint64_t sieve, uint32_t *left)
{
    size_t end = bytes.count < HOP_BYTES ? 0 : bytes.count - HOP_BYTES + 1;
    uint32_t still = *left;
    while (still > 0 && at < end) {
        size_t key_bytes = (size_t)bytes.bytes[at] - 0xa0;
        if (key_bytes > 31 || (sieve >> hole_of(key_bytes, bytes.bytes[at + 1]) & 1) != 0) {
            break;
        }
        size_t behind = short_end(bytes.bytes, at + 1 + key_bytes);
        if (behind == 0) {
            break;
        }
        at = behind;
        still--;
    }
    *left = still;
    return at;
}

struct span wire_find(struct span map, struct span key)
{
    struct span found = SPAN_EMPTY;
    wire_find_all(map, &key, &found, 1);
    return found;
}

void wire_find_all(struct span map, const struct span *keys, struct span *values, size_t count)
{
    struct wire_map_walk walk = wire_map_begin(map);
    struct span bytes = span_of(walk.cursor.next, (size_t)(walk.cursor.end - walk.cursor.next));
    uint64_t sieve = sieve_of(keys, count);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = SPAN_EMPTY;
    }
    while ((at = hop(bytes, at, sieve, &walk.left)) < bytes.count && walk.left > 0) {
        struct span name;
        const uint8_t *value;
        const uint8_t *next =
            next_member(bytes.bytes + at, bytes.bytes + bytes.count, &name, &value);
        if (next == NULL) {
            break;
        }
        for (size_t i = 0; i < count; i++) {
            if (is_key(name, keys[i])) {
                values[i] = span_of(value, (size_t)(next - value));
            }
        }
        at = (size_t)(next - bytes.bytes);
        walk.left--;
    }
}

struct span wire_find_text(struct span map, const char *key)
{
    return wire_find(map, span_text(key));
}

struct span wire_at(struct span array, uint32_t index)
{
    struct wire_map_walk walk = wire_array_begin(array);
    struct span value;
    if (index >= walk.left) {
        return SPAN_EMPTY;
    }
    for (; index > 0; index--) {
        if (wire_skip(&walk.cursor) != RESULT_OK) {
            return SPAN_EMPTY;
        }
    }
    return wire_take(&walk.cursor, &value) == RESULT_OK ? value : SPAN_EMPTY;
}

uint32_t wire_count(struct span value)
{
    struct wire_value head = wire_head(value);
    return head.type == WIRE_ARRAY || head.type == WIRE_MAP ? head.as.count : 0;
}

struct span wire_string_or(struct span value, const char *fallback)
{
    struct wire_value head = wire_head(value);
    return head.type == WIRE_STRING ? head.as.text : span_text(fallback);
}

int64_t wire_int_or(struct span value, int64_t fallback)
{
    struct wire_value head = wire_head(value);
    return head.type == WIRE_INT ? head.as.integer : fallback;
}

bool wire_bool_or(struct span value, bool fallback)
{
    struct wire_value head = wire_head(value);
    return head.type == WIRE_BOOL ? head.as.boolean : fallback;
}
