/*
 * recovery.h: from what is on the disk to shards that can go on: the state table, and the journal
 * from where it ends. Runs on the thread that starts the program, before any other.
 */
#ifndef ACTORS_RECOVERY_H
#define ACTORS_RECOVERY_H

#include "actors/registry.h"
#include "actors/shard/shard.h"
#include "storage/index.h"
#include "storage/journal.h"
#include "storage/state.h"

struct actor_recovery_options {
    struct storage_journal *log;
    struct storage_state *state;
    struct storage_index *index;
    bool index_elsewhere; /* then the audit drain begins where the journal does */
    struct actor_shard *const *shards;
    uint32_t shard_count;
    struct actor_registry *registry;
    bool bus; /* there is an audit bus to drain to */
    struct actor_time now;
};

/* Where each drain goes on. */
struct actor_positions {
    uint64_t at[PROTO_DRAIN_COUNT];
};

/*
 * RESULT_OK also when executions had to be set aside: *recovery says how many, the log which. Else
 * *error says for a person what could not be read.
 */
MUST_USE enum result actor_recover(const struct actor_recovery_options *options,
                                   struct actor_recovery *recovery,
                                   struct actor_positions *positions, char error[256]);

#endif
