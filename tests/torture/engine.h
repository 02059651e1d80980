/*
 * engine.h: the engine under torture: `strider serve` in a child process that dies with us, over a
 * data directory, a project folder, and whatever servers for its tiers there are.
 */
#ifndef TESTS_TORTURE_ENGINE_H
#define TESTS_TORTURE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct torture_engine {
    const char *program;
    char directory[128]; /* all files of the torture */
    char url[160];       /* of the front */
    char admin[64];
    uint16_t redis_port;   /* 0: the hot tier is embedded */
    uint16_t azurite_port; /* 0: the blob tier is embedded */
    pid_t pid;
    uint32_t starts;
    uint64_t log_seen; /* bytes of its log before this start */
};

/* Starts it and waits until it says that it is ready; false when it does not within a minute. */
bool torture_engine_start(struct torture_engine *engine);
/* SIGKILL. */
void torture_engine_kill(struct torture_engine *engine);
/* SIGTERM; its exit status, -1 when it had to be killed after two minutes. */
int torture_engine_stop(struct torture_engine *engine);

#endif
