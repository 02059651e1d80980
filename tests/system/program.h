/* program.h: the real binary in a child process that dies with us. */
#ifndef TESTS_SYSTEM_PROGRAM_H
#define TESTS_SYSTEM_PROGRAM_H

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/check.h"

/* The binary is two folders above this program. */
static inline const char *program_path(void)
{
    static char path[512];
    ssize_t count = readlink("/proc/self/exe", path, sizeof path - 32);
    REQUIRE(count > 0);
    path[count] = '\0';
    for (int i = 0; i < 3; i++) {
        *strrchr(path, '/') = '\0';
    }
    snprintf(path + strlen(path), 32, "/strider");
    REQUIRE(access(path, X_OK) == 0);
    return path;
}

/* arguments[0] is any name, the last one NULL. What it says on both streams is appended to `log`.
 */
static inline pid_t program_spawn(const char *log, const char *const *arguments)
{
    const char *path = program_path();
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0) {
        REQUIRE(pid > 0);
        return pid;
    }
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || dup2(out, 1) < 0 ||
        dup2(out, 2) < 0) {
        _exit(126);
    }
    execv(path, (char *const *)arguments);
    _exit(127);
}

/* Its wait status. */
static inline int program_end(pid_t *pid, int number)
{
    int status = 0;
    kill(*pid, number);
    REQUIRE(waitpid(*pid, &status, 0) == *pid);
    *pid = 0;
    return status;
}

#endif
