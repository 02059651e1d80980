/*
 * event.c: the journal form of events: one ARRAY each, [type, mask, the fields of the mask in
 * order]. Fields that are zero are left out, since most events use three or four of them.
 */
#include "engine/event.h"

#include "engine/apply.h"
#include "engine/decode.h"
#include "engine/pack.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* Bits of the mask; append only. */
enum event_bit {
    BIT_TOKEN,
    BIT_SCOPE,
    BIT_NODE,
    BIT_FLOW,
    BIT_OTHER,
    BIT_COUNT,
    BIT_FLAGS,
    BIT_AT,
    BIT_TEXT,
    BIT_VALUE,
    BIT_MORE,
    BIT_END
};

static const size_t number_offsets[] = {
    [BIT_TOKEN] = offsetof(struct engine_event, token),
    [BIT_SCOPE] = offsetof(struct engine_event, scope),
    [BIT_NODE] = offsetof(struct engine_event, node),
    [BIT_FLOW] = offsetof(struct engine_event, flow),
    [BIT_OTHER] = offsetof(struct engine_event, other),
    [BIT_COUNT] = offsetof(struct engine_event, count),
    [BIT_FLAGS] = offsetof(struct engine_event, flags),
};

enum { NUMBER_COUNT = sizeof number_offsets / sizeof number_offsets[0] };

const char *engine_event_name(enum engine_event_type type)
{
    static const char *const names[ENGINE_EVENT_TYPE_COUNT] = {
        [ENGINE_EVENT_NONE] = "none",
#define ENGINE_EVENT(symbol, trace) [ENGINE_EVENT_##symbol] = trace,
#include "engine/event.def"
#undef ENGINE_EVENT
    };
    ASSERT(type < ENGINE_EVENT_TYPE_COUNT);
    return names[type];
}

static uint32_t number_of(const struct engine_event *event, unsigned bit)
{
    uint32_t number;
    memcpy(&number, (const uint8_t *)event + number_offsets[bit], sizeof number);
    return number;
}

static void encode_event(const struct engine_event *event, struct wire_writer *writer)
{
    unsigned mask = 0;
    uint32_t count = 0;
    for (unsigned bit = 0; bit < NUMBER_COUNT; bit++) {
        mask |= (number_of(event, bit) != 0 ? 1u : 0u) << bit;
    }
    mask |= (event->at_ms != 0 ? 1u : 0u) << BIT_AT;
    mask |= (event->text.count > 0 ? 1u : 0u) << BIT_TEXT;
    mask |= (event->value.count > 0 ? 1u : 0u) << BIT_VALUE;
    mask |= (event->more.count > 0 ? 1u : 0u) << BIT_MORE;
    for (unsigned bit = 0; bit < BIT_END; bit++) {
        count += mask >> bit & 1;
    }
    wire_write_array(writer, 2 + count);
    engine_pack_uint(writer, event->type);
    engine_pack_uint(writer, mask);
    for (unsigned bit = 0; bit < NUMBER_COUNT; bit++) {
        if ((mask >> bit & 1) != 0) {
            engine_pack_uint(writer, number_of(event, bit));
        }
    }
    if (event->at_ms != 0) {
        wire_write_int(writer, event->at_ms);
    }
    if (event->text.count > 0) {
        engine_pack_string(writer, event->text);
    }
    engine_pack_raw(writer, event->value);
    engine_pack_raw(writer, event->more);
}

void engine_events_encode(const struct engine_event *events, uint32_t count,
                          struct wire_writer *writer)
{
    for (uint32_t i = 0; i < count; i++) {
        encode_event(&events[i], writer);
    }
}

/* ---- back ---- */

static bool read_number(struct wire_cursor *cursor, uint32_t *out)
{
    struct wire_value value;
    if (wire_read(cursor, &value) != RESULT_OK || value.type != WIRE_INT || value.as.integer < 0 ||
        value.as.integer > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)value.as.integer;
    return true;
}

static bool read_numbers(struct wire_cursor *cursor, uint32_t mask, struct engine_event *event)
{
    for (unsigned bit = 0; bit < NUMBER_COUNT; bit++) {
        uint32_t number = 0;
        if ((mask >> bit & 1) != 0 && !read_number(cursor, &number)) {
            return false;
        }
        memcpy((uint8_t *)event + number_offsets[bit], &number, sizeof number);
    }
    return true;
}

static bool read_spans(struct wire_cursor *cursor, uint32_t mask, struct engine_event *event)
{
    struct wire_value value;
    if ((mask >> BIT_AT & 1) != 0) {
        if (wire_read(cursor, &value) != RESULT_OK || value.type != WIRE_INT) {
            return false;
        }
        event->at_ms = value.as.integer;
    }
    if ((mask >> BIT_TEXT & 1) != 0) {
        if (wire_read(cursor, &value) != RESULT_OK || value.type != WIRE_STRING) {
            return false;
        }
        event->text = value.as.text;
    }
    return ((mask >> BIT_VALUE & 1) == 0 || wire_take(cursor, &event->value) == RESULT_OK) &&
           ((mask >> BIT_MORE & 1) == 0 || wire_take(cursor, &event->more) == RESULT_OK);
}

static enum result decode_event(struct wire_cursor *cursor, struct engine_event *event)
{
    struct wire_value head;
    uint32_t type, mask;
    memset(event, 0, sizeof *event);
    if (wire_read(cursor, &head) != RESULT_OK || head.type != WIRE_ARRAY || head.as.count < 2 ||
        !read_number(cursor, &type) || type == ENGINE_EVENT_NONE ||
        type >= ENGINE_EVENT_TYPE_COUNT || !read_number(cursor, &mask) || mask >> BIT_END != 0) {
        return RESULT_CORRUPT;
    }
    event->type = (enum engine_event_type)type;
    return read_numbers(cursor, mask, event) && read_spans(cursor, mask, event) ? RESULT_OK
                                                                                : RESULT_CORRUPT;
}

enum result engine_replay(const struct engine_catalog *catalog, struct span events, uint64_t first,
                          struct engine_execution **execution)
{
    struct wire_cursor cursor = wire_cursor(events);
    for (uint64_t number = first; cursor.next < cursor.end; number++) {
        struct engine_event event;
        enum result result = decode_event(&cursor, &event);
        if (result == RESULT_OK && *execution == NULL) {
            result = number == 1 && event.type == ENGINE_EVENT_CREATED
                         ? engine_decode_start(catalog, event.value, event.at_ms, execution)
                         : RESULT_CORRUPT;
        }
        if (result != RESULT_OK) {
            return result;
        }
        if (number <= (*execution)->event_sequence) {
            continue; /* a snapshot behind this event has it already */
        }
        if (number != (*execution)->event_sequence + 1) {
            return RESULT_CORRUPT;
        }
        result = engine_apply(*execution, &event);
        if (result != RESULT_OK) {
            return result;
        }
        engine_execution_tidy(*execution);
    }
    if (*execution != NULL) {
        engine_execution_refresh_due(*execution);
    }
    return RESULT_OK;
}
