/*
 * link.h: the references between the nodes and flows of one process become indexes, and every node
 * gets its lists.
 *
 * Only the attributes of a flow count: <incoming> and <outgoing> are compared with them and never
 * believed.
 */
#ifndef ENGINE_READ_LINK_H
#define ENGINE_READ_LINK_H

#include "engine/read/draft.h"

/* Resolves sourceRef, targetRef, default and attachedToRef; whatever is broken is reported and
 * stays ENGINE_NONE. */
void engine_link_references(struct draft *draft, struct draft_process *process);

/*
 * Fills incoming, outgoing, boundaries, children and starts of a process whose nodes and flows
 * refer to each other by index. A flow without both ends is in no list.
 */
void engine_link_lists(struct arena *arena, struct engine_process *model,
                       struct engine_node *nodes);

/* Reports where the document's <incoming> and <outgoing> disagree with its flows. */
void engine_link_compare_lists(struct draft *draft, struct draft_process *process);

#endif
