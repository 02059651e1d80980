/*
 * migration.h: which node and which flow of another version of its definition stand for those that
 * an execution uses (engine.md 9). What a called process runs is not touched: it stays at its own
 * version.
 *
 * A node's counterpart is what the mapping says, else the node with its id. A flow's is what the
 * mapping says, else the flow with its id that leads to the counterpart of its target, else the
 * only one between the counterparts of its ends.
 */
#ifndef ENGINE_MIGRATION_H
#define ENGINE_MIGRATION_H

#include "engine/execution.h"

struct engine_migration {
    const struct engine_process *from;
    const struct engine_process *to;
    struct span mapping; /* MAP of id to id, or empty */
};

/* ENGINE_NONE: it has none. */
uint32_t engine_migration_node(const struct engine_migration *migration, uint32_t node);
uint32_t engine_migration_flow(const struct engine_migration *migration, uint32_t flow);

/* Does the scope belong to the process that moves? */
bool engine_migration_moves(const struct engine_execution *execution,
                            const struct engine_scope *scope);

/*
 * Has everything that the execution stands on a counterpart where it can stand? Pure. False: *why,
 * in the arena, names what has none (engine.md 9: "refused whole").
 */
bool engine_migration_check(const struct engine_execution *execution,
                            const struct engine_migration *migration, struct arena *arena,
                            struct span *why);

#endif
