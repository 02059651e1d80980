/*
 * event.h: events and their definitions: inline, or by eventDefinitionRef to one at the root of the
 * file.
 */
#ifndef ENGINE_READ_EVENT_H
#define ENGINE_READ_EVENT_H

#include "engine/read/draft.h"

bool engine_event_is(enum engine_kind kind);

/* Reads what an event waits for or throws, and how it behaves towards its host. */
void engine_event_read(struct draft *draft, struct engine_node *node, struct xml_element *element);

/* Name and correlation key of the <message> that `element` refers to; reports a reference to
 * nothing. */
void engine_event_read_message(struct draft *draft, struct xml_element *element,
                               struct span reference, struct engine_event_definition *out);

#endif
