/*
 * gather.h: one request to all shards, one reply from all their answers.
 */
#ifndef ACTORS_GATHER_H
#define ACTORS_GATHER_H

#include "proto/message.h"

/*
 * Sends a copy of the request to each shard; their replies' arrays `list` become one array of at
 * most `limit` elements in the reply to the request. Takes *request on RESULT_OK. RESULT_LIMIT: no
 * memory. A shard that refuses makes the reply a refusal.
 */
MUST_USE enum result actor_gather(struct proto_message **request, struct proto_sink *const *shards,
                                  uint32_t shard_count, const char *list, uint32_t limit);

#endif
