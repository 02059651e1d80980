/*
 * value.h: what an expression computes with. 24 bytes, passed by value.
 *
 * A value that comes from a payload stays UNREAD (its MessagePack bytes, borrowed) until an
 * operator needs it: a path that is handed on unchanged costs nothing and keeps its bytes, a
 * decimal as it was written included. Lists and contexts are either read in place (is_wire) or
 * built in the evaluation's arena.
 */
#ifndef ENGINE_EXPRESSION_VALUE_H
#define ENGINE_EXPRESSION_VALUE_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/wire/reader.h"

struct engine_zone;
struct expression_closure;

enum expression_type {
    VALUE_NULL,
    VALUE_BOOLEAN,
    VALUE_NUMBER,
    VALUE_STRING,
    VALUE_LIST,
    VALUE_CONTEXT,
    VALUE_RANGE,
    VALUE_DATE,
    VALUE_TIME,
    VALUE_DATE_TIME,
    VALUE_MONTHS,   /* a years and months duration */
    VALUE_DURATION, /* a days and time duration */
    VALUE_FUNCTION,
    VALUE_ABSENT, /* an optional argument that was not given, or an open end of a range */
    VALUE_UNREAD, /* bytes of a payload, not looked at yet */
};

/* What a TIME or DATE_TIME is local to. */
enum expression_zone_kind {
    ZONE_NONE,   /* nothing: it is local wherever it is read */
    ZONE_OFFSET, /* as.moment.offset_s seconds east of UTC */
    ZONE_NAMED,  /* as.moment.zone */
};

/* A zone of the IANA database, by its name; lives in the evaluation's arena. */
struct expression_zone {
    struct span name;
    const struct engine_zone *rules;
};

struct expression_moment {
    int64_t seconds; /* DATE_TIME: local, since 1970-01-01T00:00:00; TIME: local, since midnight;
                        DURATION: rounded down */
    union {
        int64_t offset_s;
        const struct expression_zone *zone;
    };
};

/* IEEE 754 decimal128 in binary integer encoding; always finite. Only number.c looks inside. */
struct expression_decimal {
    uint64_t words[2];
};

struct expression_value {
    enum expression_type type : 8;
    bool is_decimal : 1; /* NUMBER: as.decimal rather than as.integer */
    bool is_wire : 1;    /* LIST, CONTEXT: as.wire rather than as.items, as.entries */
    enum expression_zone_kind zone : 2; /* TIME, DATE_TIME */
    uint32_t count; /* LIST, CONTEXT: members; TIME, DATE_TIME, DURATION: nanoseconds */
    union {
        bool boolean;
        int64_t integer;
        struct expression_decimal decimal;
        struct span text;
        struct span wire; /* one MessagePack object; also UNREAD */
        const struct expression_value *items;
        const struct expression_entry *entries;
        const struct expression_range *range;
        const struct expression_closure *closure;
        int64_t days;   /* DATE: since 1970-01-01 */
        int64_t months; /* MONTHS */
        struct expression_moment moment;
    } as;
};

struct expression_entry {
    struct span key;
    struct expression_value value;
};

struct expression_range {
    struct expression_value
        low; /* ABSENT: no end on this side; NULL: an end that was written as null */
    struct expression_value high;
    bool low_included;
    bool high_included;
};

static inline struct expression_value expression_null(void)
{
    return (struct expression_value){.type = VALUE_NULL};
}

static inline struct expression_value expression_absent(void)
{
    return (struct expression_value){.type = VALUE_ABSENT};
}

static inline struct expression_value expression_boolean(bool boolean)
{
    return (struct expression_value){.type = VALUE_BOOLEAN, .as.boolean = boolean};
}

static inline struct expression_value expression_integer(int64_t integer)
{
    return (struct expression_value){.type = VALUE_NUMBER, .as.integer = integer};
}

static inline struct expression_value expression_string(struct span text)
{
    return (struct expression_value){.type = VALUE_STRING, .as.text = text};
}

