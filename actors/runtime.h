/*
 * runtime.h: the actors as main sees them: built over opened ports, started, asked, drained,
 * stopped.
 *
 * Threads (each one libev loop with a mailbox): N shards, journal, io (module dispatch, clock),
 * storage (state and blob drains, fetches), audit (index), bus (audit bus, if any), hot (a hot tier
 * elsewhere). main wires: it opens the ports, makes the runtime, attaches what needs a loop
 * (actor_runtime_loop), starts it, and then opens the fronts on actor_runtime_router.
 */
#ifndef ACTORS_RUNTIME_H
#define ACTORS_RUNTIME_H

#include "actors/catalog.h"
#include "audit/bus.h"
#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/message.h"
#include "proto/sink.h"
#include "storage/backup.h"
#include "storage/blob.h"
#include "storage/hot.h"
#include "storage/index.h"
#include "storage/journal.h"
#include "storage/state.h"

struct ev_loop;
struct actor_runtime;

enum actor_durability {
    ACTOR_DURABLE,     /* nothing leaves before its commit is on disk */
    ACTOR_NOT_DURABLE, /* written, not synced, not waited for: a power cut or kernel crash may lose
                          the last moments */
};

enum actor_step_blobs { ACTOR_STEPS_ALL, ACTOR_STEPS_WAITS, ACTOR_STEPS_OFF };

enum actor_loop_name { ACTOR_LOOP_IO, ACTOR_LOOP_STORAGE, ACTOR_LOOP_HOT };

struct actor_runtime_options {
    uint32_t shard_count; /* 0: half the processors, at least 1 */
    enum actor_durability durability;
    enum actor_step_blobs step_blobs;
    bool audit;                    /* false: no audit messages at all */
    uint32_t max_steps;            /* on one token's path in a segment; 0: LIMIT_STEPS */
    size_t heavy_session_bytes;    /* heavySessionThresholdBytes; 0: 1 MiB */
    size_t hot_bytes_max;          /* hot tier of all shards together; 0: 512 MiB */
    uint64_t hot_ttl_ms;           /* 0: 10 min */
    uint32_t mailbox_max;          /* requests a shard may have unread; 0: 8,192 */
    uint32_t requests_pending_max; /* requests a shard holds unanswered; 0: 65,536 */
    size_t reply_bytes_max;        /* of a module; 0: LIMIT_REPLY_BYTES */
    uint64_t journal_bytes_max; /* starts are refused with StorageFailed beyond it (a drain hangs);
                                   0: 8 GiB */

    /* Ports, opened by main, borrowed until actor_runtime_free. */
    struct storage_journal *journal;
    struct storage_state *state;
    struct storage_blob *blob;
    struct storage_index *index;
    uint32_t bus_window; /* messages under way to the audit bus at most; 0: there is no bus */
    /* Stores that other servers keep may be away, at the start and later: the engine goes on
     * without them, and says so (actor_runtime_ready). */
    bool hot_elsewhere;            /* actor_runtime_set_hot brings it */
    bool blob_elsewhere;           /* actor_runtime_set_blob brings it */
    bool index_elsewhere;          /* `index` is one of these */
    struct storage_backup *backup; /* NULL: the op `backup` is refused */
    /* How long ended executions are kept after their end; 0: for ever. */
    uint64_t keep_completed_ms;
    uint64_t keep_failed_ms;     /* ... those that failed or were aborted */
    struct proto_sink *observer; /* PROTO_EVENT of every change; NULL: none */
    /* Does anybody look just now? Any thread, cheap; events are only made while it says so. NULL:
     * always. */
    bool (*observing)(struct proto_sink *observer);
    /* Time zones by name, for expressions; NULL: there are none. */
    actor_zone_fn read_zone;
};

MUST_USE enum result actor_runtime_new(const struct actor_runtime_options *options,
                                       struct actor_runtime **out);
/* Before start: the loop that an adapter lives on. */
struct ev_loop *actor_runtime_loop(struct actor_runtime *runtime, enum actor_loop_name which);
/* Before start: stores that live on a loop (ACTOR_LOOP_HOT, ACTOR_LOOP_STORAGE) and therefore can
 * be opened only now; borrowed until actor_runtime_free. */
void actor_runtime_set_hot(struct actor_runtime *runtime, struct storage_hot *hot);
void actor_runtime_set_blob(struct actor_runtime *runtime, struct storage_blob *blob);
/* Before start: takes PROTO_CALL and PROTO_CALL_CANCEL, called on the io loop's thread. */
void actor_runtime_set_modules(struct actor_runtime *runtime, struct proto_sink *modules);

/*
 * Before start, where bus_window is not 0: the owner of the two buses (audit/bus.h) by its ticket
 * (enum actor_bus_ticket), and the buses, opened by main with that owner, borrowed until stop.
 */
struct proto_address actor_runtime_bus_owner(struct actor_runtime *runtime, bool aside);
void actor_runtime_set_bus(struct actor_runtime *runtime, struct audit_bus *bus,
                           struct audit_bus *aside);

/* What recovery found. */
struct actor_recovery {
    uint64_t executions; /* live ones */
    uint64_t events;     /* replayed */
    uint64_t calls;      /* module calls made again */
    uint64_t corrupt;    /* executions or batches set aside, each logged CRITICAL */
    uint64_t elapsed_us;
};

/* Recovers, then starts the threads; returns when requests can be taken. On failure `error` says
 * why. */
MUST_USE enum result actor_runtime_start(struct actor_runtime *runtime,
                                         struct actor_recovery *recovery, char error[256]);

/* Where requests go: PROTO_REQUEST in, PROTO_REPLY to its reply_to. Any thread. RESULT_AGAIN:
 * overloaded. RESULT_CLOSED. */
struct proto_sink *actor_runtime_router(struct actor_runtime *runtime);

/*
 * A project's modules and environment, and its definitions, all or nothing: on RESULT_INVALID
 * nothing changed and `problems` (in the arena) says what is wrong, a line each. Waits for the
 * shards. Any thread but theirs.
 */
struct actor_project_file {
    struct span name;
    struct span content;
};
struct actor_project {
    struct span project;
    struct span workspace;
    struct span environment; /* MAP value or empty */
    struct span modules;     /* modules.json as a value, or empty */
    const struct actor_project_file *definitions;
    size_t definition_count;
};
MUST_USE enum result actor_runtime_load(struct actor_runtime *runtime,
                                        const struct actor_project *projects, size_t count,
                                        struct arena *arena, struct span *problems);

/* Any thread. */
bool actor_runtime_ready(struct actor_runtime *runtime, struct arena *arena, struct span *why_not);
/* Prometheus text, every series present from the start (names: docs/operations.md). */
void actor_runtime_metrics(struct actor_runtime *runtime, struct arena *arena, struct span *text);

/*
 * Orderly end: starts are answered ShuttingDown; running segments end or are left to the journal;
 * then nothing more is taken and the shards' threads end, so that the journal stands still; drains
 * are given until timeout_ms. RESULT_OK: bus, state table, blobs and index have all that the
 * journal has; RESULT_TIMEOUT: not all (nothing is lost). Then stop joins the other threads, and
 * leaves in the journal whatever was answered, drained or not.
 */
MUST_USE enum result actor_runtime_drain(struct actor_runtime *runtime, uint32_t timeout_ms);
void actor_runtime_stop(struct actor_runtime *runtime);
/* Close the fronts before: they send to the router. Adapters on a loop may be closed between stop
 * and free. */
void actor_runtime_free(struct actor_runtime *runtime);

#endif
