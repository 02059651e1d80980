/*
 * many.h: what one very wide execution costs its neighbours: a parallel multi-instance activity of
 * --waiting instances beside small executions (field report F143).
 */
#ifndef PERF_MANY_H
#define PERF_MANY_H

#include "perf/scratch.h"
#include "perf/settings.h"

/* Workload `many`. Returns the exit code. */
int many_run(const struct settings *settings, struct scratch *scratch);

#endif
