/*
 * engine_world.h: the engine in one thread, for the simulator: real shards, journal, drains and
 * registry; simulated disk, stores, modules, client and time. Whose turn it is, and how much of its
 * mailbox it gets, is drawn from a seed, so a run repeats exactly.
 *
 * The power can go at any operation of the disk; what was not synced or flushed is then gone.
 * engine_world_restart begins again with what is left, as a new process would.
 */
#ifndef TESTS_SIMULATE_ENGINE_WORLD_H
#define TESTS_SIMULATE_ENGINE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tests/simulate/power_cut_files.h"

struct engine_world;

struct engine_world_options {
    uint64_t seed;
    uint32_t shard_count;
    const char *file; /* a definition that is deployed with the others; or NULL */
};

/* Aborts without memory, as all of this file does. Pair: engine_world_free. */
struct engine_world *engine_world_new(const struct engine_world_options *options);
void engine_world_free(struct engine_world *world);
struct power_cut_files *engine_world_disk(struct engine_world *world);

/* The power goes at that operation of the disk; UINT64_MAX: never. */
void engine_world_stop_at(struct engine_world *world, uint64_t operation);
/* Opens the stores, recovers, and deploys what is not deployed: false when the power went
 * meanwhile. */
bool engine_world_start(struct engine_world *world);
/* The power is gone: memory, and all that was not durable, with it. */
void engine_world_cut(struct engine_world *world, enum power_cut_loss loss);
/* An orderly stop: nothing is lost, but nothing more is flushed either (as kill -9). */
void engine_world_kill(struct engine_world *world);

/* Asks; the ticket. JSON. */
uint64_t engine_world_ask(struct engine_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* One turn of somebody. false: nothing can happen any more, or the power is gone. */
bool engine_world_step(struct engine_world *world);
bool engine_world_has_power(const struct engine_world *world);
/* The reply to a ticket, a MAP value that lives as long as the world; empty when there is none yet.
 */
struct span engine_world_reply(const struct engine_world *world, uint64_t ticket);
/* Steps until there is a reply; empty when there will be none. */
struct span engine_world_await(struct engine_world *world, uint64_t ticket);
/* Lets time pass without anybody asking, so that the drains flush. */
void engine_world_idle(struct engine_world *world, uint64_t ms);

/* Lets time pass while the engine is down. */
void engine_world_pass(struct engine_world *world, uint64_t ms);

/* While held, calls stay unanswered. */
void engine_world_hold_modules(struct engine_world *world, bool held);
/* Snapshots that the state drain has asked of long segments, in this life of the engine. */
uint64_t engine_world_snapshots_asked(const struct engine_world *world);
/* Bytes that the journal keeps. */
uint64_t engine_world_journal_bytes(const struct engine_world *world);
/* Executions that recovery set aside, over all starts. */
uint64_t engine_world_corrupt(const struct engine_world *world);
/* Module calls of that execution and task so far, over all starts. */
uint32_t engine_world_calls(const struct engine_world *world, const char *execution_id,
                            const char *task_id);
/* A call of an earlier task came after one of a later task of the same execution: done work was
 * done again. */
bool engine_world_repeated_work(const struct engine_world *world);
/* Executions of that process whose newest word in the index is that they have completed. */
uint32_t engine_world_completed(const struct engine_world *world, const char *process);
/* Is the index's newest word on it that it has completed? */
bool engine_world_indexed_completed(const struct engine_world *world, const char *execution_id);

#endif
