/*
 * reach.h: ways that no sequence flow draws (link events), and from where the incoming flows of an
 * inclusive join can still be reached.
 */
#ifndef ENGINE_READ_REACH_H
#define ENGINE_READ_REACH_H

#include "engine/model.h"

/* Fills link_target and reach of the nodes, whose lists are there. What it makes lives in the
 * arena. */
void engine_reach_build(struct arena *arena, const struct engine_process *process,
                        struct engine_node *nodes);

#endif
