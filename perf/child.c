/*
 * child.c: see child.h.
 */
#include "perf/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perf/load.h"

extern char **environ;

enum result child_start(char *const argv[], struct child *out)
{
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0) {
        return RESULT_IO;
    }
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        close(input[1]);
        return RESULT_IO;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawn(&out->pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    fcntl(output[0], F_SETPIPE_SZ,
          1 << 20); /* nobody reads after child_await: room for what it may still say */
    out->input = input[1];
    out->output = output[0];
    if (failure != 0) {
        close(out->input);
        close(out->output);
        return RESULT_IO;
    }
    return RESULT_OK;
}

enum result child_await(struct child *child, const char *text, uint32_t timeout_ms, char *seen,
                        size_t seen_bytes)
{
    size_t used = 0;
    uint64_t limit = load_now_us() + (uint64_t)timeout_ms * 1000;
    seen[0] = '\0';
    while (strstr(seen, text) == NULL) {
        uint64_t now = load_now_us();
        struct pollfd wait = {.fd = child->output, .events = POLLIN};
        if (now >= limit || poll(&wait, 1, (int)((limit - now) / 1000 + 1)) < 0) {
            return RESULT_TIMEOUT;
        }
        if (wait.revents == 0) {
            continue;
        }
        if (used + 1 >= seen_bytes) {
            used = 0; /* keep what comes, not what came */
        }
        ssize_t got = read(child->output, seen + used, seen_bytes - used - 1);
        if (got <= 0) {
            return RESULT_CLOSED;
        }
        used += (size_t)got;
        seen[used] = '\0';
    }
    return RESULT_OK;
}

static bool wait_until(pid_t pid, uint32_t timeout_ms, int *status)
{
    uint64_t limit = load_now_us() + (uint64_t)timeout_ms * 1000;
    for (;;) {
        if (waitpid(pid, status, WNOHANG) == pid) {
            return true;
        }
        if (load_now_us() > limit) {
            return false;
        }
        struct timespec moment = {.tv_nsec = 2000000};
        nanosleep(&moment, NULL);
    }
}

static void drop_pipes(struct child *child)
{
    close(child->input);
    close(child->output);
    child->input = child->output = -1;
}

int child_stop(struct child *child, uint32_t timeout_ms)
{
    int status = 0;
    close(child->input);
    child->input = -1;
    kill(child->pid, SIGTERM);
    bool ended = wait_until(child->pid, timeout_ms, &status);
    if (!ended) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, &status, 0);
    }
    drop_pipes(child);
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void child_kill(struct child *child)
{
    int status;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    drop_pipes(child);
}

static uint64_t status_kilobytes(pid_t pid, const char *field)
{
    char path[64];
    char line[256];
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    size_t count = strlen(field);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, count) == 0) {
            found = strtoull(line + count, NULL, 10);
            break;
        }
    }
    fclose(file);
    return found * 1024;
}

uint64_t child_rss(pid_t pid)
{
    return status_kilobytes(pid, "VmRSS:");
}
uint64_t child_peak_rss(pid_t pid)
{
    return status_kilobytes(pid, "VmHWM:");
}

double child_cpu_seconds(pid_t pid)
{
    char path[64];
    char line[1024];
    unsigned long user = 0;
    unsigned long system_time = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    if (fgets(line, sizeof line, file) != NULL) {
        char *behind_name = strrchr(line, ')');
        if (behind_name != NULL) {
            sscanf(behind_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                   &system_time);
        }
    }
    fclose(file);
    return (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}
