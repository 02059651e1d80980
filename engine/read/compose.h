/*
 * compose.h: an XML document made in memory, for the readers of other notations: they say in BPMN
 * what their file says, and bpmn.c compiles it as if it had been written that way. So there is one
 * compiler, and one set of rules.
 */
#ifndef ENGINE_READ_COMPOSE_H
#define ENGINE_READ_COMPOSE_H

#include "engine/read/xml.h"

/* Where in the file something stands that becomes an element; 0: unknown. */
struct compose_place {
    uint32_t line;
    uint32_t column;
};

/*
 * All live in the arena. When it is full an element is NULL, and all functions do nothing with such
 * a one: look at the arena's latch once, at the end. A NULL parent makes a root.
 */
struct xml_element *engine_compose(struct arena *arena, struct xml_element *parent,
                                   enum xml_namespace space, const char *name,
                                   struct compose_place place);
/* A child of <extensionElements>, which is made when there is none. */
struct xml_element *engine_compose_extension(struct arena *arena, struct xml_element *element,
                                             const char *name);
/* The value is borrowed; an empty one is left out. */
void engine_compose_set(struct arena *arena, struct xml_element *element, enum xml_namespace space,
                        const char *name, struct span value);
void engine_compose_text(struct xml_element *element, struct span text);

#endif
