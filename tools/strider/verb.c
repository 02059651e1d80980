/*
 * verb.c: arguments of a verb by its table. getopt_long does the scanning (so `--opt=value`, `--opt
 * value`, unambiguous abbreviations and `--` work as everywhere), we word what is wrong.
 */
#include "tools/strider/verb.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/text.h"

#define HELP_COLUMN 28 /* where the explanations of options begin */

enum { GETOPT_HELP = 0x4000 }; /* above every option index */

static size_t option_count(const struct cli_verb *verb)
{
    size_t count = 0;
    while (verb->options[count].name != NULL) {
        count++;
    }
    ASSERT(count <= CLI_OPTIONS_MAX);
    return count;
}

static void describe_options(const struct cli_verb *verb, struct option out[CLI_OPTIONS_MAX + 2])
{
    size_t count = option_count(verb);
    for (size_t i = 0; i < count; i++) {
        const struct cli_option *option = &verb->options[i];
        out[i] = (struct option){
            .name = option->name,
            .has_arg = option->argument == NULL ? no_argument : required_argument,
            .val = (int)i + 1,
        };
    }
    out[count] = (struct option){.name = "help", .val = GETOPT_HELP};
    out[count + 1] = (struct option){0};
}

/* getopt has refused argv[optind - 1]: an unknown option, an ambiguous one, or one whose value is
 * missing or too much. */
static int complain_about_option(const struct cli_verb *verb, const char *written, int what)
{
    if (what == ':') {
        return cli_complain(verb->name, CLI_USAGE,
                            "option \"%s\" needs a value (strider %s --help)", written, verb->name);
    }
    char name[64];
    const char *begin = written + strspn(written, "-");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "="), begin);
    const char *near =
        cli_nearest(name, verb->options, option_count(verb), sizeof(verb->options[0]));
    if (near != NULL && strcmp(near, name) == 0) {
        return cli_complain(verb->name, CLI_USAGE,
                            "option \"--%s\" takes no value (strider %s --help)", name, verb->name);
    }
    if (near != NULL) {
        return cli_complain(verb->name, CLI_USAGE,
                            "no option \"%s\"; did you mean \"--%s\"? (strider %s --help)", written,
                            near, verb->name);
    }
    return cli_complain(verb->name, CLI_USAGE,
                        "option \"%s\" is not understood (strider %s --help)", written, verb->name);
}

static int complain_about_operands(const struct cli_verb *verb, const struct cli_arguments *given)
{
    if (given->operand_count < verb->operands_min) {
        return cli_complain(verb->name, CLI_USAGE, "usage: strider %s [OPTION…] %s", verb->name,
                            verb->operands);
    }
    return cli_complain(verb->name, CLI_USAGE,
                        "\"%s\" is one argument too many (strider %s --help)",
                        given->operands[verb->operands_max], verb->name);
}

int cli_verb_parse(const struct cli_verb *verb, int argc, char **argv, struct cli_arguments *out,
                   bool *help)
{
    ASSERT(argc >= 1);
    struct option options[CLI_OPTIONS_MAX + 2];
    describe_options(verb, options);
    *out = (struct cli_arguments){.verb = verb};
    *help = false;
    if ((size_t)argc > CLI_VALUES_MAX) {
        return cli_complain(verb->name, CLI_USAGE, "more than %u arguments", CLI_VALUES_MAX);
    }

    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (;;) {
        int what = getopt_long(argc, argv, ":h", options, NULL);
        if (what == -1) {
            break;
        }
        if (what == 'h' || what == GETOPT_HELP) {
            *help = true;
            return CLI_DONE;
        }
        if (what == '?' || what == ':') {
            return complain_about_option(verb, argv[optind - 1], what);
        }
        const struct cli_option *option = &verb->options[what - 1];
        out->given[out->given_count].option = option;
        out->given[out->given_count].value = option->argument == NULL ? "" : optarg;
        out->given_count++;
    }
    while (optind < argc) {
        out->operands[out->operand_count++] = argv[optind++];
    }
    if (out->operand_count < verb->operands_min || out->operand_count > verb->operands_max) {
        return complain_about_operands(verb, out);
    }
    return CLI_DONE;
}

