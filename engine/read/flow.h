/*
 * flow.h: conditions of sequence flows. Read once the flows are connected, as a default flow's
 * condition means nothing.
 */
#ifndef ENGINE_READ_FLOW_H
#define ENGINE_READ_FLOW_H

#include "engine/read/draft.h"

void engine_flow_read_conditions(struct draft *draft, struct draft_process *process);

#endif
