/*
 * activity.h: what every activity does at its beginning and at its end: inputs, boundary timers,
 * outputs.
 */
#ifndef ENGINE_ACTIVITY_H
#define ENGINE_ACTIVITY_H

#include "engine/names.h"

/*
 * Evaluates the inputs and arms the boundary timers, once. *local is what the node's variables are
 * now. False: it failed, or was interrupted before
 * it began, and that was decided on.
 */
bool engine_activity_begin(struct engine_decision *decision, const struct engine_visit *visit,
                           struct span *local);
/* Arms what waits on the activity's border, once. False as above. */
bool engine_activity_listen(struct engine_decision *decision, const struct engine_visit *visit,
                            struct engine_scene *scene);
/* Evaluates the output mappings in the scene and merges what they make. False as above; `resume` is
 * where a retry goes on. */
bool engine_activity_outputs(struct engine_decision *decision, const struct engine_visit *visit,
                             struct engine_scene *scene, enum engine_token_state resume);

#endif
