/*
 * scratch.h: the folder of one run of the harness: data directory, project folder, sockets. Removed
 * at the end.
 */
#ifndef PERF_SCRATCH_H
#define PERF_SCRATCH_H

#include <stdint.h>

#include "perf/workload.h"

struct scratch {
    char root[64]; /* short: a socket's path has at most 107 bytes */
    char data[96];
    char project[96];
    uint32_t module_port;
};

MUST_USE enum result scratch_open(const char *parent, struct scratch *out);
/* Removes everything below root. */
void scratch_close(struct scratch *scratch);
/* ipc:// below root, or tcp:// on a free port of 127.0.0.1. */
void scratch_url(const struct scratch *scratch, const char *transport, const char *name,
                 char out[128]);
/* project.json, the workload's definition and, where it needs one, modules.json for module_port. */
MUST_USE enum result scratch_project(const struct scratch *scratch, const struct workload *workload,
                                     struct arena *arena);
/* Median microseconds of a 2 KiB write and fdatasync on a prewritten file there. */
double scratch_sync_us(const struct scratch *scratch);

#endif
