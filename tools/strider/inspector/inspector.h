/*
 * inspector.h: the page that `strider serve` shows at "/" of its HTTP side: executions, their
 * replay, human tasks and definitions. It holds no data: its scripts ask /v1/ for that.
 */
#ifndef TOOLS_STRIDER_INSPECTOR_INSPECTOR_H
#define TOOLS_STRIDER_INSPECTOR_INSPECTOR_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct inspector {
    struct span html;
    const char *policy; /* its Content-Security-Policy: its own scripts by their digests */

    /* private to inspector.c */
    struct arena arena;
};

/* RESULT_LIMIT: no memory, and nothing to release. */
MUST_USE enum result inspector_init(struct inspector *out);
/* One that is zero is fine. */
void inspector_release(struct inspector *inspector);

#endif
