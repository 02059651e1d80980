/*
 * pace.c: reads what the kernel counts for this thread; the drain's thread only.
 */
#include "actors/pace.h"

#include <sys/resource.h>

#include "proto/base/assert.h"

enum {
    REST_PER_WORK = 9,
    REST_MS_MAX = 200,
};

/* CPU time and involuntary switches of this thread. */
static uint64_t usage(uint64_t *switches)
{
    struct rusage usage;
    int failed = getrusage(RUSAGE_THREAD, &usage);
    ASSERT(failed == 0);
    *switches = (uint64_t)usage.ru_nivcsw;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void actor_pace_begin(struct actor_pace *pace)
{
    if (pace->enabled) {
        pace->begin_us = usage(&pace->begin_switches);
    }
}

void actor_pace_end(struct actor_pace *pace, uint64_t behind_bytes, uint64_t now_ms)
{
    if (!pace->enabled) {
        return;
    }
    uint64_t switches;
    uint64_t work_us = usage(&switches) - pace->begin_us;
    bool busy = switches != pace->begin_switches;
    uint64_t rest_ms =
        busy && behind_bytes < pace->behind_bytes_max ? work_us * REST_PER_WORK / 1000 : 0;
    pace->rest_until_ms = now_ms + (rest_ms < REST_MS_MAX ? rest_ms : REST_MS_MAX);
}
