/*
 * gather.h: one request to all shards, one reply from all their answers.
 */
#ifndef ACTORS_GATHER_H
#define ACTORS_GATHER_H

#include "proto/message.h"

/*
 * Asks each shard for its human tasks, with a copy of the request. A part is {tasks, places,
 * until?}: [at_ms, position] of each task (task_place.h), and where the shard stopped to look, as a
 * text. They become the reply to the request: the first `limit` of all, and `cursor`, where there
 * are more. Takes *request on RESULT_OK. RESULT_LIMIT: no memory. A shard that refuses makes the
 * reply a refusal.
 */
MUST_USE enum result actor_gather(struct proto_message **request, struct proto_sink *const *shards,
                                  uint32_t shard_count, uint32_t limit);

#endif
