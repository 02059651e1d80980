/* value.c: reading values from MessagePack in place, walking them, and writing results. */
#include "engine/expression/value.h"

#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/writer.h"

#define BUILDER_CAPACITY_FIRST 8u
#define ENCODE_CAPACITY_FIRST  64u

static enum result encode(struct wire_writer *writer, struct expression_value value,
                          unsigned depth);

static struct expression_value container(enum expression_type type, struct span wire,
                                         uint32_t count)
{
    return (struct expression_value){
        .type = type, .is_wire = true, .count = count, .as.wire = wire};
}

struct expression_value expression_value_of_long_wire(struct span wire)
{
    struct wire_value head = wire_head(wire);
    struct expression_value number;
    switch (head.type) {
    case WIRE_BOOL:
        return expression_boolean(head.as.boolean);
    case WIRE_INT:
        return expression_integer(head.as.integer);
    case WIRE_UINT:
        return expression_number_of_unsigned(head.as.unsigned_integer);
    case WIRE_FLOAT:
        return expression_number_of_real(head.as.real, &number) ? number : expression_null();
    case WIRE_DECIMAL:
        return expression_number_parse(head.as.text, &number) ? number : expression_null();
    case WIRE_STRING:
        return expression_string(head.as.text);
    case WIRE_ARRAY:
        return container(VALUE_LIST, wire, head.as.count);
    case WIRE_MAP:
        return container(VALUE_CONTEXT, wire, head.as.count);
    case WIRE_NIL:
    case WIRE_BINARY:
    case WIRE_EXT:
        break;
    }
    return expression_null();
}

const char *expression_type_name(enum expression_type type)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",
        [VALUE_BOOLEAN] = "boolean",
        [VALUE_NUMBER] = "number",
        [VALUE_STRING] = "string",
        [VALUE_LIST] = "list",
        [VALUE_CONTEXT] = "context",
        [VALUE_RANGE] = "range",
        [VALUE_ABSENT] = "nothing",
        [VALUE_UNREAD] = "unread",
        [VALUE_DATE] = "date",
        [VALUE_TIME] = "time",
        [VALUE_DATE_TIME] = "date and time",
        [VALUE_MONTHS] = "years and months duration",
        [VALUE_DURATION] = "days and time duration",
        [VALUE_FUNCTION] = "function",
    };
    return names[type];
}

bool expression_value_find(struct expression_value context, struct span key,
                           struct expression_value *out)
{
    ASSERT(context.type == VALUE_CONTEXT);
    if (context.is_wire) {
        *out = expression_unread(wire_find(context.as.wire, key));
        return out->as.wire.count > 0;
    }
    for (uint32_t i = 0; i < context.count; i++) {
        if (span_equal(context.as.entries[i].key, key)) {
            *out = context.as.entries[i].value;
            return true;
        }
    }
    return false;
}

bool expression_value_at(struct expression_value list, uint32_t index, struct expression_value *out)
{
    ASSERT(list.type == VALUE_LIST);
    if (index >= list.count) {
        return false;
    }
    *out = list.is_wire ? expression_unread(wire_at(list.as.wire, index)) : list.as.items[index];
    return true;
}

struct expression_walk expression_walk(struct expression_value of)
{
    ASSERT(of.type == VALUE_LIST || of.type == VALUE_CONTEXT);
    struct expression_walk walk = {.of = of};
    if (of.is_wire) {
        walk.wire =
            of.type == VALUE_LIST ? wire_array_begin(of.as.wire) : wire_map_begin(of.as.wire);
    }
    return walk;
}

bool expression_walk_next(struct expression_walk *walk, struct expression_value *item)
{
    ASSERT(walk->of.type == VALUE_LIST);
    if (walk->of.is_wire) {
        *item = (struct expression_value){.type = VALUE_UNREAD};
        return wire_array_next(&walk->wire, &item->as.wire);
    }
    if (walk->index >= walk->of.count) {
        return false;
    }
    *item = walk->of.as.items[walk->index++];
    return true;
}

bool expression_walk_entry(struct expression_walk *walk, struct expression_entry *entry)
{
    ASSERT(walk->of.type == VALUE_CONTEXT);
    if (walk->of.is_wire) {
        entry->value = (struct expression_value){.type = VALUE_UNREAD};
        return wire_map_next(&walk->wire, &entry->key, &entry->value.as.wire);
    }
    if (walk->index >= walk->of.count) {
        return false;
    }
    *entry = walk->of.as.entries[walk->index++];
    return true;
}

void expression_builder_add(struct expression_builder *builder, struct expression_value item)
{
    if (builder->count == builder->capacity) {
        uint32_t capacity = builder->capacity == 0 ? BUILDER_CAPACITY_FIRST : builder->capacity * 2;
        struct expression_value *items =
            arena_grow(builder->arena, builder->items, builder->capacity * sizeof *items,
                       capacity * sizeof *items);
        if (items == NULL) {
            return;
        }
        builder->items = items;
        builder->capacity = capacity;
    }
    builder->items[builder->count++] = item;
}

