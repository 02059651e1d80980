/*
 * layout.h: the drawing in a file (BPMN DI): where nodes and flows are shown. It has no meaning,
 * but a drawing that was stored or converted must still look like itself.
 */
#ifndef ENGINE_READ_LAYOUT_H
#define ENGINE_READ_LAYOUT_H

#include "engine/read/draft.h"

/* Once all ids stand for nodes and flows. What is broken in a drawing is left out, silently. */
void engine_layout_read(struct draft *draft);

#endif
