/*
 * main.c: the simulator's command line, and what a run of many seeds has covered. README.md here
 * says how to use it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "tests/simulate/blocks.h"
#include "tests/simulate/shrink.h"

enum {
    SEEDS_DEFAULT = 2000,
    LANES_MAX = 64,
    STEPS_SEEN = 1024,
    FAULTS_SEEN = 128,
    CRASHES_SEEN = 16,
    SHOWN_MAX = 5, /* failures that are printed in each lane */
    STEPS_LEAST = 15,
    FAULTS_LEAST = 3,
    CRASHES_LEAST = 1,
    KIND_LEAST = 1000,
    LONG_SEEDS = 100000,
};

struct arguments {
    struct sim_options options;
    uint64_t seeds;
    uint32_t lanes;
    bool single;
};

/* What many runs have covered. Plain: it crosses a pipe. */
struct coverage {
    uint64_t passed;
    uint64_t failed;
    uint64_t first_failed; /* seed */
    uint64_t confluent;
    uint64_t schemes;
    uint64_t unexplored;
    uint64_t explored;
    uint64_t ends;
    uint64_t steps[STEPS_SEEN]; /* seeds by number of steps; the last: so many or more */
    uint64_t faults[FAULTS_SEEN];
    uint64_t crashes[CRASHES_SEEN];
    uint64_t fault_counts[SIM_FAULT_COUNT];
    uint64_t kind_counts[ENGINE_KIND_COUNT];
    uint64_t row_counts[SIM_BLOCKS_MAX];
};

/* ---- counting ---- */

static void count_in(uint64_t *histogram, uint64_t size, uint64_t value)
{
    histogram[value < size ? value : size - 1]++;
}

static uint64_t median(const uint64_t *histogram, uint64_t size)
{
    uint64_t all = 0, seen = 0;
    for (uint64_t i = 0; i < size; i++) {
        all += histogram[i];
    }
    for (uint64_t i = 0; i < size; i++) {
        seen += histogram[i];
        if (2 * seen >= all) {
            return i;
        }
    }
    return 0;
}

static void cover(struct coverage *coverage, const struct sim_report *report)
{
    coverage->confluent += report->confluent;
    coverage->schemes += report->is_scheme;
    coverage->unexplored += report->unexplored;
    coverage->explored += report->ends_allowed > 0;
    coverage->ends += report->ends_allowed;
    count_in(coverage->steps, STEPS_SEEN, report->steps);
    count_in(coverage->faults, FAULTS_SEEN, report->faults);
    count_in(coverage->crashes, CRASHES_SEEN, report->crashes);
    for (uint32_t i = 0; i < SIM_FAULT_COUNT; i++) {
        coverage->fault_counts[i] += report->fault_counts[i];
    }
    for (uint32_t i = 0; i < ENGINE_KIND_COUNT; i++) {
        coverage->kind_counts[i] += report->kind_counts[i];
    }
    for (uint32_t i = 0; i < SIM_BLOCKS_MAX; i++) {
        coverage->row_counts[i] += report->row_counts[i];
    }
}

static void add_coverage(struct coverage *to, const struct coverage *from)
{
    uint64_t first = to->failed == 0 || (from->failed > 0 && from->first_failed < to->first_failed)
                         ? from->first_failed
                         : to->first_failed;
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *addends = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++) {
        sums[i] += addends[i]; /* it is counters through and through, but for one */
    }
    to->first_failed = first;
}

/* ---- one lane of seeds ---- */

struct lane {
    const struct arguments *arguments;
    struct coverage coverage;
};

static void show_failure(const struct sim_options *options, const struct sim_report *report)
{
    struct sim_options small = *options;
    struct sim_report its = *report;
    printf("seed %" PRIu64 " FAILED: %s\n", options->seed, report->failure);
    if (options->bug != SIM_NO_BUG) {
        return; /* it is what was looked for */
    }
    bool replays = sim_shrink(&small, &its);
    printf(replays ? "  replay: simulate " : "  THE SAME SEED DOES NOT FAIL AGAIN: simulate ");
    sim_print_options(&small);
    printf(" --trace\n");
    if (replays && (small.pruned_count > 0 || small.without != 0)) {
        printf("  shrunk to %u blocks, %u faults: %s\n", its.block_count, its.faults, its.failure);
    }
    fflush(stdout);
}

static bool take_report(void *owner, const struct sim_options *options,
                        const struct sim_report *report)
{
    struct lane *lane = owner;
    cover(&lane->coverage, report);
    if (report->failure[0] == '\0') {
        lane->coverage.passed++;
        return true;
    }
    if (lane->coverage.failed++ == 0) {
        lane->coverage.first_failed = options->seed;
    }
    if (lane->coverage.failed <= SHOWN_MAX) {
        show_failure(options, report);
    }
    return options->bug == SIM_NO_BUG; /* one find is enough */
}

