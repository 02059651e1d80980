/*
 * bpmn_node.h: flow nodes as BPMN elements; private to engine/write.
 */
#ifndef ENGINE_WRITE_BPMN_NODE_H
#define ENGINE_WRITE_BPMN_NODE_H

#include "engine/write/markup.h"
#include "engine/write/writing.h"

/* An element at the root of the file that events refer to: one for each different one. */
struct root_element {
    struct root_element *next;
    const char *name; /* "message", "error", "signal", "escalation" */
    struct span text; /* its name or code */
    struct span key;  /* correlation key of a message, spelled */
    struct span id;
};

struct bpmn_writing {
    struct writing *writing;
    struct markup markup;
    struct root_element *roots; /* in the order in which they were met */
};

/* Finds or makes the root element; the elements are written before the processes. */
const struct root_element *engine_bpmn_root(struct bpmn_writing *bpmn, const char *name,
                                            struct span text, struct span key);
/* Meets all root elements that a node refers to. */
void engine_bpmn_meet_roots(struct bpmn_writing *bpmn, const struct engine_node *node);

/* Everything of a node but what stands inside a sub-process: begin, then its inner nodes and flows,
 * then end. */
void engine_bpmn_begin_node(struct bpmn_writing *bpmn, const struct engine_node *node);
void engine_bpmn_end_node(struct bpmn_writing *bpmn, const struct engine_node *node);

/* bpmn_drawing.c: <BPMNDiagram> of a process that is drawn. */
void engine_bpmn_write_drawing(struct bpmn_writing *bpmn, const struct engine_process *process);

#endif
