/*
 * run_input.c: see run_input.h.
 */
#include "tools/strider/run_input.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/read/read.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/input.h"

#define PATH_BYTES 4096u

/* ---- definitions ---- */

static bool wants_decisions(const struct engine_definition *definition)
{
    for (uint32_t i = 0; i < definition->process_count; i++) {
        const struct engine_process *process = &definition->processes[i];
        for (uint32_t k = 0; k < process->node_count; k++) {
            if (process->nodes[k].rule.decision != NULL) {
                return true;
            }
        }
    }
    return false;
}

static int read_definition(struct run_input *input, const char *path, struct span process_id)
{
    char problem[512];
    struct span content;
    if (input->definition_count == RUN_DEFINITIONS_MAX) {
        return cli_complain("run", CLI_USAGE, "more than %u definitions", RUN_DEFINITIONS_MAX);
    }
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, input->arena, &content, problem) != RESULT_OK) {
        return cli_complain("run", CLI_USAGE, "%s", problem);
    }
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, span_text(path));
    enum result result = engine_read(span_text(path), content, &report, &definition);
    struct span text = engine_report_text(&report, ENGINE_WARNING, input->arena);
    fprintf(stderr, "%.*s", SPAN_ARG(text));
    int code = CLI_DONE;
    if (result != RESULT_OK) {
        code = report.errors > 0
                   ? CLI_FAILED
                   : cli_complain("run", CLI_FAILED, "%s: %s", path, result_text(result));
    } else if (input->definition_count == 0) {
        const struct engine_process *process = engine_definition_find(definition, process_id);
        if (process == NULL) {
            code = cli_complain("run", CLI_USAGE, "%s has no process \"%.*s\"", path,
                                SPAN_ARG(process_id));
        } else {
            input->process = arena_copy(input->arena, process->id);
        }
    }
    if (definition != NULL) {
        input->wants_decisions = input->wants_decisions || wants_decisions(definition);
        engine_definition_free(definition);
    }
    engine_report_release(&report);
    const char *slash = strrchr(path, '/');
    input->definitions[input->definition_count++] = (struct actor_project_file){
        .name = span_text(slash == NULL ? path : slash + 1), .content = content};
    return code;
}

static bool is_read(const struct run_input *input, const char *name)
{
    for (size_t i = 0; i < input->definition_count; i++) {
        if (span_is(input->definitions[i].name, name)) {
            return true;
        }
    }
    return false;
}

static int is_decision_file(const struct dirent *entry)
{
    size_t count = strlen(entry->d_name);
    return count > 4 && strcmp(entry->d_name + count - 4, ".dmn") == 0;
}

/* The decision models beside the file: the process calls decisions. */
static int read_decisions(struct run_input *input)
{
    char folder[PATH_BYTES];
    char path[2 * PATH_BYTES];
    struct dirent **names;
    const char *file = input->arguments->operands[0];
    const char *slash = strrchr(file, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash == NULL ? 1 : (int)(slash - file) + 1,
             slash == NULL ? "." : file);
    int count = scandir(folder, &names, is_decision_file, alphasort);
    int code = CLI_DONE;
    for (int i = 0; i < count; i++) {
        if (code == CLI_DONE && !is_read(input, names[i]->d_name)) {
            snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
            code = read_definition(
                input, (const char *)arena_copy(input->arena, span_text(path)).bytes, SPAN_EMPTY);
        }
        free(names[i]);
    }
    if (count >= 0) {
        free(names);
    }
    return code;
}

static int read_definitions(struct run_input *input)
{
    const char *process = cli_option_value(input->arguments, "process");
    int code = read_definition(input, input->arguments->operands[0], span_text(process));
    const char *with;
    for (size_t i = 0;
         code == CLI_DONE && (with = cli_option_nth(input->arguments, "with", i)) != NULL; i++) {
        code = read_definition(input, with, SPAN_EMPTY);
    }
    return code == CLI_DONE && input->wants_decisions ? read_decisions(input) : code;
}

/* ---- payloads ---- */

/* NAME=VALUE options as one MAP value; empty when none was given. */
static int read_pairs(struct run_input *input, const char *option, const char *shown_as,
                      struct span *out)
{
    struct wire_writer writer;
    wire_writer_init(&writer, input->arena, 256);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 0;
    const char *text;
    for (; (text = cli_option_nth(input->arguments, option, count)) != NULL; count++) {
        struct span name;
        struct span value;
        int code = cli_read_pair("run", shown_as, text, input->arena, &name, &value);
        if (code != CLI_DONE) {
            return code;
        }
        wire_write_string(&writer, name);
        wire_write_raw(&writer, value);
    }
    wire_close_map(&writer, mark, count);
    *out = count == 0 ? SPAN_EMPTY : wire_writer_span(&writer);
    return CLI_DONE;
}

static int read_option_json(struct run_input *input, const char *option, const char *shown_as,
                            struct span *out)
{
    const char *text = cli_option_value(input->arguments, option);
    *out = SPAN_EMPTY;
    if (text == NULL) {
        return CLI_DONE;
    }
    int code = cli_read_json("run", shown_as, text, input->arena, out);
    if (code == CLI_DONE && !wire_is(*out, WIRE_MAP)) {
        return cli_complain("run", CLI_USAGE, "%s wants an object", shown_as);
    }
    return code;
}

/* ---- who executes the tasks ---- */

/* The engine will read it again; here its complaints name the file. */
static int check_modules(struct run_input *input, const char *file)
{
    struct engine_report report;
    struct engine_modules *modules = NULL;
    engine_report_init(&report, span_text(file));
    enum result result = engine_read_modules(span_text(file), input->modules, SPAN_EMPTY,
                                             input->environment, &report, &modules);
    struct span text = engine_report_text(&report, ENGINE_ERROR, input->arena);
    fprintf(stderr, "%.*s", SPAN_ARG(text));
    int code = CLI_DONE;
    if (result != RESULT_OK) {
        code = report.errors > 0
                   ? CLI_FAILED
                   : cli_complain("run", CLI_FAILED, "%s: %s", file, result_text(result));
    }
    if (modules != NULL) {
        engine_modules_free(modules);
    }
    engine_report_release(&report);
    return code;
}

static int read_modules(struct run_input *input)
{
    const char *file = cli_option_value(input->arguments, "modules");
    if (file == NULL) {
        return CLI_DONE;
    }
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "@%s", file);
    int code = cli_read_json("run", "--modules", path, input->arena, &input->modules);
    return code == CLI_DONE ? check_modules(input, file) : code;
}

int run_input_read(const struct cli_arguments *arguments, struct arena *arena,
                   struct run_input *out)
{
    *out = (struct run_input){.arguments = arguments, .arena = arena};
    int code = read_definitions(out);
    code = code == CLI_DONE ? read_pairs(out, "env", "--env", &out->environment) : code;
    code = code == CLI_DONE ? read_modules(out) : code;
    code = code == CLI_DONE ? read_option_json(out, "request", "--request", &out->request) : code;
    code = code == CLI_DONE ? read_option_json(out, "context", "--context", &out->context) : code;
    return code == CLI_DONE ? read_pairs(out, "var", "--var", &out->variables) : code;
}
