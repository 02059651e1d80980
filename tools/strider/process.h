/*
 * process.h: what the kernel says of this process: descriptors, memory, processor time.
 */
#ifndef TOOLS_STRIDER_PROCESS_H
#define TOOLS_STRIDER_PROCESS_H

#include <stdint.h>

#include "proto/base/arena.h"

/* Lets the process open as many files as it may (RLIMIT_NOFILE, soft up to hard); how many that is.
 * Before other threads. */
uint64_t process_raise_descriptors(void);

/* The process_* series by the names that Prometheus' client libraries use, in the arena; 0 where
 * the kernel does not tell. Any thread. */
struct span process_metrics(struct arena *arena);

#endif
