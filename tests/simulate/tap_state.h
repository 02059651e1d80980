/*
 * tap_state.h: what tap.c (each event, each commit, each thing that leaves) and tap_return.c (what
 * comes back after a death) share.
 */
#ifndef TESTS_SIMULATE_TAP_STATE_H
#define TESTS_SIMULATE_TAP_STATE_H

#include "engine/engine.h"
#include "proto/record.h"
#include "tests/simulate/books.h"
#include "tests/simulate/clients.h"
#include "tests/simulate/tap.h"

/* A state that a commit holds. */
struct sim_committed {
    struct sim_committed *newer;
    uint64_t event_sequence;
    uint32_t run;
    uint32_t sequence;  /* steps of the run */
    uint32_t call_last; /* calls */
    bool ended;
    struct sim_books books;
    size_t count;
    uint8_t bytes[];
};

struct sim_tracked {
    struct execution_id id;
    struct engine_execution *shadow;
    struct sim_books books;
    struct sim_committed *oldest, *newest; /* the durable one first, if there is one */
    uint64_t appended;                     /* event sequences */
    uint64_t durable;
    uint64_t recovered; /* in a recovery: what came back; 0: nothing yet */
    struct {
        bool committed, appended, durable; /* it was deleted: the record, where it stands */
    } deletion;
};

struct sim_tap {
    struct sim *sim;
    struct sim_catalog catalog;
    struct sim_tracked tracked[SIM_EXECUTIONS_MAX];
    uint32_t count;
    bool recovering;
    struct arena scratch;
};

/* ---- tap.c ---- */
/* NULL: no execution of that id is known. */
struct sim_tracked *sim_tap_find(struct sim_tap *tap, struct span id);
struct sim_tracked *sim_tap_find_of(struct sim_tap *tap, const struct engine_execution *execution);
struct span sim_tap_encoded(const struct engine_execution *execution, struct arena *arena);
/* Names the first part that differs. */
void sim_tap_expect_same(struct sim_tap *tap, const struct sim_tracked *tracked, const char *what,
                         struct span expected, struct span found);
void sim_tap_drop_shadow(struct sim_tracked *tracked);
struct sim_committed *sim_tap_committed_at(const struct sim_tracked *tracked,
                                           uint64_t event_sequence);
/* Forgets those that are older, or newer, than the one at this place. */
void sim_tap_forget_before(struct sim_tracked *tracked, uint64_t event_sequence);
void sim_tap_forget_after(struct sim_tracked *tracked, uint64_t event_sequence);
/* Which event is the last one that the record holds? 0: none. */
uint64_t sim_tap_end_of_record(const struct proto_record *record);

/* ---- tap_return.c ---- */
/* From bytes: in a recovery, or because a parked execution is wanted. */
void sim_tap_came_back(struct sim *sim, const struct engine_execution *execution);

#endif
