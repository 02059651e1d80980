/*
 * waiting.h: what many waiting executions cost: memory while they wait, and time to be ready again
 * after kill -9.
 */
#ifndef PERF_WAITING_H
#define PERF_WAITING_H

#include "perf/scratch.h"
#include "perf/settings.h"

/* Workloads `startup` and `memory`: the same run, both figures printed. Returns the exit code. */
int waiting_run(const struct settings *settings, struct scratch *scratch);

#endif
