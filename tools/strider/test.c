/*
 * test.c: `strider test`: runs scenario files and prints TAP 13, one test a scenario.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "tools/strider/scenario/scenario.h"
#include "tools/strider/verbs.h"

#define TEST_ARENA_BYTES (1u << 30)
#define TEST_PATH_MAX    4096u
#define TEST_FILES_MAX   100000u
#define TEST_DEPTH_MAX   16u

struct tally {
    uint32_t tests;
    uint32_t failed;
    uint32_t max_steps; /* 0: LIMIT_STEPS */
};

static void report(struct tally *tally, const char *file, struct span name,
                   const struct scenario_outcome *outcome)
{
    tally->tests++;
    tally->failed += outcome->failure_count > 0 ? 1 : 0;
    printf("%sok %u - %.*s (%s)\n", outcome->failure_count > 0 ? "not " : "", tally->tests,
           SPAN_ARG(name), file);
    for (uint32_t i = 0; i < outcome->failure_count; i++) {
        printf("  # %.*s\n", SPAN_ARG(outcome->failures[i]));
    }
}

static void test_file(const char *file, struct tally *tally)
{
    struct arena arena;
    struct scenario *scenarios = NULL;
    uint32_t count = 0;
    struct span problem = SPAN_EMPTY;
    struct scenario_outcome outcome = {0};
    arena_init(&arena, 65536, TEST_ARENA_BYTES);
    enum result result = scenario_load(file, &arena, &scenarios, &count, &problem);
    if (result != RESULT_OK) {
        scenario_fail(&outcome, &arena, "%.*s",
                      SPAN_ARG(problem.count > 0 ? problem : span_text(result_text(result))));
        report(tally, file, span_text("can be read"), &outcome);
    }
    for (uint32_t i = 0; i < count; i++) {
        scenarios[i].max_steps = tally->max_steps;
        scenario_run(&scenarios[i], &arena, &outcome);
        report(tally, file, scenarios[i].name, &outcome);
    }
    scenario_release(scenarios, count);
    arena_release(&arena);
}

static int wanted(const struct dirent *entry)
{
    size_t count = strlen(entry->d_name);
    bool file = count > 5 && strcmp(entry->d_name + count - 5, ".json") == 0;
    return entry->d_name[0] != '.' &&
           (file || entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* A folder stands for the .json files below it, in sorted order. */
static bool test_path(const char *path, unsigned depth, struct tally *tally)
{
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) != 0) {
        fprintf(stderr, "strider test: %s: no such file or folder\n", path);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        test_file(path, tally);
        return true;
    }
    int count = depth < TEST_DEPTH_MAX ? scandir(path, &entries, wanted, alphasort) : 0;
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        char below[TEST_PATH_MAX];
        snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        good = test_path(below, depth + 1, tally) && good;
        free(entries[i]);
    }
    if (count >= 0 && depth < TEST_DEPTH_MAX) {
        free(entries);
    }
    return good;
}

/* What holds no scenario is not what was meant. */
static bool test_operand(const char *path, struct tally *tally)
{
    unsigned before = tally->tests;
    bool good = test_path(path, 0, tally);
    if (good && tally->tests == before) {
        fprintf(stderr, "strider test: %s: no scenario in it\n", path);
        return false;
    }
    return good;
}

static int run(const struct cli_arguments *arguments)
{
    struct tally tally = {0};
    bool good = true;
    if (cli_option_number(arguments, "max-steps", LIMIT_STEPS_MAX, &tally.max_steps) != CLI_DONE) {
        return CLI_USAGE;
    }
    puts("TAP version 13");
    for (size_t i = 0; i < arguments->operand_count; i++) {
        good = test_operand(arguments->operands[i], &tally) && good;
    }
    printf("1..%u\n", tally.tests);
    fprintf(stderr, "%u passed, %u failed\n", tally.tests - tally.failed, tally.failed);
    return good && tally.failed == 0 && tally.tests > 0 ? CLI_DONE : CLI_FAILED;
}

static const struct cli_option options[] = {CLI_MAX_STEPS_OPTION, {0}};

const struct cli_verb cli_test = {
    .name = "test",
    .summary = "Runs scenario files on a virtual clock",
    .operands = "FILE|FOLDER…",
    .operands_min = 1,
    .operands_max = CLI_VALUES_MAX,
    .options = options,
    .details = "A scenario names a definition, the modules' replies, steps and what is expected of "
               "them; see\n"
               "docs/scenarios.md. Output is TAP 13; the exit code is 1 when a scenario fails or "
               "there is none.",
    .run = run,
};
