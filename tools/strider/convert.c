/*
 * convert.c: `strider convert`: a definition in another notation.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/write/write.h"
#include "proto/base/limits.h"
#include "tools/strider/input.h"
#include "tools/strider/verbs.h"

#define CONVERT_ARENA_BYTES (1u << 30)

static const struct {
    const char *name;
    enum engine_notation notation;
} notations[] = {
    {"bpmn", ENGINE_NOTATION_BPMN},
    {"graph", ENGINE_NOTATION_GRAPH},
    {"scheme", ENGINE_NOTATION_SCHEME},
};

static bool find_notation(const char *name, enum engine_notation *out)
{
    for (size_t i = 0; name != NULL && i < sizeof notations / sizeof notations[0]; i++) {
        if (strcmp(notations[i].name, name) == 0) {
            *out = notations[i].notation;
            return true;
        }
    }
    return false;
}

/* What a reader drops with a warning, where deploy would refuse: then there is something that the
 * new file would lack. */
static bool is_loss(const struct engine_problem *problem)
{
    return strcmp(problem->rule, "malformed-expression") == 0 ||
           strcmp(problem->rule, "unsupported-expression") == 0;
}

/* What the new file does not have, and nobody misses: the rest of what `validate` says is about
 * execution. */
static bool is_left_out(const struct engine_problem *problem)
{
    return strncmp(problem->rule, "ignored-", strlen("ignored-")) == 0 ||
           strcmp(problem->rule, "not-kept") == 0;
}

/* Returns the number of problems that forbid the conversion. */
static unsigned complain(const struct engine_report *report)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        const struct engine_problem *problem = &report->problems[i];
        bool forbids = problem->severity == ENGINE_ERROR || is_loss(problem);
        if (forbids || is_left_out(problem)) {
            char place[ENGINE_PLACE_MAX];
            engine_problem_place(report, problem, place);
            fprintf(stderr, "strider convert: %s: %s: %.*s [%s]\n", place,
                    forbids ? "error" : "left out", SPAN_ARG(problem->message), problem->rule);
        }
        count += forbids;
    }
    return count;
}

static int write_output(const char *path, struct span text)
{
    FILE *file = path == NULL ? stdout : fopen(path, "wb");
    bool is_written = file != NULL && fwrite(text.bytes, 1, text.count, file) == text.count;
    if (file != NULL && file != stdout) {
        is_written &= fclose(file) == 0;
    }
    if (!is_written) {
        return cli_complain("convert", CLI_FAILED, "%s cannot be written: %s",
                            path == NULL ? "standard output" : path, strerror(errno));
    }
    return CLI_DONE;
}

/* Reads leniently: what cannot be executed can still be written. */
static enum result convert(struct span content, struct span process, enum engine_notation notation,
                           struct engine_report *report, struct arena *arena, struct span *out)
{
    struct engine_definition *definition = NULL;
    enum result result = engine_read_lenient(report->file, content, report, &definition);
    if (result == RESULT_OK && definition->process_count == 0) {
        engine_report_add(report, ENGINE_ERROR, "cannot-say", SPAN_EMPTY, 0, 0,
                          "a decision model has no other notation");
        result = RESULT_INVALID;
    }
    bool was_bpmn =
        result == RESULT_OK && definition->processes[0].notation == ENGINE_NOTATION_BPMN;
    if (was_bpmn) {
        result = engine_write_list_lost(content, report);
    }
    if (result == RESULT_OK) {
        result = engine_write(definition, process, notation, report, arena, out);
    }
    engine_definition_free(definition);
    return result;
}

static int convert_file(const struct cli_arguments *arguments, enum engine_notation notation,
                        struct arena *arena)
{
    char problem[512];
    struct span content;
    struct span text = SPAN_EMPTY;
    struct engine_report report;
    const char *path = arguments->operands[0];
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, arena, &content, problem) != RESULT_OK) {
        return cli_complain("convert", CLI_FAILED, "%s", problem);
    }
    engine_report_init(&report, span_text(path));
    struct span process = span_text(cli_option_value(arguments, "process"));
    enum result result = convert(content, process, notation, &report, arena, &text);
    unsigned errors = complain(&report);
    engine_report_release(&report);
    if (errors > 0) {
        return CLI_FAILED;
    }
    if (result != RESULT_OK) {
        return cli_complain("convert", CLI_FAILED, "%s: %s", path, result_text(result));
    }
    return write_output(cli_option_value(arguments, "output"), text);
}

static int run_convert(const struct cli_arguments *arguments)
{
    enum engine_notation notation;
    const char *wanted = cli_option_value(arguments, "to");
    if (!find_notation(wanted, &notation)) {
        return cli_complain("convert", CLI_USAGE, "--to is bpmn, graph or scheme%s%s%s",
                            wanted == NULL ? "" : ", not \"", wanted == NULL ? "" : wanted,
                            wanted == NULL ? "" : "\"");
    }
    struct arena arena;
    arena_init(&arena, 65536, CONVERT_ARENA_BYTES);
    int code = convert_file(arguments, notation, &arena);
    arena_release(&arena);
    return code;
}

static const struct cli_option convert_options[] = {
    {"to", "NOTATION", "bpmn (BPMN 2.0 XML), graph (JSON graph) or scheme (block scheme)"},
    {"process", "ID", "of a file with several processes, the one to convert"},
    {"output", "FILE", "write there instead of standard output"},
    {0},
};

const struct cli_verb cli_convert = {
    .name = "convert",
    .summary = "Writes a definition in another notation",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = convert_options,
    .details =
        "What the other notation cannot say is refused, by name, and nothing is written.\n"
        "Drawings are kept; what has no meaning for execution (lanes, annotations) is listed as\n"
        "left out. Exit code: 0 when it was written, 1 else.",
    .run = run_convert,
};
