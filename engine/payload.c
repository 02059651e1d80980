/*
 * payload.c: see payload.h.
 */
#include "engine/payload.h"

#include "engine/fields.h"
#include "engine/pack.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

static void merge_into(struct engine_execution *execution, struct span *payload, struct span over)
{
    if (wire_is(over, WIRE_MAP)) {
        *payload = wire_merge(&execution->memory, *payload, over);
    }
}

/* The part of `over` whose keys `variables` holds (or does not hold), as a MAP; empty when there is
 * none. */
static struct span part_of(struct arena *arena, struct span over, struct span variables, bool held)
{
    struct wire_writer writer;
    struct span key, value;
    uint32_t count = 0;
    wire_writer_init(&writer, arena, over.count + 8);
    size_t mark = wire_open_map(&writer);
    struct wire_map_walk walk = wire_map_begin(over);
    while (wire_map_next(&walk, &key, &value)) {
        if ((wire_find(variables, key).count > 0) == held) {
            wire_write_string(&writer, key);
            wire_write_raw(&writer, value);
            count++;
        }
    }
    wire_close_map(&writer, mark, count);
    return count == 0 ? SPAN_EMPTY : wire_writer_span(&writer);
}

/* Changes those of the keys that `variables` holds; what is left is returned. */
static struct span merge_held(struct engine_execution *execution, struct span *variables,
                              struct span over)
{
    struct span held = variables->count == 0 || over.count == 0
                           ? SPAN_EMPTY
                           : part_of(&execution->memory, over, *variables, true);
    if (held.count == 0) {
        return over;
    }
    over = part_of(&execution->memory, over, *variables, false);
    merge_into(execution, variables, held);
    return over;
}

/* From the token outward: a variable is changed where it is, all others belong to the process. */
static void merge_variables(struct engine_execution *execution, struct engine_scope *scope,
                            struct engine_token *token, struct span over)
{
    if (token != NULL) {
        over = merge_held(execution, &token->own, over);
    }
    for (; engine_scope_is_inner(scope) && over.count > 0;
         scope = engine_scope_find(execution, scope->parent)) {
        struct engine_token *host = engine_token_find(execution, scope->host);
        over = merge_held(execution, &scope->variables, over);
        over = host == NULL ? over : merge_held(execution, &host->own, over);
    }
    if (over.count > 0) {
        merge_into(execution, &engine_scope_of_process(execution, scope)->variables, over);
    }
}

void engine_payload_merge(struct engine_execution *execution, struct engine_scope *scope,
                          struct engine_token *token, enum engine_payload payload, struct span over)
{
    switch (payload) {
    case ENGINE_PAYLOAD_REQUEST:
        merge_into(execution, &execution->request, over);
        break;
    case ENGINE_PAYLOAD_RESPONSE:
        merge_into(execution, &execution->response, over);
        break;
    case ENGINE_PAYLOAD_CONTEXT:
        merge_into(execution, &execution->context, over);
        break;
    case ENGINE_PAYLOAD_MODULE:
        merge_into(execution, &execution->module, over);
        break;
    case ENGINE_PAYLOAD_EXECUTION:
        if (wire_is(over, WIRE_MAP)) {
            merge_variables(execution, scope, token, over);
        }
        break;
    case ENGINE_PAYLOAD_NODES:
        merge_into(execution, &engine_scope_of_nodes(execution, scope)->nodes, over);
        break;
    case ENGINE_PAYLOAD_COUNT:
        ASSERT_UNREACHABLE();
    }
}

/* ---- logs ---- */

void engine_payload_log(struct engine_execution *execution, struct span level, struct span message,
                        struct span data, const struct engine_node *node)
{
    size_t bytes =
        128 + level.count + message.count + data.count + (node == NULL ? 0 : node->id.count);
    uint8_t *room = engine_history_room(&execution->logs, &execution->memory, bytes);
    if (room == NULL) {
        return;
    }
    /* A writer over the room: it was measured, so it never grows. */
    struct wire_writer writer = {.arena = &execution->memory, .bytes = room, .capacity = bytes};
    wire_write_map(&writer, 4u + (node != NULL) + (data.count > 0));
    ENGINE_PACK_UINT(&writer, "index", ++execution->log_last);
    ENGINE_PACK_STRING(&writer, "at", span_of(execution->now_text.text, TEXT_TIME_BYTES));
    ENGINE_PACK_STRING(&writer, "level", level);
    ENGINE_PACK_STRING(&writer, "message", message);
    if (node != NULL) {
        ENGINE_PACK_STRING(&writer, "taskId", node->id);
    }
    if (data.count > 0) {
        ENGINE_PACK_VALUE(&writer, "data", data);
    }
    ASSERT(writer.bytes == room);
    engine_history_add(&execution->logs, writer.count);
    execution->log_unshipped_bytes += writer.count;
}

