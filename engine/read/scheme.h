/*
 * scheme.h: the block scheme (engine.md 5) to a definition. One of the notations behind
 * engine_read.
 *
 *   {"id", "name"?, "version"?, "blocks": [block…], "faces": [face…]}
 *   block {"id", "type": "StartBlock|Block|OrBlock|AndBlock|FinishBlock", "handler"?, "name"?,
 *          "position": {"x","y"}?, "config"?}
 *   face  {"id"?, "from", "to", "result"?, "waypoints": [{"x","y"}]?}
 *
 * A block with a handler is a service task, its handler the task type; one without passes tokens
 * on. How blocks are entered and left: engine_join_rule and engine_flow.result in model.h.
 */
#ifndef ENGINE_READ_SCHEME_H
#define ENGINE_READ_SCHEME_H

#include "engine/read/read.h"

/* `value` was read from `text` by json_to_wire. Fills `definition`, returns as engine_bpmn_read. */
MUST_USE enum result engine_scheme_read(struct span text, struct span value, bool lenient,
                                        struct engine_report *report,
                                        struct engine_definition *definition);

#endif
