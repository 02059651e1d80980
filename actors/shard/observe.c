/*
 * observe.c: what an observer (strider run --trace, /v1/events) is told, behind the commit that
 * made it true. Nothing is encoded when nobody looks.
 */
#include "actors/shard/state.h"
#include "proto/wire/reader.h"

bool shard_is_observed(const struct actor_shard *shard)
{
    struct proto_sink *observer = shard->options.observer;
    return observer != NULL &&
           (shard->options.observing == NULL || shard->options.observing(observer));
}

static void tell(struct actor_shard *shard, struct span body)
{
    struct proto_message *event = body.count == 0 ? NULL : message_new(PROTO_EVENT, body.count);
    if (event != NULL) {
        event->as.event.body = message_keep(event, body);
        shard_effect(shard, event, shard->commit_number);
    }
}

/* An audit message says everything: who, what, when. */
void shard_observe_audit(struct actor_shard *shard, struct span message)
{
    if (shard_is_observed(shard)) {
        tell(shard, message);
    }
}

static uint32_t copy_all(struct wire_writer *writer, struct span map)
{
    uint32_t pairs = 0;
    struct wire_map_walk walk = wire_map_begin(map);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        wire_write_string(writer, key);
        wire_write_value(writer, value);
        pairs++;
    }
    return pairs;
}

/* {"event":"step", executionId, process, state, and all of the step's own entry} */
void shard_observe_step(struct actor_shard *shard, struct span step_blob)
{
    if (!shard_is_observed(shard)) {
        return;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->turn, 512);
    size_t mark = wire_open_map(&writer);
    wire_pair_text(&writer, "event", "step");
    wire_pair_value(&writer, "executionId", wire_find_text(step_blob, "executionId"));
    wire_pair_value(&writer, "process", wire_find_text(step_blob, "process"));
    wire_pair_value(&writer, "state", wire_find_text(step_blob, "state"));
    uint32_t pairs = 4 + copy_all(&writer, wire_find_text(step_blob, "step"));
    wire_close_map(&writer, mark, pairs);
    tell(shard, wire_writer_span(&writer));
}

void shard_observe_tasks(struct actor_shard *shard, const struct engine_execution *execution)
{
    if (!shard_is_observed(shard)) {
        return;
    }
    struct engine_view view;
    engine_look(execution, &view);
    struct wire_writer writer;
    wire_writer_init(&writer, &shard->turn, 512);
    wire_write_map(&writer, 4);
    wire_pair_text(&writer, "event", "human-task");
    wire_pair_string(&writer, "executionId", view.id);
    wire_pair_string(&writer, "process", view.process);
    wire_write_text(&writer, "tasks");
    size_t mark = wire_open_array(&writer);
    wire_close_array(&writer, mark, engine_tasks(execution, &writer));
    tell(shard, wire_writer_span(&writer));
}
