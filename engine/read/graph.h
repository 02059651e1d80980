/*
 * graph.h: the JSON graph (engine.md 5) to a definition. One of the notations behind engine_read.
 *
 *   {"id", "name"?, "version"?, "nodes": [node…], "edges": [edge…], "triggers": [trigger…]?}
 *   node    {"id", "type", "name"?, "position": {"x","y"}?, "size": {"width","height"}?, "config"?}
 *   edge    {"id"?, "source", "target", "condition"?, "default"?, "label"?, "waypoints":
 * [{"x","y"}]?} trigger {"id"?, "type": "manual|cron|webhook", "cron"?, "time_zone"?, "path"?,
 * "node"?}
 *
 * Types: trigger_manual, trigger_cron, trigger_webhook, end, action, human_task, decision,
 * split_wait, match, delay, for_each, and every BPMN element in snake_case. What `config` may hold
 * is in the tables of graph_config.c and graph_event.c; of a task, all other members go to its
 * module. A text is an expression where it has a marker ("=…", "${…}", "{{…}}").
 */
#ifndef ENGINE_READ_GRAPH_H
#define ENGINE_READ_GRAPH_H

#include "engine/read/read.h"

/* `value` was read from `text` by json_to_wire. Fills `definition`, returns as engine_bpmn_read. */
MUST_USE enum result engine_graph_read(struct span text, struct span value, bool lenient,
                                       struct engine_report *report,
                                       struct engine_definition *definition);

#endif
