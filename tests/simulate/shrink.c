/*
 * shrink.c: see shrink.h. Reports come through a pipe, whole structs of this same program.
 */
#include "tests/simulate/shrink.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "proto/base/assert.h"

enum {
    SEED_SECONDS_MAX = 300 /* of a machine that has other things to do */,
    SALTS_TRIED = 20,
    RUNS_MAX = 3000
};

/* ---- apart ---- */

pid_t sim_fork(void)
{
    fflush(stdout);
    pid_t child = fork();
    ASSERT(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to hear it */
    }
    return child;
}

static void live_in_child(const struct sim_options *options, uint64_t count, int out)
{
    struct sim_options each = *options;
    struct sim_report report;
    for (uint64_t i = 0; i < count; i++) {
        each.seed = options->seed + i;
        alarm(SEED_SECONDS_MAX);
        sim_run(&each, &report);
        fflush(stdout);
        if (write(out, &report, sizeof report) != (ssize_t)sizeof report) {
            _exit(1); /* nobody listens any more */
        }
    }
}

/* What exit() would look for; a child has no exit of its own. */
static bool leaks(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __lsan_do_recoverable_leak_check() != 0;
#else
    return false;
#endif
}

static bool read_report(int in, struct sim_report *report)
{
    size_t got = 0;
    while (got < sizeof *report) {
        ssize_t more = read(in, (char *)report + got, sizeof *report - got);
        if (more <= 0) {
            return false;
        }
        got += (size_t)more;
    }
    return true;
}

static void describe_death(int status, struct sim_report *report)
{
    *report = (struct sim_report){0};
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        (void)snprintf(report->failure, sizeof report->failure, "no end after %d s",
                       SEED_SECONDS_MAX);
    } else {
        (void)snprintf(report->failure, sizeof report->failure,
                       "the process died: %s %d (what it said is above)",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* Returns how many seeds were reported; *goes_on: `each` wants more. */
static uint64_t run_child(const struct sim_options *options, uint64_t count, sim_each_fn each,
                          void *owner, bool *goes_on)
{
    int pipes[2];
    int piped = pipe(pipes);
    ASSERT(piped == 0);
    pid_t child = sim_fork();
    if (child == 0) {
        close(pipes[0]);
        live_in_child(options, count, pipes[1]);
        _exit(leaks() ? 2 : 0);
    }
    close(pipes[1]);
    struct sim_report report;
    struct sim_options now = *options;
    uint64_t reported = 0;
    while (*goes_on && reported < count && read_report(pipes[0], &report)) {
        now.seed = options->seed + reported++;
        *goes_on = each(owner, &now, &report);
    }
    close(pipes[0]);
    if (!*goes_on) {
        kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (*goes_on && status != 0) {
        reported += reported < count;
        now.seed = options->seed + reported - 1;
        describe_death(status, &report);
        *goes_on = each(owner, &now, &report);
    }
    return reported;
}

void sim_run_apart(const struct sim_options *options, uint64_t count, sim_each_fn each, void *owner)
{
    struct sim_options rest = *options;
    bool goes_on = true;
    while (count > 0 && goes_on) {
        uint64_t reported = run_child(&rest, count, each, owner, &goes_on);
        rest.seed += reported;
        count -= reported;
    }
}

/* ---- smaller ---- */

/* The smallest failure so far. */
struct shrinking {
    struct sim_options options;
    struct sim_report report;
    uint32_t runs_left;
};

static bool keep_report(void *owner, const struct sim_options *options,
                        const struct sim_report *report)
{
    (void)options;
    *(struct sim_report *)owner = *report;
    return true;
}

/* Takes the options over when they fail. */
static bool fails(struct shrinking *shrinking, const struct sim_options *tried)
{
    struct sim_report report = {0};
    if (shrinking->runs_left == 0) {
        return false;
    }
    shrinking->runs_left--;
    sim_run_apart(tried, 1, keep_report, &report);
    if (report.failure[0] == '\0') {
        return false;
    }
    shrinking->options = *tried;
    shrinking->report = report;
    return true;
}

/* Another schedule may fail where this one no longer does. */
static bool fails_by_some_schedule(struct shrinking *shrinking, struct sim_options tried)
{
    if (fails(shrinking, &tried)) {
        return true;
    }
    for (tried.salt = 1; tried.salt <= SALTS_TRIED; tried.salt++) {
        if (fails(shrinking, &tried)) {
            return true;
        }
    }
    return false;
}

/* Outer blocks stand before those inside, so the largest pieces go first. */
static bool prune(struct shrinking *shrinking)
{
    bool smaller = false;
    uint32_t i = 0;
    while (i < shrinking->report.block_count && shrinking->options.pruned_count < SIM_PRUNED_MAX) {
        struct sim_options tried = shrinking->options;
        tried.pruned[tried.pruned_count++] = shrinking->report.blocks[i];
        bool gone = fails_by_some_schedule(shrinking, tried);
        i = gone ? 0 : i + 1; /* the list is another one then */
        smaller = smaller || gone;
    }
    return smaller;
}

static bool leave_faults_out(struct shrinking *shrinking)
{
    bool smaller = false;
    for (uint32_t fault = 0; fault < SIM_FAULT_COUNT; fault++) {
        struct sim_options tried = shrinking->options;
        tried.without |= 1u << fault;
        smaller |=
            shrinking->report.fault_counts[fault] > 0 && fails_by_some_schedule(shrinking, tried);
    }
    return smaller;
}

bool sim_shrink(struct sim_options *options, struct sim_report *report)
{
    struct shrinking shrinking = {.runs_left = RUNS_MAX};
    struct sim_options first = *options;
    first.trace = false;
    if (!fails(&shrinking, &first)) {
        return false;
    }
    bool smaller = true;
    while (smaller) {
        smaller = prune(&shrinking);
        smaller = leave_faults_out(&shrinking) || smaller;
    }
    *options = shrinking.options;
    *report = shrinking.report;
    return true;
}

void sim_print_options(const struct sim_options *options)
{
    printf("--seed %llu", (unsigned long long)options->seed);
    if (options->salt != 0) {
        printf(" --salt %u", options->salt);
    }
    const char *separator = " --without ";
    for (uint32_t fault = 0; fault < SIM_FAULT_COUNT; fault++) {
        if ((options->without & (1u << fault)) != 0) {
            printf("%s%s", separator, sim_fault_name((enum sim_fault)fault));
            separator = ",";
        }
    }
    separator = " --prune ";
    for (uint32_t i = 0; i < options->pruned_count; i++) {
        printf("%s%x", separator, options->pruned[i]);
        separator = ",";
    }
    if (options->bug != SIM_NO_BUG) {
        printf(" --bug %s", sim_bug_name(options->bug));
    }
}
