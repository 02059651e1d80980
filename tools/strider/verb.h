/*
 * verb.h: a verb of the command line as data, and the one reader of arguments behind all of them:
 * the same table parses the options, writes --help and words the usage errors, so the three cannot
 * disagree.
 */
#ifndef TOOLS_STRIDER_VERB_H
#define TOOLS_STRIDER_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes of every verb (interfaces.md 1). */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_WAITING = 3, /* `run`: the execution waits for input from outside */
};

#define CLI_OPTIONS_MAX 32u  /* of one verb */
#define CLI_VALUES_MAX  256u /* option values and operands of one command line */

struct cli_option {
    const char *name;     /* long name without the dashes; NULL ends a table */
    const char *argument; /* how help calls its value; NULL: a flag */
    const char *help;
};

/* Of verbs that run executions here: engine.maxSteps as an option. */
#define CLI_MAX_STEPS_OPTION                                                                       \
    {                                                                                              \
        "max-steps", "N", "steps on one path between two waits (200); more is StepLimitExceeded"   \
    }

struct cli_arguments;

struct cli_verb {
    const char *name;
    const char *summary;  /* one line, no full stop */
    const char *operands; /* "FILE…" in the usage line; "" for none */
    unsigned operands_min;
    unsigned operands_max;
    const struct cli_option *options; /* ends with a NULL name */
    const char *details;              /* paragraphs below the options; NULL: none */
    int (*run)(const struct cli_arguments *arguments);
    int (*raw)(int argc, char **argv); /* instead of `run`: reads its own options */
};

/* What a command line said; borrows argv. */
struct cli_arguments {
    const struct cli_verb *verb;
    const char *operands[CLI_VALUES_MAX];
    size_t operand_count;
    struct {
        const struct cli_option *option;
        const char *value;   /* "" for a flag */
    } given[CLI_VALUES_MAX]; /* in order */
    size_t given_count;
};

/*
 * Parses what follows the verb's name and runs it; --help is answered here. argv[0] is the verb's
 * name. Returns the exit code. A usage error is one line on stderr.
 */
int cli_verb_run(const struct cli_verb *verb, int argc, char **argv);
/* The part before `run`: CLI_DONE, or CLI_USAGE after the line on stderr. *help: --help was asked
 * for. */
int cli_verb_parse(const struct cli_verb *verb, int argc, char **argv, struct cli_arguments *out,
                   bool *help);
void cli_verb_help(const struct cli_verb *verb, FILE *out);

/* The last value given of an option, or NULL. The option must be in the verb's table. */
const char *cli_option_value(const struct cli_arguments *arguments, const char *name);
bool cli_option_flag(const struct cli_arguments *arguments, const char *name);
/* The `index`-th value of an option that repeats, in order; NULL behind the last. */
const char *cli_option_nth(const struct cli_arguments *arguments, const char *name, size_t index);

/* A number from 1 to `most`; what is not given leaves *out as it is. CLI_USAGE after a complaint.
 */
int cli_option_number(const struct cli_arguments *arguments, const char *option, uint32_t most,
                      uint32_t *out);

/* "strider VERB: message" on stderr, one line; returns `code`. */
int cli_complain(const char *verb, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The nearest of some names to what somebody wrote, for "did you mean"; NULL when none is near
 * enough to be meant. `names[i]` is read at stride bytes: the first member of each struct of a
 * table can be the name.
 */
const char *cli_nearest(const char *written, const void *names, size_t count, size_t stride);

#endif
