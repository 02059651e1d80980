/*
 * support.h: what of BPMN is executed, in one place. The linter refuses by it; the coverage page is
 * printed from it.
 */
#ifndef ENGINE_READ_SUPPORT_H
#define ENGINE_READ_SUPPORT_H

#include "engine/model.h"

enum support {
    SUPPORT_NONE = 0, /* BPMN has no such thing */
    SUPPORT_LATER,    /* read into the model, not executed yet */
    SUPPORT_BY_HAND,  /* a start event that nothing triggers: a plain start begins there */
    SUPPORT_FULL,
};

/* Where an event stands. */
enum support_place {
    SUPPORT_START,               /* of a process */
    SUPPORT_SUB_PROCESS_START,   /* of an embedded sub-process */
    SUPPORT_EVENT_PROCESS_START, /* of an event sub-process */
    SUPPORT_CATCH,
    SUPPORT_THROW,
    SUPPORT_BOUNDARY,
    SUPPORT_BOUNDARY_BESIDE, /* non-interrupting */
    SUPPORT_END,
    SUPPORT_PLACE_COUNT
};

/* What an element may bear besides its kind. */
enum support_marker {
    SUPPORT_STANDARD_LOOP,
    SUPPORT_PARALLEL_INSTANCES,
    SUPPORT_SEQUENTIAL_INSTANCES,
    SUPPORT_COMPENSATION_HANDLER,
    SUPPORT_EVENT_SUB_PROCESS,
    SUPPORT_INSTANTIATING,    /* a receive task or event gateway that starts a process */
    SUPPORT_SEVERAL_TRIGGERS, /* more than one event definition */
    SUPPORT_BLOCK_JOIN,       /* block scheme: a block that waits for several faces */
    SUPPORT_BLOCK_RESULT,     /* block scheme: a block whose result selects its faces */
    SUPPORT_MARKER_COUNT
};

enum support engine_support_kind(enum engine_kind kind);
enum support engine_support_event(enum support_place place, enum engine_event_kind event);
enum support engine_support_marker(enum support_marker marker);
/* "non-interrupting boundary event"; "a standard loop" */
const char *engine_support_place_name(enum support_place place);
const char *engine_support_marker_name(enum support_marker marker);

struct support_verdict {
    enum support support;
    const char *what; /* of less than full support: "a signal boundary event", "a multi-instance
                         activity" */
    char text[64];    /* private: where `what` may point */
};

/* The least of what its kind, its event and its markers have. */
void engine_support_judge(const struct engine_process *process, const struct engine_node *node,
                          struct support_verdict *out);

#endif
