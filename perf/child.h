/*
 * child.h: starts this same binary in another role (the engine, the echo server, a module server)
 * and reads what the kernel knows of it. Children are stopped by their own pid.
 */
#ifndef PERF_CHILD_H
#define PERF_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "proto/base/result.h"

struct child {
    pid_t pid;
    int input;  /* its stdin: closing it asks an echo or module server to leave */
    int output; /* its stderr, read by us */
};

/* argv[0] is replaced by this binary. */
MUST_USE enum result child_start(char *const argv[], struct child *out);
/* Reads its stderr until a line holds `text`; RESULT_CLOSED when it ends first, RESULT_TIMEOUT.
 * What was read is in *seen. */
MUST_USE enum result child_await(struct child *child, const char *text, uint32_t timeout_ms,
                                 char *seen, size_t seen_bytes);
/* SIGTERM, wait; SIGKILL after timeout_ms. Returns the exit status, -1 when killed. */
int child_stop(struct child *child, uint32_t timeout_ms);
void child_kill(struct child *child);

/* Bytes; 0 when it cannot be read. */
uint64_t child_rss(pid_t pid);
uint64_t child_peak_rss(pid_t pid);
/* CPU seconds (user + system) of a process so far. */
double child_cpu_seconds(pid_t pid);

#endif
