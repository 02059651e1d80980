/*
 * child.h: a child process that runs the engine until it is killed with SIGKILL, and tells of what
 * was acknowledged to it.
 */
#ifndef TESTS_SYSTEM_CHILD_H
#define TESTS_SYSTEM_CHILD_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/check.h"

struct child {
    pid_t pid;
    int acknowledged; /* one byte for each acknowledged thing */
    int told;         /* what the child is told, once it runs */
};

static int told_from; /* the child's end */

static inline struct child begin(void (*run)(const char *directory, int acknowledge),
                                 const char *directory)
{
    int ends[2];
    int told[2];
    REQUIRE(pipe(ends) == 0 && pipe(told) == 0);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        close(told[1]);
        told_from = told[0];
        run(directory, ends[1]);
        for (;;) {
            pause(); /* the engine goes on in its threads */
        }
    }
    close(ends[1]);
    close(told[0]);
    return (struct child){.pid = pid, .acknowledged = ends[0], .told = told[1]};
}

static inline void acknowledge(int to)
{
    REQUIRE(write(to, "!", 1) == 1);
}

static inline void await(const struct child *child, int count)
{
    char bytes[256];
    while (count > 0) {
        ssize_t got = read(child->acknowledged, bytes,
                           (size_t)count < sizeof bytes ? (size_t)count : sizeof bytes);
        REQUIRE(got > 0);
        count -= (int)got;
    }
}

static inline void kill_now(struct child *child)
{
    int status;
    REQUIRE(kill(child->pid, SIGKILL) == 0);
    REQUIRE(waitpid(child->pid, &status, 0) == child->pid);
    CHECK(WIFSIGNALED(status));
    close(child->acknowledged);
    close(child->told);
}

#endif
