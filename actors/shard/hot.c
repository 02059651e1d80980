/*
 * hot.c: the bytes of executions that wait: in this shard's own memory, or with the hot actor where
 * the tier lives elsewhere.
 *
 * What comes back from elsewhere may be anything: older than what the shard has committed (a write
 * was lost), of another program, half overwritten. So a slot knows the hash of its newest bytes,
 * and bytes with another hash are a miss.
 */
#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"
#include "storage/embedded/embedded.h"

enum { HASH_KEY = 0x686f74 };

bool shard_hot_is_elsewhere(const struct actor_shard *shard)
{
    return shard->options.hot != NULL;
}

/* 0 stands for "nothing is kept". */
static uint64_t hash_of(struct span bytes)
{
    uint64_t hash = base_hash(bytes, HASH_KEY);
    return hash == 0 ? 1 : hash;
}

struct span shard_hot_peek(struct actor_shard *shard, const struct actor_slot *slot)
{
    return shard_hot_is_elsewhere(shard)
               ? SPAN_EMPTY
               : storage_memory_hot_peek(shard->hot, shard_slot_id(slot), shard->now.monotonic_ms);
}

bool shard_hot_is_newest(const struct actor_slot *slot, struct span bytes)
{
    return slot->hot_hash != 0 && slot->hot_hash == hash_of(bytes);
}

/* NULL: no memory; the tier then keeps something older, which is a miss. */
static struct proto_message *keep_message(enum proto_keep_kind kind, struct span id,
                                          struct span session, struct span bytes)
{
    struct proto_message *message = message_new(PROTO_KEEP, session.count + bytes.count);
    if (message == NULL) {
        return NULL;
    }
    message->as.keep = (struct proto_keep){.kind = kind,
                                           .channel_session_id = message_keep(message, session),
                                           .bytes = message_keep(message, bytes)};
    if (execution_id_parse(id, &message->as.keep.execution_id) != RESULT_OK) {
        ASSERT_UNREACHABLE();
    }
    return message;
}

struct proto_message *shard_hot_park(struct actor_shard *shard, struct actor_slot *slot,
                                     const struct engine_view *view, struct span bytes)
{
    bool heavy = bytes.count >= shard->options.heavy_session_bytes;
    struct span id = shard_slot_id(slot);
    if (shard_hot_is_elsewhere(shard)) {
        slot->hot_hash = heavy ? 0 : hash_of(bytes);
        return keep_message(heavy ? PROTO_KEEP_BOUND : PROTO_KEEP_SESSION, id,
                            view->channel_session_id, heavy ? SPAN_EMPTY : bytes);
    }
    const struct storage_hot_ops *ops = shard->hot->ops;
    if (heavy || ops->put(shard->hot, id, bytes, shard->now.monotonic_ms,
                          (struct proto_address){0}) != RESULT_OK) {
        shard_hot_drop(shard, slot); /* as good as: it will be fetched when it is wanted */
    }
    return NULL;
}

void shard_hot_recover(struct actor_shard *shard, struct actor_slot *slot, struct span bytes)
{
    if (!shard_hot_is_elsewhere(shard)) {
        (void)shard_hot_park(shard, slot, NULL, bytes);
    } else if (bytes.count < shard->options.heavy_session_bytes) {
        slot->hot_hash = hash_of(bytes); /* it may still be there */
    }
}

void shard_hot_drop(struct actor_shard *shard, struct actor_slot *slot)
{
    slot->hot_hash = 0; /* what is elsewhere is a miss from now on */
    if (!shard_hot_is_elsewhere(shard)) {
        enum result result =
            shard->hot->ops->remove(shard->hot, shard_slot_id(slot), (struct proto_address){0});
        ASSERT(result == RESULT_OK || result == RESULT_NOT_FOUND);
    }
}

void shard_hot_end(struct actor_shard *shard, struct actor_slot *slot,
                   const struct engine_view *view)
{
    shard_hot_drop(shard, slot);
    struct proto_message *message =
        shard_hot_is_elsewhere(shard)
            ? keep_message(PROTO_KEEP_NOTHING, view->id, view->channel_session_id, SPAN_EMPTY)
            : NULL;
    if (message != NULL) {
        actor_queue_push(&shard->effects, message);
    }
}

void shard_hot_disown(struct actor_shard *shard, struct span id, struct span channel_session_id)
{
    struct proto_message *message =
        keep_message(PROTO_KEEP_NOTHING, id, channel_session_id, SPAN_EMPTY);
    if (message != NULL) {
        shard_effect(shard, message, 0);
    }
}

void shard_hot_warm(struct actor_shard *shard, struct actor_slot *slot,
                    const struct engine_view *view, struct span bytes)
{
    struct proto_message *message = shard_hot_park(shard, slot, view, bytes);
    if (message != NULL) {
        shard_effect(shard, message, 0); /* it has long been committed */
    }
}
