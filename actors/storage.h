/*
 * storage.h: the actor of the slow stores: the state drain, the blob drain, and fetches from both.
 *
 * A fetch is answered by what the journal held when it came: the state drain is brought up to there
 * first, and a blob that the tier does not have yet is read from the journal. So a shard never sees
 * a state that is older than what it has committed, and no reader waits for the blob drain. A blob
 * that a reply waits for goes ahead of the drain. While the tier fails, or takes too long, whoever
 * waits for it is told so: the journal has what it has not.
 */
#ifndef ACTORS_STORAGE_H
#define ACTORS_STORAGE_H

#include "actors/drain/blob_drain.h"
#include "actors/drain/saves.h"
#include "actors/drain/state_drain.h"
#include "storage/backup.h"

struct actor_storage;

struct actor_storage_options {
    struct storage_state *state;
    struct storage_blob *blob;
    struct storage_backup *backup; /* copies the tables; NULL: nobody will ask */
    struct storage_journal *log;
    struct proto_sink *self;
    struct proto_sink *journal; /* told of drained positions */
    struct proto_sink *const *shards;
    uint32_t shard_count;
    uint64_t state_position, blob_position; /* where to begin */
    uint64_t bus_position; /* of the bus drain, whose position is kept here; PROTO_DRAIN_OFF */
    bool blob_elsewhere; /* the blobs are on another server: it is asked now and then whether it is
                            there */
    bool paced;          /* the drains step back while the machine is busy (actors/pace.h) */
};

struct actor_storage_counters {
    actor_counter fetches, misses;
    actor_counter from_journal; /* blobs that were read there: the tier did not have them yet */
    actor_counter failing;      /* gauge: 1 while the state table cannot be written */
    actor_counter blob_failing; /* gauge: 1 while blobs cannot be stored, or read */
};

MUST_USE enum result actor_storage_new(const struct actor_storage_options *options,
                                       struct actor_storage **out);
void actor_storage_free(struct actor_storage *storage);
/* An actor_turn_fn: PROTO_FETCH, PROTO_AWAIT, PROTO_JOURNAL_ADVANCED, PROTO_PORT_DONE, PROTO_DRAIN;
 * PROTO_DRAINED of the bus drain. */
uint64_t actor_storage_turn(void *storage, struct proto_message *batch, struct actor_time now);
/* Any thread. */
const struct actor_storage_counters *actor_storage_counters(const struct actor_storage *storage);
const struct actor_blob_drain_counters *
actor_storage_blob_counters(const struct actor_storage *storage);
const struct actor_saves_counters *
actor_storage_saves_counters(const struct actor_storage *storage);
const struct actor_state_drain_counters *
actor_storage_state_counters(const struct actor_storage *storage);

#endif
