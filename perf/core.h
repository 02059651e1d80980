/*
 * core.h: the token core alone, in this process on one thread: no front, no journal, no threads.
 */
#ifndef PERF_CORE_H
#define PERF_CORE_H

#include "perf/histogram.h"
#include "perf/workload.h"

struct core_result {
    uint64_t executions;
    uint64_t steps;
    uint64_t blob_bytes;
    double seconds;
    double executions_per_second;
    struct histogram latency; /* µs an execution */
};

/*
 * Runs executions from start to end for `seconds`: every step blob and the execution.msgpack is
 * encoded and every audit message made, as in the engine with shipped defaults; the bytes go
 * nowhere.
 */
MUST_USE enum result core_run(const struct workload *workload, double seconds,
                              struct core_result *out);
/* The floor under it: only the serialisation of the same blobs, over and over, from one finished
 * execution. */
MUST_USE enum result core_serialise(const struct workload *workload, double seconds,
                                    struct core_result *out);

#endif
