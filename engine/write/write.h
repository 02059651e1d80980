/*
 * write.h: a compiled definition as a file of any notation. What a notation cannot say is refused,
 * by name, never left out silently.
 *
 * All expressions are spelled with their marker, all vendors' extensions as Strider's own or
 * BPMN's; drawings (positions, sizes, ways of flows, places of labels) are kept.
 */
#ifndef ENGINE_WRITE_WRITE_H
#define ENGINE_WRITE_WRITE_H

#include "engine/read/read.h"

/*
 * `process_id` chooses a process; empty: all of them in BPMN, the only one in the other notations,
 * which hold one a file. *out lives in the arena. RESULT_INVALID: the report has errors that say
 * what cannot be written; RESULT_LIMIT: the arena is full.
 */
MUST_USE enum result engine_write(const struct engine_definition *definition,
                                  struct span process_id, enum engine_notation notation,
                                  struct engine_report *report, struct arena *arena,
                                  struct span *out);

/*
 * What stands in a BPMN file beside processes and what they execute (lanes, data objects,
 * annotations, documentation, pools), as warnings: another notation, and a BPMN file that is
 * written anew, does not keep it. `content` is the file that the definition was read from; other
 * notations than BPMN have nothing of the kind.
 */
MUST_USE enum result engine_write_list_lost(struct span content, struct engine_report *report);

/*
 * A BPMN file that shows the process as a diagram: `content`, from which the definition was read,
 * when that is one that a viewer can show; else one written for it, drawn as the file says
 * (positions of a JSON graph) or, where it says nothing, laid out from left to right. For looking
 * at, not for deploying: what BPMN cannot say is left out. RESULT_LIMIT: too large to be drawn.
 */
MUST_USE enum result engine_write_diagram(const struct engine_definition *definition,
                                          struct span process_id, struct span content,
                                          struct arena *arena, struct span *out);

#endif
