/*
 * execution_view.h: an execution as a `get` with payloads and map tells of it, looked at and shown.
 */
#ifndef TOOLS_STRIDER_EXECUTION_VIEW_H
#define TOOLS_STRIDER_EXECUTION_VIEW_H

#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/span.h"

/* What has to happen before it can go on. */
enum execution_standing {
    EXECUTION_MOVES,            /* its segment has not ended */
    EXECUTION_WAITS_FOR_TIME,   /* a timer or a retry is among its waits */
    EXECUTION_WAITS_FOR_OTHERS, /* a person, a callback, a message, a signal */
    EXECUTION_ENDED,
};

enum execution_standing execution_standing(struct span execution);

/* Prints the steps behind number `shown`, a line each; returns the number of the last one. */
int64_t execution_print_steps(struct span execution, int64_t shown, FILE *out, struct arena *arena);
/* Prints each wait with its due time, a line each. */
void execution_print_waits(struct span execution, FILE *out, struct arena *arena);

/*
 * The result of a run as one MAP value: identity, state, trace (the node ids of all steps in
 * order), waits, payloads, error; what is absent is left out. The trace is a list, or one text for
 * a person.
 */
struct span execution_result(struct span execution, bool trace_as_text, struct arena *arena);

#endif
