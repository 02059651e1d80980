/*
 * fields.c: see fields.h.
 */
#include "engine/fields.h"

#include "proto/base/text.h"
#include "proto/wire/writer.h"

void engine_fields_read(struct span map, const struct span *names, uint32_t count, struct span *out)
{
    struct wire_map_walk walk = wire_map_begin(map);
    struct span key, value;
    uint32_t hint = 0;
    memset(out, 0, count * sizeof out[0]);
    while (wire_map_next(&walk, &key, &value)) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = hint + i < count ? hint + i : hint + i - count;
            if (span_equal(key, names[at])) {
                out[at] = value;
                hint = at + 1 < count ? at + 1 : 0;
                break;
            }
        }
    }
}

struct span engine_fields_single(struct arena *arena, struct span key, struct span value)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, key.count + value.count + 16);
    wire_write_map(&writer, 1);
    wire_write_string(&writer, key);
    wire_write_value(&writer, value);
    return wire_writer_span(&writer);
}

bool engine_fields_uint(struct span value, uint64_t fallback, uint64_t most, uint64_t *out)
{
    struct wire_value head = wire_head(value);
    *out = fallback;
    if (value.count == 0) {
        return true;
    }
    if (head.type == WIRE_UINT) {
        *out = head.as.unsigned_integer;
    } else if (head.type == WIRE_INT && head.as.integer >= 0) {
        *out = (uint64_t)head.as.integer;
    } else {
        return false;
    }
    return *out <= most;
}

bool engine_fields_time(struct span value, int64_t fallback, int64_t *out)
{
    *out = fallback;
    if (value.count == 0) {
        return true;
    }
    return wire_is(value, WIRE_STRING) &&
           text_parse_time(wire_string_or(value, ""), out) == RESULT_OK;
}

bool engine_fields_is(struct span value, enum wire_type type)
{
    return value.count == 0 || wire_is(value, type);
}
