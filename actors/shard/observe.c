/*
 * observe.c: what an observer (strider run --trace, /v1/events) is told, behind the commit that made it true. Nothing is
 * encoded when nobody looks.
 */
#include "actors/shard/state.h"
#include "proto/wire/reader.h"

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
    if (shard->options.observer != NULL) {
        tell(shard, message);
    }
}
