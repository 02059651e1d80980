/*
 * main.c: the table of verbs, and nothing besides.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/strider/verbs.h"

#ifdef STRIDER_WITH_PERF
#include "perf/bench.h"

static const struct cli_verb bench_verb = {
    .name = "bench",
    .summary = "Measures this build against the bare ceilings of the machine",
    .raw = bench_main};
#endif

static int run_version(const struct cli_arguments *arguments)
{
    (void)arguments;
    printf("strider %s\n", STRIDER_VERSION);
    return CLI_DONE;
}

static const struct cli_option no_options[] = {{0}};

static const struct cli_verb version_verb = {
    .name = "version",
    .summary = "Prints the version",
    .operands = "",
    .options = no_options,
    .run = run_version,
};

#define VERBS_MAX 32u

/* All verbs in the order of the help. */
static size_t list_verbs(const struct cli_verb *out[VERBS_MAX])
{
    size_t count = 0;
    out[count++] = &cli_run;
    out[count++] = &cli_serve;
    out[count++] = &cli_validate;
    out[count++] = &cli_convert;
    out[count++] = &cli_eval;
    out[count++] = &cli_test;
    out[count++] = &cli_consumer;
    out[count++] = &cli_replay;
#ifdef STRIDER_WITH_PERF
    out[count++] = &bench_verb;
#endif
    for (const struct cli_verb *verb = cli_client_verbs; verb->name != NULL; verb++) {
        out[count++] = verb;
    }
    out[count++] = &version_verb;
    return count;
}

static const struct cli_verb *find_verb(const char *name)
{
    const struct cli_verb *verbs[VERBS_MAX];
    size_t count = list_verbs(verbs);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(verbs[i]->name, name) == 0) {
            return verbs[i];
        }
    }
    return NULL;
}

static void print_help(FILE *out)
{
    const struct cli_verb *verbs[VERBS_MAX];
    size_t count = list_verbs(verbs);
    fprintf(out, "usage: strider VERB [OPTION…] [ARGUMENT…]\n\n"
                 "Strider runs BPMN processes: durable, fast, one binary.\n\n");
    for (size_t i = 0; i < count; i++) {
        if (verbs[i] == &cli_client_verbs[0]) {
            fprintf(out, "\nWith a running engine (--connect URL):\n");
        }
        if (verbs[i] == &version_verb) {
            fprintf(out, "\n");
        }
        fprintf(out, "  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    fprintf(out, "\nstrider VERB --help tells more. Exit codes: 0 done, 1 failed, 2 wrong usage,\n"
                 "3 (run) waiting for input from outside.\n");
}

static int refuse_verb(const char *name)
{
    const struct cli_verb *verbs[VERBS_MAX];
    const char *names[VERBS_MAX];
    size_t count = list_verbs(verbs);
    for (size_t i = 0; i < count; i++) {
        names[i] = verbs[i]->name;
    }
    const char *near = cli_nearest(name, names, count, sizeof(names[0]));
    if (near != NULL) {
        fprintf(stderr, "strider: no verb \"%s\"; did you mean \"%s\"?\n", name, near);
    } else {
        fprintf(stderr, "strider: no verb \"%s\" (strider --help lists them)\n", name);
    }
    return CLI_USAGE;
}

static bool is_any(const char *text, const char *one, const char *other, const char *third)
{
    return strcmp(text, one) == 0 || strcmp(text, other) == 0 || strcmp(text, third) == 0;
}

/* `strider help [VERB]` */
static int help(int argc, char **argv)
{
    const struct cli_verb *verb = argc > 2 ? find_verb(argv[2]) : NULL;
    if (argc > 2 && verb == NULL) {
        return refuse_verb(argv[2]);
    }
    if (verb != NULL && verb->raw != NULL) {
        char *words[] = {argv[2], (char[]){"--help"}, NULL};
        return verb->raw(2, words);
    }
    if (verb != NULL) {
        cli_verb_help(verb, stdout);
    } else {
        print_help(stdout);
    }
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a peer that leaves is an error of that write, not our end */
    signal(SIGXFSZ, SIG_IGN); /* nor is a file that may grow no more */
    int code;
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (is_any(argv[1], "help", "--help", "-h")) {
        code = help(argc, argv);
    } else if (is_any(argv[1], "--version", "-V", "-v")) {
        code = run_version(NULL);
    } else {
        const struct cli_verb *verb = find_verb(argv[1]);
        code = verb == NULL ? refuse_verb(argv[1]) : cli_verb_run(verb, argc - 1, argv + 1);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "strider: standard output cannot be written\n");
        code = code == CLI_DONE ? CLI_FAILED : code;
    }
    return code;
}
