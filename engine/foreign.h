/*
 * foreign.h: an execution that ran in another engine, virtually executed up to where it stands
 * (engine.md 9; seed 004, "Conversion"). Given are the edges that it passed, each as often as it
 * did, and the nodes that are active. Found is what follows from that: how often each node was
 * entered and completed, and which tokens wait in joins. What cannot have happened is refused by
 * name.
 *
 * It is done by counting: a node is entered as often as edges into it were passed (a join as often
 * as all of them were), and completed as often as it was entered and is not active; its outgoing
 * edges must have been passed as its kind of node does. So the order of events need not be known.
 * Only what lies at process level can be said.
 */
#ifndef ENGINE_FOREIGN_H
#define ENGINE_FOREIGN_H

#include "engine/model.h"

struct engine_foreign_active {
    uint32_t node;
    struct span wait; /* true, or a MAP as a module's reply has it; empty: it begins anew */
};

/* In an arena. */
struct engine_foreign {
    const struct engine_process *process;
    struct engine_foreign_active *actives; /* in the order given */
    uint32_t active_count;
    uint32_t *passed;  /* by flow: how often */
    uint32_t *waiting; /* by flow: tokens that wait in its join */
    uint32_t waiting_count;
    uint64_t *entered;   /* by node */
    uint64_t *completed; /* by node */
    uint32_t *order;     /* nodes that were completed, each once, the start's first */
    uint32_t order_count;
};

/* `map`: {"active": […], "passed": […]}, docs/protocol.md. Pure. False: *why, in the arena. */
bool engine_foreign_read(const struct engine_process *process, struct span map, struct arena *arena,
                         struct engine_foreign *out, struct span *why);

#endif
