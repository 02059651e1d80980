/*
 * timer.h: timer events: when they are due, and what happens then. ISO 8601 is engine/time's
 * business.
 */
#ifndef ENGINE_TIMER_H
#define ENGINE_TIMER_H

#include "engine/names.h"

/* Arms a time that `event` names, on the visit's token. False: its expression failed, which was
 * decided on. */
bool engine_timer_arm(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_node *event, uint32_t place, struct engine_scene *scene);
/* When a timer catch event that the visit's token enters now is due. False as above. */
bool engine_timer_due(struct engine_decision *decision, const struct engine_visit *visit,
                      int64_t *due_ms);
/* Such a time is due: its event happens, and it is armed anew if it is a cycle on a host that
 * stays. */
void engine_timer_fire(struct engine_decision *decision, const struct engine_token *host,
                       const struct engine_timer *timer);

#endif
