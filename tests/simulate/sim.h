/*
 * sim.h: one seed, one life: what all parts of a run share. tests/simulate/README.md tells how they
 * fit together.
 *
 * Single-threaded and without any clock or randomness of its own: the same options give the same
 * run, event for event.
 */
#ifndef TESTS_SIMULATE_SIM_H
#define TESTS_SIMULATE_SIM_H

#include "actors/clock.h"
#include "engine/model.h"
#include "proto/base/arena.h"
#include "tests/simulate/random.h"

enum sim_fault {
#define SIM_FAULT(symbol, name) SIM_##symbol,
#include "tests/simulate/faults.def"
#undef SIM_FAULT
    SIM_FAULT_COUNT
};

/* Bugs that can be built in, to see that the checks see them. */
enum sim_bug {
    SIM_NO_BUG,
    SIM_JOIN_COUNTS_TOKENS,  /* a join fires by the number of tokens, whatever flows they are on */
    SIM_LOST_TIMER,          /* a loop forgets when its actor wants to be woken */
    SIM_REPLY_BEFORE_COMMIT, /* effects leave when the commit is sent, not when it is durable */
    SIM_MESSAGE_TWICE,   /* a keeper does not hear that its message was taken, and gives it again */
    SIM_MESSAGE_LOST,    /* a message is lost between its keeper and whom it is for */
    SIM_HANDLER_TWICE,   /* what can be compensated is noted twice */
    SIM_LOG_INDEX_TWICE, /* two logs get the same index */
    SIM_DELETED_STAYS,   /* the state table keeps the rows of what was deleted */
    SIM_TICK_TWICE,      /* the state table forgets that a timer has fired */
    SIM_TICK_LOST,       /* a firing is lost on its way, and is believed to have come */
    SIM_BUS_FORGETS,     /* what was sent is taken for settled */
    SIM_MIGRATION_BY_PLACE, /* what waits is moved to the flow at the same place, not to its own */
    SIM_IMPORT_HALF,        /* what waited in joins elsewhere is not imported */
    SIM_BUG_COUNT
};

#define SIM_PRUNED_MAX 64u
#define SIM_BLOCKS_MAX 96u

struct sim_options {
    uint64_t seed;
    uint32_t salt;                   /* another schedule of the same model and plan; 0 as found */
    uint32_t without;                /* bit n: fault n does not happen */
    uint32_t pruned[SIM_PRUNED_MAX]; /* blocks that are left out of the model */
    uint32_t pruned_count;
    enum sim_bug bug;
    bool trace;
};

/* What is known of a run afterwards. Plain: it crosses a pipe. */
struct sim_report {
    char failure[1200]; /* empty: passed */
    uint64_t steps;
    uint32_t faults;
    uint32_t crashes; /* kills and power cuts */
    uint32_t fault_counts[SIM_FAULT_COUNT];
    uint32_t kind_counts[ENGINE_KIND_COUNT]; /* steps by element */
    uint32_t row_counts[SIM_BLOCKS_MAX];     /* blocks built, by row of the generator's table */
    uint32_t blocks[SIM_BLOCKS_MAX];         /* names of those that can be pruned */
    uint32_t block_count;
    uint32_t ends_allowed; /* by exhaustive exploration; 0: not explored */
    bool confluent;
    bool is_scheme;
    bool unexplored; /* the model has more interleavings than the bound */
};

struct sim {
    struct sim_options options;
    struct sim_report *report;
    struct sim_random schedule;
    struct actor_time now;
    uint32_t faults_left;
    bool calm;          /* no more faults */
    bool started;       /* ... nor before the process is deployed */
    struct arena arena; /* of the whole run */
    struct sim_model *model;
    struct sim_machine *machine;
    struct sim_tap *tap;
    struct sim_modules *modules;
    struct sim_clients *clients;
    struct sim_letters *letters;
    struct sim_ticks *ticks;
    struct sim_deployment *deployment;
};

/* The run has failed; the first reason is kept. */
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool sim_failed(const struct sim *sim)
{
    return sim->report->failure[0] != '\0';
}
/* Does this fault happen now? Counts it. */
bool sim_fault(struct sim *sim, enum sim_fault fault, uint32_t percent);
/* Would it be allowed to? */
bool sim_fault_allowed(const struct sim *sim, enum sim_fault fault);
void sim_note_fault(struct sim *sim, enum sim_fault fault);
/* With --trace: a line with the time. */
void sim_trace(const struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *sim_fault_name(enum sim_fault fault);
const char *sim_bug_name(enum sim_bug bug);

/* Lives the life that the options say. Aborts where the program under test asserts. */
void sim_run(const struct sim_options *options, struct sim_report *report);

#endif
