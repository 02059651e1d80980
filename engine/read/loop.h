/*
 * loop.h: loop markers: standard loops, and instances by number or collection with what they throw.
 */
#ifndef ENGINE_READ_LOOP_H
#define ENGINE_READ_LOOP_H

#include "engine/read/draft.h"

/* The marker of an activity, if it has one. */
void engine_loop_read(struct draft *draft, struct engine_node *node, struct xml_element *element);

#endif
