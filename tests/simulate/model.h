/*
 * model.h: a random process as a file, and what the world has to know to live with it.
 *
 * A confluent model ends the same whatever the order of events: its blocks are nested, its forks
 * are joined, each variable has one writer, and time decides nothing that an answer could decide
 * too. All other models may end in several ways; they are kept small, so that all of them can be
 * enumerated.
 */
#ifndef TESTS_SIMULATE_MODEL_H
#define TESTS_SIMULATE_MODEL_H

#include "tests/simulate/sim.h"

#define SIM_BEGUN_MAX 8u

enum sim_says { SIM_SAYS_NOTHING, SIM_SAYS_MESSAGE, SIM_SAYS_SIGNAL };

/* A node that the outside deals with. What is said to it is always the same. */
struct sim_task {
    struct span id;
    uint32_t status;      /* HTTP, of the call with phase execute; 0: it is never called */
    struct span reply;    /* its body: value, or empty */
    struct span told;     /* body of the answer to phase callback, or empty */
    struct span callback; /* payload, or empty */
    bool waits;           /* somebody answers by a callback */
    enum sim_says says;   /* somebody sends it what it listens for: */
    struct span name;     /* ... by this name, */
    bool keyed;           /* ... to the one execution, by its `self` */
    struct span broken;   /* the reply as long as nobody has repaired the module, or empty */
};

/* A process that a message of that name begins. */
struct sim_begun {
    struct span name;
    struct span process;
};

struct sim_model {
    struct span file; /* BPMN, or a block scheme */
    struct span next; /* its second version, or empty; a node more at the end of the process */
    struct span file_name;
    struct span modules;   /* modules.json as a value */
    struct span variables; /* MAP: what it starts with */
    bool confluent;
    struct sim_task *tasks;
    uint32_t task_count;
    struct sim_begun begun[SIM_BEGUN_MAX];
    uint32_t begun_count;
    struct {
        struct span process; /* that a timer starts */
        uint32_t every_ms;
        uint32_t count; /* so often; 0: there is none */
    } timed;
    bool needs_peer; /* no execution of it may be given up: another one waits for its message */
};

/* Fills the report's blocks and rows, too. All memory is the arena's. */
void sim_model_make(struct sim *sim, struct sim_model *model);
/* NULL: the outside has nothing to do with it. */
const struct sim_task *sim_model_task(const struct sim_model *model, struct span node_id);

/* The process that a message of that name begins, or empty. */
struct span sim_model_begins(const struct sim_model *model, struct span name);

/* ---- the model compiled: what the checks run the core on, apart from the actors' own copy ---- */

struct sim_catalog {
    struct engine_catalog engine;             /* first: the engine hands it back */
    struct engine_definition *definitions[2]; /* by version, from 1; NULL: there is no second */
    struct engine_modules *modules;
};

#define SIM_PROJECT "default"

/* The process of that id in that version, or NULL. */
const struct engine_process *sim_catalog_find(const struct sim_catalog *catalog, struct span id,
                                              uint32_t version);
/* As versions 1 and 2 of the project. Fails the run when the model is refused. */
bool sim_catalog_init(struct sim *sim, struct sim_catalog *catalog);
void sim_catalog_release(struct sim_catalog *catalog);

#endif
