/*
 * world_look.c: what a test sees of its world.
 */
#include <stdio.h>

#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/conformance/world_checks.h"

static const char *json_of(struct world *world, struct span value)
{
    struct span text;
    if (value.count == 0) {
        return "";
    }
    enum result result = json_from_wire(value, JSON_COMPACT, &world->arena, &text);
    ASSERT(result == RESULT_OK);
    return (const char *)arena_copy(&world->arena, text).bytes;
}

static const char *text_of(struct world *world, const struct wire_writer *writer)
{
    struct span text = writer->count > 0 ? span_of(writer->bytes, writer->count - 1)
                                         : SPAN_EMPTY; /* without a last blank */
    return (const char *)arena_copy(&world->arena, text).bytes;
}

const char *world_trace(struct world *world)
{
    struct wire_writer steps, text;
    struct span entry;
    wire_writer_init(&steps, &world->arena, 4096);
    engine_steps(world->execution, &steps);
    wire_writer_init(&text, &world->arena, 1024);
    struct wire_map_walk walk = wire_array_begin(wire_writer_span(&steps));
    while (wire_array_next(&walk, &entry)) {
        wire_write_raw(&text, wire_string_or(wire_find_text(entry, "taskId"), "?"));
        wire_write_raw(&text, span_text(" "));
    }
    return text_of(world, &text);
}

const char *world_waiting(struct world *world)
{
    struct wire_writer pairs, text;
    struct span entry;
    wire_writer_init(&pairs, &world->arena, 1024);
    size_t mark = wire_open_map(&pairs);
    uint32_t count = engine_reply_pairs(world->execution, &pairs);
    wire_close_map(&pairs, mark, count);
    wire_writer_init(&text, &world->arena, 256);
    struct wire_map_walk walk =
        wire_array_begin(wire_find_text(wire_writer_span(&pairs), "waiting"));
    while (wire_array_next(&walk, &entry)) {
        wire_write_raw(&text, wire_string_or(wire_find_text(entry, "taskId"), "?"));
        wire_write_raw(&text, span_text(":"));
        wire_write_raw(&text, wire_string_or(wire_find_text(entry, "kind"), "?"));
        wire_write_raw(&text, span_text(" "));
    }
    return text_of(world, &text);
}

const char *world_open_calls(struct world *world)
{
    struct wire_writer text;
    wire_writer_init(&text, &world->arena, 256);
    for (uint32_t i = 0; i < world->call_count; i++) {
        if (world->calls[i].open) {
            wire_write_raw(&text, world->calls[i].task_id);
            wire_write_raw(&text, span_text(" "));
        }
    }
    return text_of(world, &text);
}

uint8_t world_state(const struct world *world)
{
    struct engine_view view;
    engine_look(world->execution, &view);
    return view.state;
}

const char *world_lifecycle(const struct world *world)
{
    struct engine_view view;
    engine_look(world->execution, &view);
    return engine_lifecycle_name(view.lifecycle);
}

static struct span error_part(struct world *world, const char *key)
{
    struct wire_writer pairs;
    wire_writer_init(&pairs, &world->arena, 1024);
    size_t mark = wire_open_map(&pairs);
    uint32_t count = engine_reply_pairs(world->execution, &pairs);
    wire_close_map(&pairs, mark, count);
    return arena_copy(
        &world->arena,
        wire_string_or(wire_find_text(wire_find_text(wire_writer_span(&pairs), "error"), key), ""));
}

const char *world_error(struct world *world)
{
    return (const char *)error_part(world, "code").bytes;
}
const char *world_error_message(struct world *world)
{
    return (const char *)error_part(world, "message").bytes;
}

static struct span follow(struct span value, const char *path)
{
    while (*path != '\0' && value.count > 0) {
        size_t count = strcspn(path, ".");
        value = wire_find(value, span_of(path, count));
        path += count + (path[count] == '.');
    }
    return value;
}

const char *world_value(struct world *world, const char *path)
{
    return json_of(world, follow(world_encoded(world->execution, &world->arena), path));
}

const char *world_call_value(struct world *world, const char *task_id, const char *path)
{
    for (uint32_t i = world->call_count; i > 0; i--) {
        if (span_is(world->calls[i - 1].task_id, task_id)) {
            return json_of(world, follow(world->calls[i - 1].call.body, path));
        }
    }
    return "";
}

bool world_logged(struct world *world, const char *text)
{
    struct span entry;
    struct wire_map_walk walk =
        wire_array_begin(wire_find_text(world_encoded(world->execution, &world->arena), "logs"));
    while (wire_array_next(&walk, &entry)) {
        struct span message = wire_string_or(wire_find_text(entry, "message"), "");
        if (memmem(message.bytes, message.count, text, strlen(text)) != NULL) {
            return true;
        }
    }
    return false;
}
const char *world_subscriptions(struct world *world)
{
    struct wire_writer writer;
    char text[1024] = "";
    size_t used = 0;
    wire_writer_init(&writer, &world->arena, 256);
    uint32_t count = engine_subscriptions(world->execution, &writer);
    struct wire_cursor cursor = wire_cursor(wire_writer_span(&writer));
    struct span entry;
    for (uint32_t i = 0; i < count && wire_take(&cursor, &entry) == RESULT_OK; i++) {
        struct span key = wire_string_or(wire_find_text(entry, "correlationKey"), "");
        int length =
            snprintf(text + used, sizeof text - used, "%s%.*s:%.*s:%.*s%s%.*s", i > 0 ? " " : "",
                     SPAN_ARG(wire_string_or(wire_find_text(entry, "taskId"), "")),
                     SPAN_ARG(wire_string_or(wire_find_text(entry, "kind"), "")),
                     SPAN_ARG(wire_string_or(wire_find_text(entry, "name"), "")),
                     key.count > 0 ? "/" : "", SPAN_ARG(key));
        used += (size_t)length;
        ASSERT(used < sizeof text);
    }
    return (const char *)arena_format(&world->arena, "%s", text).bytes;
}

const char *world_blocks(struct world *world)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &world->arena, 256);
    return engine_blocks(world->execution, &writer) ? json_of(world, wire_writer_span(&writer))
                                                    : "";
}
