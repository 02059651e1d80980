/*
 * machine.h: a process that runs the real actors, their mailboxes and loops simulated, and the
 * world's calendar. One step takes one thing that could happen now, at random, and lets it happen;
 * when nothing can, time passes.
 *
 * Everything that leaves the process or changes a store is an effect. Effects are counted, and a
 * process that is to die does so at one of them: that one and all later ones do not happen.
 */
#ifndef TESTS_SIMULATE_MACHINE_H
#define TESTS_SIMULATE_MACHINE_H

#include "actors/loop.h"
#include "actors/queue.h"
#include "actors/recovery.h"
#include "tests/simulate/stores.h"

#define SIM_SHARDS_MAX 2u

enum sim_actor_name {
    SIM_SHARD, /* the first of them */
    SIM_JOURNAL = SIM_SHARD + SIM_SHARDS_MAX,
    SIM_STORAGE,
    SIM_AUDIT,
    SIM_BUS,
    SIM_REGISTRY,
    SIM_ACTOR_COUNT
};

struct sim_actor {
    struct proto_sink sink;
    struct sim *sim;
    enum sim_actor_name name;
    actor_turn_fn turn;
    void *self; /* NULL: not made */
    struct actor_queue mail;
    uint32_t mail_count;
    uint64_t awake_ms; /* no turn before */
    uint64_t due_ms;   /* ACTOR_NEVER */
};

/* Something that will happen outside. */
typedef void (*sim_happening_fn)(struct sim *sim, struct proto_message *message, uint64_t value);
struct sim_happening {
    uint64_t due_ms;
    uint32_t boot; /* it is lost with this process; 0: with none */
    sim_happening_fn happen;
    struct proto_message *message; /* or NULL; the happening takes it */
    uint64_t value;
};

struct sim_machine {
    struct sim_stores stores;
    struct sim_actor actors[SIM_ACTOR_COUNT];
    struct actor_shard *shards[SIM_SHARDS_MAX];
    struct proto_sink *shard_sinks[SIM_SHARDS_MAX];
    struct actor_shard_options shard_options;
    uint32_t shard_count;
    bool durable; /* else it never dies: nothing was promised */
    bool audited;
    struct sim_broker *broker; /* NULL: there is no bus */
    struct sim_happening *happenings;
    uint32_t happening_count;
    uint32_t happening_capacity;
    uint32_t boot; /* number of the process, from 1 */
    bool running;
    bool alive;            /* false: it is dead, and its last turn comes to an end */
    uint64_t effects_left; /* until it dies; UINT64_MAX: not planned */
    enum sim_fault death;  /* CRASH or POWER_CUT, when planned */
    uint32_t deaths_left;
};

void sim_machine_init(struct sim *sim);
void sim_machine_release(struct sim *sim);
/* Starts a process on what the stores hold. */
void sim_machine_boot(struct sim *sim);
/* One thing happens. False: nothing ever will. */
bool sim_machine_step(struct sim *sim);
/* Ends the process in an orderly way: it is not told, but nothing was under way. */
void sim_machine_stop(struct sim *sim);

/* An effect is about to happen; false: the process is dead, it does not. */
bool sim_machine_effect(struct sim *sim);
void sim_machine_die(struct sim *sim);
/* It is not to die after all; unless it has begun to: its disk has stopped. */
void sim_machine_spare(struct sim *sim);

/* `happen` is called in delay_ms; with the_process: not if the process is another one by then. */
void sim_later(struct sim *sim, uint64_t delay_ms, bool with_the_process, sim_happening_fn happen,
               struct proto_message *message, uint64_t value);
/* The shard that owns an execution. */
struct proto_sink *sim_machine_owner(struct sim *sim, struct span execution_id);

#endif
