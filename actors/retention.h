/*
 * retention.h: the actor that deletes what ended long ago: row and logs in the index, and blobs.
 *
 * It is a client of the router like any other: it lists what the index calls ended and asks each
 * owner to delete it *if it has ended*. The owner decides, so one that waits, or was restarted
 * meanwhile, is never touched (F76, F88); and the deletion goes through the journal, so no drain
 * brings anything back.
 */
#ifndef ACTORS_RETENTION_H
#define ACTORS_RETENTION_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "proto/message.h"

struct actor_retention;

struct actor_retention_options {
    struct proto_sink *self;
    struct proto_sink *router;
    uint64_t completed_ms; /* how long after its end; 0: for ever */
    uint64_t failed_ms;    /* the same for those that failed or were aborted */
};

struct actor_retention_counters {
    actor_counter deleted;
};

MUST_USE enum result actor_retention_new(const struct actor_retention_options *options,
                                         struct actor_retention **out);
void actor_retention_free(struct actor_retention *retention);
/* An actor_turn_fn: PROTO_REPLY. */
uint64_t actor_retention_turn(void *retention, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_retention_counters *
actor_retention_counters(const struct actor_retention *retention);

#endif
