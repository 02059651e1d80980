/*
 * notation.h: which notation a JSON definition is in, told by its members: a JSON graph has nodes,
 * a block scheme blocks.
 */
#ifndef ENGINE_READ_NOTATION_H
#define ENGINE_READ_NOTATION_H

#include "engine/read/read.h"

/*
 * Fills `definition` (its arena is ready, the rest zero) from JSON text. Returns as
 * engine_bpmn_read does.
 */
MUST_USE enum result engine_notation_read_json(struct span content, bool lenient,
                                               struct engine_report *report,
                                               struct engine_definition *definition);

#endif
