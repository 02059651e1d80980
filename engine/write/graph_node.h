/*
 * graph_node.h: flow nodes as nodes of a JSON graph; private to engine/write.
 */
#ifndef ENGINE_WRITE_GRAPH_NODE_H
#define ENGINE_WRITE_GRAPH_NODE_H

#include "engine/write/writing.h"

/* config of a node but for its own nodes and edges. Returns how many pairs it wrote to `out`. */
uint32_t engine_graph_write_config(struct writing *writing, struct wire_writer *out,
                                   const struct engine_node *node);
/* What `type` says of it; "": it has none. */
struct span engine_graph_type(struct writing *writing, const struct engine_node *node);

#endif
