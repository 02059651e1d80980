/*
 * load.h: drives an NNG REP server with a fixed number of requests in flight, on NNG's own threads.
 *
 * Each lane is one REQ context that repeats a script: `next` makes the request for a lane's turn
 * (given the last reply), the lane sends it and waits. The same generator loads the engine and the
 * bare echo server, so both carry the same cost.
 */
#ifndef PERF_LOAD_H
#define PERF_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/histogram.h"
#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct load_lane {
    uint32_t index;
    uint64_t turn;    /* requests of this lane so far */
    uint32_t step;    /* place in the script, the script's to set */
    uint64_t unit_at; /* when the unit of work began, µs */
    char note[160];   /* the script's own memory, e.g. an execution id */
    struct arena arena;
};

enum load_verdict {
    LOAD_MORE, /* the unit of work goes on with another request */
    LOAD_DONE, /* one unit of work is done: counted, its latency recorded */
    LOAD_FAIL, /* counted as an error; the lane begins a new unit */
};

struct load_script {
    void *owner;
    /* The next request, in the lane's arena or static. */
    struct span (*next)(void *owner, struct load_lane *lane);
    /* Judges the reply. */
    enum load_verdict (*judge)(void *owner, struct load_lane *lane, struct span reply);
};

struct load_result {
    uint64_t units;
    uint64_t errors;
    double seconds;
    double throughput;        /* units a second */
    struct histogram latency; /* µs a unit */
    char first_error[600];
};

/* Runs for `seconds` (or until `units_max` units when > 0) with `lanes` in flight. */
MUST_USE enum result load_run(const char *url, uint32_t lanes, double seconds, uint64_t units_max,
                              const struct load_script *script, struct load_result *out);

uint64_t load_now_us(void);

/* The bare ceiling: a REP server of `contexts` cooked contexts that sends each request back. Serves
 * until stdin closes. */
int load_echo_serve(const char *url, uint32_t contexts);

#endif