int cli_verb_run(const struct cli_verb *verb, int argc, char **argv)
{
    if (verb->raw != NULL) {
        return verb->raw(argc, argv);
    }
    struct cli_arguments arguments;
    bool help;
    int code = cli_verb_parse(verb, argc, argv, &arguments, &help);
    if (code != CLI_DONE) {
        return code;
    }
    if (help) {
        cli_verb_help(verb, stdout);
        return CLI_DONE;
    }
    return verb->run(&arguments);
}

/* One option: its name and value at the left, its explanation from HELP_COLUMN on, further lines of
 * it indented there. */
static void print_option(FILE *out, const char *name, const char *argument, const char *help)
{
    int width = fprintf(out, "  --%s%s%s", name, argument == NULL ? "" : " ",
                        argument == NULL ? "" : argument);
    if (width >= HELP_COLUMN) {
        fputc('\n', out);
        width = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - width, "");
    for (const char *next = help; *next != '\0'; next++) {
        fputc(*next, out);
        if (*next == '\n') {
            fprintf(out, "%*s", HELP_COLUMN, "");
        }
    }
    fputc('\n', out);
}

void cli_verb_help(const struct cli_verb *verb, FILE *out)
{
    fprintf(out, "usage: strider %s [OPTION…]%s%s\n\n%s.\n\n", verb->name,
            verb->operands[0] == '\0' ? "" : " ", verb->operands, verb->summary);
    for (const struct cli_option *option = verb->options; option->name != NULL; option++) {
        print_option(out, option->name, option->argument, option->help);
    }
    print_option(out, "help", NULL, "this text");
    if (verb->details != NULL) {
        fprintf(out, "\n%s\n", verb->details);
    }
}

const char *cli_option_nth(const struct cli_arguments *arguments, const char *name, size_t index)
{
    bool known = false;
    for (const struct cli_option *option = arguments->verb->options; option->name != NULL;
         option++) {
        known = known || strcmp(option->name, name) == 0;
    }
    ASSERT(known);
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i].option->name, name) == 0 && index-- == 0) {
            return arguments->given[i].value;
        }
    }
    return NULL;
}

const char *cli_option_value(const struct cli_arguments *arguments, const char *name)
{
    const char *last = NULL;
    for (size_t i = 0;; i++) {
        const char *value = cli_option_nth(arguments, name, i);
        if (value == NULL) {
            return last;
        }
        last = value;
    }
}

bool cli_option_flag(const struct cli_arguments *arguments, const char *name)
{
    return cli_option_nth(arguments, name, 0) != NULL;
}

int cli_option_number(const struct cli_arguments *arguments, const char *option, uint32_t most,
                      uint32_t *out)
{
    const char *text = cli_option_value(arguments, option);
    char *end;
    if (text == NULL) {
        return CLI_DONE;
    }
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value == 0 ||
        value > most) {
        return cli_complain(arguments->verb->name, CLI_USAGE,
                            "--%s wants a number from 1 to %u, not \"%s\"", option, most, text);
    }
    *out = (uint32_t)value;
    return CLI_DONE;
}

int cli_complain(const char *verb, int code, const char *format, ...)
{
    fflush(stdout);
    flockfile(stderr);
    fprintf(stderr, "strider %s: ", verb);
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    funlockfile(stderr);
    return code;
}

const char *cli_nearest(const char *written, const void *names, size_t count, size_t stride)
{
    size_t limit = (strlen(written) + 2) / 3; /* more edits than that: something else was meant */
    size_t best = limit + 1;
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof(name));
        size_t distance = text_distance(span_text(written), span_text(name));
        if (distance < best) {
            best = distance;
            found = name;
        }
    }
    return found;
}
