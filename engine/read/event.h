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

/* The event definition at the root of the file with that id; NULL after a report: there is none. */
struct xml_element *engine_event_find(struct draft *draft, struct xml_element *element,
                                      struct span reference);
/* The definition that a child of an event is or refers to; NULL when it is something else. */
struct xml_element *engine_event_of(struct draft *draft, struct xml_element *event,
                                    struct xml_element *child);
/* Reads a definition, of which engine_event_of or engine_event_find says that it is one; `node`
 * throws or awaits it. */
void engine_event_read_one(struct draft *draft, struct engine_node *node,
                           struct xml_element *element, struct xml_element *definition,
                           struct engine_event_definition *out);

/* Name and correlation key of the <message> that `element` refers to; reports a reference to
 * nothing. */
void engine_event_read_message(struct draft *draft, struct xml_element *element,
                               struct span reference, struct engine_event_definition *out);

#endif
