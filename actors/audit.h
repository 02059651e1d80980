/*
 * audit.h: the actor of the index: the audit drain, and what is asked of the index. Lives on the
 * audit thread; the index may block it.
 *
 * A row or logs are answered by what the journal held when they were asked for. EXISTS does not
 * wait: the shards remember who ended since the drain's position.
 */
#ifndef ACTORS_AUDIT_H
#define ACTORS_AUDIT_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "proto/message.h"
#include "storage/index.h"
#include "storage/journal.h"

struct actor_audit;

struct actor_audit_options {
    struct storage_index *index;
    struct storage_journal *log;
    struct proto_sink *journal; /* told of drained positions */
    uint64_t position;          /* where to begin */
    bool elsewhere; /* the index is on another server: it is asked now and then whether it is there
                     */
    bool paced;     /* the drain steps back while the machine is busy (actors/pace.h) */
};

struct actor_audit_counters {
    actor_counter messages, applies, queries;
    actor_counter failing; /* gauge: 1 while the index cannot be written */
};

MUST_USE enum result actor_audit_new(const struct actor_audit_options *options,
                                     struct actor_audit **out);
void actor_audit_free(struct actor_audit *audit);
/* An actor_turn_fn: PROTO_FETCH of ROW, EXISTS, LOGS; PROTO_REQUEST list; PROTO_JOURNAL_ADVANCED;
 * PROTO_DRAIN. */
uint64_t actor_audit_turn(void *audit, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_audit_counters *actor_audit_counters(const struct actor_audit *audit);

#endif