void engine_payload_trim_logs(struct engine_execution *execution)
{
    while (execution->logs.count > LIMIT_HISTORY &&
           engine_history_run(&execution->logs).count > execution->log_unshipped_bytes) {
        (void)engine_history_drop(&execution->logs);
    }
}

static void merge_logs(struct engine_execution *execution, const struct engine_node *node,
                       struct span logs)
{
    struct wire_map_walk walk = wire_array_begin(logs);
    struct span entry;
    while (wire_array_next(&walk, &entry)) {
        engine_payload_log(execution, wire_string_or(wire_find_text(entry, "level"), "INFO"),
                           wire_string_or(wire_find_text(entry, "message"), ""),
                           wire_find_text(entry, "data"), node);
    }
}

/* ---- a module's reply ---- */

/* engine.md 6: conversationHistories maps a channel (or "default") to an array; a module appends to
 * it. Like all history it is bounded: the newest historyMax entries of a channel stay. */
static void append_conversation(struct engine_execution *execution, struct span added)
{
    if (!wire_is(added, WIRE_ARRAY)) {
        return;
    }
    struct span channel = execution->channel.count > 0 ? execution->channel : span_text("default");
    struct span past = wire_find(execution->conversations, channel);
    struct wire_writer writer;
    wire_writer_init(&writer, &execution->memory, past.count + added.count + 16);
    uint32_t count = wire_count(past) + wire_count(added);
    uint32_t dropped = count > LIMIT_HISTORY ? count - LIMIT_HISTORY : 0;
    wire_write_array(&writer, count - dropped);
    struct span lists[] = {past, added};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct wire_map_walk walk = wire_array_begin(lists[i]);
        struct span entry;
        while (wire_array_next(&walk, &entry)) {
            if (dropped > 0) {
                dropped--;
            } else {
                wire_write_raw(&writer, entry);
            }
        }
    }
    merge_into(execution, &execution->conversations,
               engine_fields_single(&execution->memory, channel, wire_writer_span(&writer)));
}

enum reply_part { PART_PAYLOAD, PART_OUTPUTS, PART_CONVERSATION, PART_LOGS };

static const struct {
    struct span key;
    enum reply_part part;
    enum engine_payload payload;
} reply_parts[] = {
    {ENGINE_NAME("outputs"), PART_OUTPUTS, ENGINE_PAYLOAD_NODES},
    {ENGINE_NAME("execution"), PART_PAYLOAD, ENGINE_PAYLOAD_EXECUTION},
    {ENGINE_NAME("logs"), PART_LOGS, ENGINE_PAYLOAD_COUNT},
    {ENGINE_NAME("context"), PART_PAYLOAD, ENGINE_PAYLOAD_CONTEXT},
    {ENGINE_NAME("response"), PART_PAYLOAD, ENGINE_PAYLOAD_RESPONSE},
    {ENGINE_NAME("module"), PART_PAYLOAD, ENGINE_PAYLOAD_MODULE},
    {ENGINE_NAME("request"), PART_PAYLOAD, ENGINE_PAYLOAD_REQUEST},
    {ENGINE_NAME("conversation"), PART_CONVERSATION, ENGINE_PAYLOAD_COUNT},
};

static void merge_part(struct engine_execution *execution, struct engine_token *token, size_t part,
                       struct span value)
{
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    const struct engine_node *node = &scope->process->nodes[token->node];
    switch (reply_parts[part].part) {
    case PART_PAYLOAD:
        engine_payload_merge(execution, scope, token, reply_parts[part].payload, value);
        break;
    case PART_OUTPUTS:
        if (wire_is(value, WIRE_MAP)) {
            engine_payload_merge(execution, scope, token, ENGINE_PAYLOAD_NODES,
                                 engine_fields_single(&execution->memory, node->id, value));
        }
        break;
    case PART_CONVERSATION:
        append_conversation(execution, value);
        break;
    case PART_LOGS:
        merge_logs(execution, node, value);
        break;
    }
}

static bool part_is_wanted(size_t part, uint32_t flags)
{
    bool is_execution = reply_parts[part].part == PART_PAYLOAD &&
                        reply_parts[part].payload == ENGINE_PAYLOAD_EXECUTION;
    if ((flags & ENGINE_REPLY_LOGS_ONLY) != 0) {
        return reply_parts[part].part == PART_LOGS;
    }
    return !is_execution || (flags & ENGINE_REPLY_WITHOUT_EXECUTION) == 0;
}

void engine_payload_merge_reply(struct engine_execution *execution, struct engine_token *token,
                                struct span body, uint32_t flags)
{
    struct wire_map_walk walk = wire_map_begin(body);
    struct span key, value;
    while (wire_map_next(&walk, &key, &value)) {
        for (size_t part = 0; part < sizeof reply_parts / sizeof reply_parts[0]; part++) {
            if (span_equal(key, reply_parts[part].key) && part_is_wanted(part, flags)) {
                merge_part(execution, token, part, value);
            }
        }
    }
}
