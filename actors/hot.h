/*
 * hot.h: the actor of a hot tier that lives elsewhere (Redis), on the loop that its adapter was
 * opened on. An embedded tier has none: it is in each shard's own memory.
 *
 * It is a cache that anybody may empty or spoil: a shard believes only bytes whose hash it knows,
 * so what gets lost here costs a slower resume and nothing else. All that is asked is answered,
 * within the adapter's time-out; what the adapter cannot take is answered at once, never queued.
 */
#ifndef ACTORS_HOT_H
#define ACTORS_HOT_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "proto/message.h"
#include "storage/hot.h"

struct actor_hot;

struct actor_hot_counters {
    actor_counter writes, reads, hits;
    actor_counter failures; /* requests that the tier did not do */
    actor_counter failing;  /* gauge: 1 while the newest answer is a failure */
};

/* `self`: where the tier's answers come in. */
MUST_USE enum result actor_hot_new(struct proto_sink *self, struct actor_hot **out);
void actor_hot_free(struct actor_hot *hot);
/* Before the first turn; borrowed. */
void actor_hot_set_tier(struct actor_hot *hot, struct storage_hot *tier);
/* An actor_turn_fn: PROTO_KEEP, PROTO_FETCH of HOT and BOUND, PROTO_PORT_DONE. */
uint64_t actor_hot_turn(void *hot, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_hot_counters *actor_hot_counters(const struct actor_hot *hot);

#endif