static inline struct expression_value expression_list(const struct expression_value *items,
                                                      uint32_t count)
{
    return (struct expression_value){.type = VALUE_LIST, .count = count, .as.items = items};
}

static inline struct expression_value expression_context(const struct expression_entry *entries,
                                                         uint32_t count)
{
    return (struct expression_value){.type = VALUE_CONTEXT, .count = count, .as.entries = entries};
}

static inline struct expression_value expression_unread(struct span wire)
{
    return (struct expression_value){.type = VALUE_UNREAD, .as.wire = wire};
}

static inline bool expression_is_temporal(struct expression_value value)
{
    return value.type >= VALUE_DATE && value.type <= VALUE_DURATION;
}

static inline bool expression_is_true(struct expression_value value)
{
    return value.type == VALUE_BOOLEAN && value.as.boolean;
}

/* Private to the next: all forms of a value. */
struct expression_value expression_value_of_long_wire(struct span wire);

/* What the bytes of a payload say; null for binary, foreign extensions, NaN and what is no number.
 * Short texts and contexts, small integers and booleans without a call. */
static inline struct expression_value expression_value_of_wire(struct span wire)
{
    uint8_t first = wire.count > 0 ? wire.bytes[0] : 0xc0;
    if (first < 0x80 || first >= 0xe0) {
        return expression_integer((int8_t)first);
    }
    if (first >= 0xa0 && first < 0xc0 && wire.count > (first & 0x1fu)) {
        return expression_string(span_of(wire.bytes + 1, first & 0x1f));
    }
    if (first == 0xc2 || first == 0xc3) {
        return expression_boolean(first == 0xc3);
    }
    if (first < 0x90) {
        return (struct expression_value){
            .type = VALUE_CONTEXT, .is_wire = true, .count = first & 0x0f, .as.wire = wire};
    }
    return expression_value_of_long_wire(wire);
}

/* The value itself, read if it was not. Everything below takes values that were read. */
static inline struct expression_value expression_value_read(struct expression_value value)
{
    return value.type == VALUE_UNREAD ? expression_value_of_wire(value.as.wire) : value;
}

/* "number", "string", …: for messages. */
const char *expression_type_name(enum expression_type type);

/* Entry of a CONTEXT, perhaps unread; false when there is none. */
bool expression_value_find(struct expression_value context, struct span key,
                           struct expression_value *out);
/* Member of a LIST by index from 0, perhaps unread; false when out of range. */
bool expression_value_at(struct expression_value list, uint32_t index,
                         struct expression_value *out);

/* Walks the members of a LIST or the entries of a CONTEXT. */
struct expression_walk {
    struct expression_value of;
    uint32_t index; /* of the next member */
    struct wire_map_walk wire;
};

struct expression_walk expression_walk(struct expression_value container);
/* The next member, perhaps unread; false at the end. */
bool expression_walk_next(struct expression_walk *walk, struct expression_value *item);
/* The same, read. */
static inline bool expression_walk_item(struct expression_walk *walk, struct expression_value *item)
{
    bool more = expression_walk_next(walk, item);
    if (more) {
        *item = expression_value_read(*item);
    }
    return more;
}
/* The next entry, its value perhaps unread; false at the end. */
bool expression_walk_entry(struct expression_walk *walk, struct expression_entry *entry);

/* A list under construction; grows in the arena. */
struct expression_builder {
    struct arena *arena;
    struct expression_value *items;
    uint32_t count;
    uint32_t capacity;
};

/* A full arena drops the item and is latched there. */
void expression_builder_add(struct expression_builder *builder, struct expression_value item);
struct expression_value expression_builder_list(const struct expression_builder *builder);

/*
 * One MessagePack object. Unread values are borrowed as they are. A number is an int where it is
 * integral and fits 64 bits, else a decimal in plain spelling; dates, times and durations become
 * their ISO 8601 texts (engine.md 6), a range a context of its ends, a function null.
 * RESULT_LIMIT: nested deeper than LIMIT_DEPTH, or a full arena.
 */
MUST_USE enum result expression_value_encode(struct expression_value value, struct arena *arena,
                                             struct span *out);

#endif
