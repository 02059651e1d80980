/* spike.h: what measured spikes share: they are programs of their own, one thread each. */
#ifndef PERF_SPIKE_H
#define PERF_SPIKE_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/servers/server.h"

/* Processor time of this process, all its threads. */
static inline double spike_cpu_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Goes on only when it holds: else says what did not, removes the spike's server and ends. */
static inline void spike_must(const char *spike, struct server *server, bool holds,
                              const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s: %s\n", spike, what);
        server_remove(server);
        _exit(1);
    }
}

#endif
