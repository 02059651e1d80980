/*
 * mapping.h: io mappings (Zeebe input/output, Camunda inputOutput, in/out of call activities) and
 * headers.
 *
 * One rule for all notations: inputs make the node's local variables, which are also what a module
 * gets as `config`. With output mappings, only what they name reaches the variables of the process;
 * without any, all that the module's `execution` brings does. A mapping sees what those before it
 * made. A dotted target sets a member of a map.
 */
#ifndef ENGINE_MAPPING_H
#define ENGINE_MAPPING_H

#include "engine/names.h"

/*
 * Evaluates the mappings in order into one MAP. `outward`: a dotted target goes on from the
 * variable that is there already. False: one failed; *failed says which, *reason why.
 */
bool engine_mapping_evaluate(struct engine_decision *decision, struct engine_scene *scene,
                             const struct engine_mappings *mappings, bool outward, struct span *map,
                             const struct engine_mapping **failed, const char **reason);
/* `path` = "a.b.c": base with that member set; base may be empty. The result lives in the arena. */
struct span engine_mapping_set(struct arena *arena, struct span base, struct span path,
                               struct span value);

#endif