/* Seeds [from, from + count) in processes of their own; the coverage goes into the pipe. */
static int start_lane(const struct arguments *arguments, uint64_t from, uint64_t count)
{
    int pipes[2];
    int piped = pipe(pipes);
    ASSERT(piped == 0);
    pid_t child = sim_fork();
    if (child == 0) {
        struct lane lane = {.arguments = arguments};
        struct sim_options options = arguments->options;
        options.seed = from;
        close(pipes[0]);
        sim_run_apart(&options, count, take_report, &lane);
        bool written =
            write(pipes[1], &lane.coverage, sizeof lane.coverage) == (ssize_t)sizeof lane.coverage;
        _exit(written ? 0 : 1);
    }
    close(pipes[1]);
    return pipes[0];
}

static void end_lane(int in, struct coverage *coverage)
{
    struct coverage its;
    size_t got = 0;
    while (got < sizeof its) {
        ssize_t more = read(in, (char *)&its + got, sizeof its - got);
        ASSERT(more > 0);
        got += (size_t)more;
    }
    close(in);
    (void)wait(NULL);
    add_coverage(coverage, &its);
}

/* ---- telling ---- */

static void print_counts(const char *title, const uint64_t *counts, uint32_t count,
                         const char *(*name)(uint32_t index))
{
    printf("%s:", title);
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] > 0) {
            printf(" %s %" PRIu64, name(i), counts[i]);
        }
    }
    putchar('\n');
}

static const char *kind_name(uint32_t kind)
{
    return engine_kind_xml_name((enum engine_kind)kind);
}

static const char *fault_name(uint32_t fault)
{
    return sim_fault_name((enum sim_fault)fault);
}

static const char *row_name(uint32_t row)
{
    return row < block_row_count ? block_rows[row].name : "?";
}

static void print_coverage(const struct coverage *coverage)
{
    printf("median per seed: %" PRIu64 " steps, %" PRIu64 " faults, %" PRIu64 " crashes\n",
           median(coverage->steps, STEPS_SEEN), median(coverage->faults, FAULTS_SEEN),
           median(coverage->crashes, CRASHES_SEEN));
    printf("models: %" PRIu64 " confluent, %" PRIu64 " of them block schemes; %" PRIu64
           " explored, with %" PRIu64 " ends; %" PRIu64 " beyond the bound\n",
           coverage->confluent, coverage->schemes, coverage->explored, coverage->ends,
           coverage->unexplored);
    print_counts("steps by element", coverage->kind_counts, ENGINE_KIND_COUNT, kind_name);
    print_counts("blocks", coverage->row_counts, block_row_count, row_name);
    print_counts("faults", coverage->fault_counts, SIM_FAULT_COUNT, fault_name);
}

/* What a run of LONG_SEEDS must have covered; a shorter one only tells. */
static uint32_t check_marks(const struct coverage *coverage, uint64_t seeds)
{
    uint32_t missed = 0;
    const struct {
        const char *what;
        uint64_t found, least;
    } medians[] = {
        {"steps", median(coverage->steps, STEPS_SEEN), STEPS_LEAST},
        {"faults", median(coverage->faults, FAULTS_SEEN), FAULTS_LEAST},
        {"crashes", median(coverage->crashes, CRASHES_SEEN), CRASHES_LEAST},
    };
    for (size_t i = 0; i < sizeof medians / sizeof medians[0]; i++) {
        if (medians[i].found < medians[i].least) {
            missed++;
            printf("TOO FEW %s: %" PRIu64 " of %" PRIu64 "\n", medians[i].what, medians[i].found,
                   medians[i].least);
        }
    }
    for (uint32_t i = 0; i < ENGINE_KIND_COUNT; i++) {
        if (seeds >= LONG_SEEDS && coverage->kind_counts[i] < KIND_LEAST) {
            missed++;
            printf("TOO FEW steps of %s: %" PRIu64 " of %d\n", kind_name(i),
                   coverage->kind_counts[i], KIND_LEAST);
        }
    }
    return seeds >= LONG_SEEDS ? missed : 0;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_many(const struct arguments *arguments)
{
    int lanes[LANES_MAX];
    struct coverage coverage = {0};
    double begin = seconds_now();
    uint64_t from = arguments->options.seed, left = arguments->seeds;
    for (uint32_t i = 0; i < arguments->lanes; i++) {
        uint64_t count = left / (arguments->lanes - i);
        lanes[i] = start_lane(arguments, from, count);
        from += count;
        left -= count;
    }
    for (uint32_t i = 0; i < arguments->lanes; i++) {
        end_lane(lanes[i], &coverage);
    }
    double seconds = seconds_now() - begin;
    uint64_t seeds = coverage.passed + coverage.failed;
    if (arguments->options.bug != SIM_NO_BUG) {
        bool found = coverage.failed > 0;
        printf("%s: %s after %" PRIu64 " seeds\n", sim_bug_name(arguments->options.bug),
               found ? "found" : "NOT FOUND", seeds);
        printf("%d passed, %d failed\n", found, !found);
        return found ? 0 : 1;
    }
    print_coverage(&coverage);
    uint32_t missed = check_marks(&coverage, seeds);
    printf("%" PRIu64 " passed, %" PRIu64 " failed (%.0f seeds/s)\n", coverage.passed,
           coverage.failed + missed, seconds > 0 ? (double)seeds / seconds : 0);
    return coverage.failed + missed == 0 ? 0 : 1;
}

/* In this process: a debugger may look on. */
static int run_one(const struct arguments *arguments)
{
    struct sim_report report;
    sim_run(&arguments->options, &report);
    bool failed = report.failure[0] != '\0';
    if (failed) {
        printf("seed %" PRIu64 " FAILED: %s\n", arguments->options.seed, report.failure);
    }
    printf("%" PRIu64 " steps, %u faults, %u crashes\n%d passed, %d failed\n", report.steps,
           report.faults, report.crashes, !failed, failed);
    return failed ? 1 : 0;
}

/* ---- arguments ---- */

static int usage(void)
{
    fputs("usage: simulate [--seeds N] [--from SEED] [--jobs N] [--bug NAME]\n"
          "       simulate --seed SEED [--trace] [--salt N] [--without FAULT,…] [--prune BLOCK,…]\n"
          "bugs: join-counts-tokens lost-timer reply-before-commit message-twice message-lost\n"
          "      handler-twice log-index-twice deleted-stays tick-twice tick-lost\n"
          "      bus-forgets migration-by-place import-half\nfaults:",
          stderr);
    for (uint32_t fault = 0; fault < SIM_FAULT_COUNT; fault++) {
        fprintf(stderr, " %s", fault_name(fault));
    }
    fputc('\n', stderr);
    return 2;
}

static bool parse_number(const char *text, int base, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, base);
    return end != text && *end == '\0';
}

