/*
 * directory.h: channelSessionId -> the executions that wait on it, the newest wait first. One shard
 * keeps the sessions whose hash picks it. A derived thing: recovery builds it anew from the waiting
 * executions.
 */
#ifndef ACTORS_DIRECTORY_H
#define ACTORS_DIRECTORY_H

#include "actors/table.h"
#include "proto/base/id.h"
#include "proto/base/result.h"

struct actor_directory {
    /* private to directory.c */
    struct actor_table table;
    uint64_t bound; /* bindings made so far */
};

void actor_directory_init(struct actor_directory *directory);
void actor_directory_release(struct actor_directory *directory);
/* A second binding of the same pair renews its time. RESULT_LIMIT: no memory. */
MUST_USE enum result actor_directory_bind(struct actor_directory *directory, struct span session,
                                          struct span execution_id, uint64_t since_ms);
/* Nothing happens when they are not bound. */
void actor_directory_drop(struct actor_directory *directory, struct span session,
                          struct span execution_id);
/* The one that began to wait last; RESULT_NOT_FOUND. */
MUST_USE enum result actor_directory_resolve(const struct actor_directory *directory,
                                             struct span session, struct execution_id *out);
uint32_t actor_directory_count(const struct actor_directory *directory);

#endif
