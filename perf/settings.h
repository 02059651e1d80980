/*
 * settings.h: what a run of the harness was asked to do, and the line that it prints in the end.
 */
#ifndef PERF_SETTINGS_H
#define PERF_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "perf/histogram.h"
#include "proto/wire/writer.h"

struct settings {
    const char *workload;
    double seconds;  /* of one round of one side */
    uint32_t rounds; /* ceiling and engine in turn */
    uint32_t in_flight;
    uint32_t shards;       /* 0: the engine's default */
    uint32_t waiting;      /* executions, for startup and memory; instances, for many */
    const char *transport; /* "ipc" or "tcp" */
    const char *step_blobs;
    bool durable;
    bool audit;
    bool json;
    const char *directory; /* parent of the run's data */
};

/* 0, or 2 after a line on stderr; 3: help was printed. */
int settings_parse(int argc, char **argv, struct settings *out);
/* The environment of the engine to be started. */
void settings_export(const struct settings *settings, const char *listen);
/* "workload", "transport", "inFlight", "settings":{…} pairs into an open map; returns the count. */
uint32_t settings_pairs(const struct settings *settings, struct wire_writer *writer);
/* "throughput","p50Us","p99Us","p999Us" pairs; returns the count. */
uint32_t settings_latency_pairs(double throughput, const struct histogram *latency,
                                struct wire_writer *writer);

#endif