static bool parse_fault(const char *name, struct sim_options *options)
{
    for (uint32_t fault = 0; fault < SIM_FAULT_COUNT; fault++) {
        if (strcmp(fault_name(fault), name) == 0) {
            options->without |= 1u << fault;
            return true;
        }
    }
    return false;
}

static bool parse_block(const char *text, struct sim_options *options)
{
    uint64_t block;
    if (!parse_number(text, 16, &block) || options->pruned_count == SIM_PRUNED_MAX) {
        return false;
    }
    options->pruned[options->pruned_count++] = (uint32_t)block;
    return true;
}

static bool parse_list(const char *list, struct sim_options *options,
                       bool (*parse)(const char *text, struct sim_options *options))
{
    char text[32];
    while (*list != '\0') {
        size_t count = strcspn(list, ",");
        if (count >= sizeof text) {
            return false;
        }
        memcpy(text, list, count);
        text[count] = '\0';
        if (!parse(text, options)) {
            return false;
        }
        list += count + (list[count] == ',');
    }
    return true;
}

static bool parse_bug(const char *name, struct sim_options *options)
{
    for (uint32_t bug = SIM_NO_BUG + 1; bug < SIM_BUG_COUNT; bug++) {
        if (strcmp(sim_bug_name((enum sim_bug)bug), name) == 0) {
            options->bug = (enum sim_bug)bug;
            return true;
        }
    }
    return false;
}

static bool parse_option(struct arguments *arguments, const char *name, const char *value)
{
    struct sim_options *options = &arguments->options;
    uint64_t number;
    if (strcmp(name, "--without") == 0) {
        return parse_list(value, options, parse_fault);
    }
    if (strcmp(name, "--prune") == 0) {
        return parse_list(value, options, parse_block);
    }
    if (strcmp(name, "--bug") == 0) {
        return parse_bug(value, options);
    }
    if (!parse_number(value, 10, &number)) {
        return false;
    }
    if (strcmp(name, "--seed") == 0) {
        arguments->single = true;
        options->seed = number;
    } else if (strcmp(name, "--from") == 0) {
        options->seed = number;
    } else if (strcmp(name, "--seeds") == 0) {
        arguments->seeds = number;
    } else if (strcmp(name, "--salt") == 0) {
        options->salt = (uint32_t)number;
    } else if (strcmp(name, "--jobs") == 0) {
        arguments->lanes = (uint32_t)number;
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.options.seed = 1, .seeds = SEEDS_DEFAULT, .lanes = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            arguments.options.trace = true;
        } else if (i + 1 == argc || !parse_option(&arguments, argv[i], argv[i + 1])) {
            return usage();
        } else {
            i++;
        }
    }
    if (arguments.lanes == 0 || arguments.lanes > LANES_MAX) {
        return usage();
    }
    return arguments.single ? run_one(&arguments) : run_many(&arguments);
}