struct expression_value expression_builder_list(const struct expression_builder *builder)
{
    return expression_list(builder->items, builder->count);
}

static void encode_number(struct wire_writer *writer, struct expression_value number)
{
    int64_t integer;
    uint64_t above;
    if (expression_number_to_integer(number, &integer)) {
        wire_write_int(writer, integer);
    } else if (expression_number_to_unsigned(number, &above)) {
        wire_write_uint(writer, above);
    } else {
        char text[EXPRESSION_NUMBER_TEXT_BYTES];
        wire_write_decimal(writer, span_of(text, expression_number_format(number, text)));
    }
}

static void encode_temporal(struct wire_writer *writer, struct expression_value value)
{
    char text[EXPRESSION_TEMPORAL_TEXT_BYTES];
    wire_write_string(writer, span_of(text, expression_temporal_format(value, text)));
}

static void encode_end(struct wire_writer *writer, struct expression_value end)
{
    if (end.type == VALUE_NULL || end.type == VALUE_ABSENT) {
        wire_write_nil(writer);
    } else if (encode(writer, end, 1) != RESULT_OK) {
        writer->arena->overflowed = true;
    }
}

/* A range leaves the expression as a context: nothing outside knows ranges. */
static void encode_range(struct wire_writer *writer, const struct expression_range *range)
{
    wire_write_map(writer, 4);
    wire_write_text(writer, "start");
    encode_end(writer, range->low);
    wire_write_text(writer, "end");
    encode_end(writer, range->high);
    wire_pair_bool(writer, "start included", range->low_included);
    wire_pair_bool(writer, "end included", range->high_included);
}

static enum result encode_container(struct wire_writer *writer, struct expression_value value,
                                    unsigned depth)
{
    enum result result = RESULT_OK;
    ASSERT(!value.is_wire);
    if (value.type == VALUE_LIST) {
        wire_write_array(writer, value.count);
        for (uint32_t i = 0; result == RESULT_OK && i < value.count; i++) {
            result = encode(writer, value.as.items[i], depth + 1);
        }
        return result;
    }
    wire_write_map(writer, value.count);
    for (uint32_t i = 0; result == RESULT_OK && i < value.count; i++) {
        wire_write_string(writer, value.as.entries[i].key);
        result = encode(writer, value.as.entries[i].value, depth + 1);
    }
    return result;
}

static enum result encode(struct wire_writer *writer, struct expression_value value, unsigned depth)
{
    if (depth > LIMIT_DEPTH || writer->arena->overflowed) {
        return RESULT_LIMIT;
    }
    switch (value.type) {
    case VALUE_NULL:
    case VALUE_ABSENT:
    case VALUE_FUNCTION:
        wire_write_nil(writer);
        return RESULT_OK;
    case VALUE_BOOLEAN:
        wire_write_bool(writer, value.as.boolean);
        return RESULT_OK;
    case VALUE_NUMBER:
        encode_number(writer, value);
        return RESULT_OK;
    case VALUE_STRING:
        wire_write_string(writer, value.as.text);
        return RESULT_OK;
    case VALUE_UNREAD:
        wire_write_value(writer, value.as.wire);
        return RESULT_OK;
    case VALUE_RANGE:
        encode_range(writer, value.as.range);
        return RESULT_OK;
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_DATE_TIME:
    case VALUE_MONTHS:
    case VALUE_DURATION:
        encode_temporal(writer, value);
        return RESULT_OK;
    case VALUE_LIST:
    case VALUE_CONTEXT:
        if (value.is_wire) {
            wire_write_value(writer, value.as.wire);
            return RESULT_OK;
        }
        return encode_container(writer, value, depth);
    }
    ASSERT_UNREACHABLE();
    return RESULT_INVALID;
}

enum result expression_value_encode(struct expression_value value, struct arena *arena,
                                    struct span *out)
{
    static const uint8_t nil[] = {0xc0};
    static const uint8_t booleans[] = {0xc2, 0xc3};
    bool is_container = value.type == VALUE_LIST || value.type == VALUE_CONTEXT;
    if (value.type == VALUE_UNREAD || (is_container && value.is_wire)) {
        *out = value.as.wire;
        return RESULT_OK;
    }
    if (value.type == VALUE_NULL || value.type == VALUE_BOOLEAN) {
        bool is_null = value.type == VALUE_NULL;
        *out = is_null ? span_of(nil, 1) : span_of(&booleans[value.as.boolean], 1);
        return RESULT_OK;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, arena, ENCODE_CAPACITY_FIRST);
    enum result result = encode(&writer, value, 1);
    *out = wire_writer_span(&writer);
    if (result == RESULT_OK && (arena->overflowed || out->count == 0)) {
        result = RESULT_LIMIT;
    }
    if (result == RESULT_OK && is_container) {
        /* Parts that were borrowed bring their own depth: the whole must keep the limit that all
         * payloads keep. */
        size_t offset;
        const char *reason;
        result = wire_validate(*out, LIMIT_DEPTH, &offset, &reason);
    }
    return result;
}
