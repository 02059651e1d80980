/*
 * publish.h: messages and signals that leave: throw events, end events, send tasks.
 */
#ifndef ENGINE_PUBLISH_H
#define ENGINE_PUBLISH_H

#include "engine/decision.h"

/*
 * Publishes every message and signal that the event names, or the message of a send task. The
 * payload is what the node's inputs make (`local`); without inputs it is empty. False: a name or
 * key failed, which was decided on.
 */
bool engine_publish(struct engine_decision *decision, const struct engine_visit *visit,
                    struct span local);
/* The same of one message or signal, which the node need not have as an event; `place` tells it
 * from others of the same step. */
bool engine_publish_one(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_event_definition *definition, uint32_t place,
                        struct span local);

#endif
