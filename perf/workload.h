/*
 * workload.h: the processes that the harness runs, and the requests that one unit of each is made
 * of.
 */
#ifndef PERF_WORKLOAD_H
#define PERF_WORKLOAD_H

#include "perf/load.h"
#include "proto/base/arena.h"
#include "proto/base/span.h"

struct workload {
    const char *name;
    const char *summary;
    const char *process; /* id, and file name without .bpmn */
    bool module;         /* needs the module server */
    bool callback;       /* start, then a callback to the waiting task */
    /* The BPMN text, in the arena. */
    struct span (*definition)(struct arena *arena);
};

extern const struct workload workload_table[];
extern const uint32_t workload_count;
const struct workload *workload_find(const char *name);

/* Requests of one unit; owner is the struct below. */
struct workload_script {
    const struct workload *workload;
    struct span start; /* ready request bytes, the same for each unit */
};
/* Fills in *script; its bytes live in the arena. */
void workload_script(const struct workload *workload, struct arena *arena,
                     struct workload_script *owner, struct load_script *script);
/* Echo: sends the start request, takes it back. */
void workload_echo_script(struct workload_script *owner, struct load_script *script);

#endif
