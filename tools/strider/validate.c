/*
 * validate.c: `strider validate`: what deploy would say about definitions, without an engine.
 */
#include <inttypes.h>
#include <sys/stat.h>

#include "engine/dmn/dmn.h"
#include "engine/read/read.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"
#include "tools/strider/input.h"
#include "tools/strider/print.h"
#include "tools/strider/project.h"
#include "tools/strider/verbs.h"

#define VALIDATE_ARENA_BYTES (1u << 30)

static const char *const severity_names[] = {
    [ENGINE_INFO] = "info", [ENGINE_WARNING] = "warning", [ENGINE_ERROR] = "error"};

/* What goes on over all files. */
struct validation {
    struct arena arena; /* of one file */
    bool json;
    struct arena results_arena;
    struct wire_writer results; /* JSON: one map a file */
    uint32_t file_count;
    uint32_t failed_count;
};

static void write_problem(struct wire_writer *writer, const struct engine_problem *problem)
{
    wire_write_map(writer, 6);
    wire_pair_text(writer, "severity", severity_names[problem->severity]);
    wire_pair_text(writer, "rule", problem->rule);
    wire_pair_string(writer, "element", problem->element);
    wire_pair_int(writer, "line", problem->line);
    wire_pair_int(writer, "column", problem->column);
    wire_pair_string(writer, "message", problem->message);
}

static void write_processes(struct wire_writer *writer, const struct engine_definition *definition)
{
    uint32_t count = definition == NULL ? 0 : definition->process_count;
    wire_write_text(writer, "processes");
    wire_write_array(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct engine_process *process = &definition->processes[i];
        wire_write_map(writer, 4);
        wire_pair_string(writer, "id", process->id);
        wire_pair_string(writer, "name", process->name);
        wire_pair_int(writer, "nodes", process->node_count);
        wire_pair_int(writer, "flows", process->flow_count);
    }
}

static void write_decisions(struct wire_writer *writer, const struct engine_dmn *decisions)
{
    uint32_t count = engine_dmn_decision_count(decisions);
    wire_write_text(writer, "decisions");
    wire_write_array(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_write_map(writer, 2);
        wire_pair_string(writer, "id", engine_dmn_decision_id(decisions, i));
        wire_pair_string(writer, "name", engine_dmn_decision_name(decisions, i));
    }
}

static void write_file(struct validation *validation, const struct engine_report *report,
                       const struct engine_definition *definition)
{
    struct wire_writer *writer = &validation->results;
    bool decides = definition != NULL && definition->decisions != NULL;
    wire_write_map(writer, 4u + decides);
    wire_pair_string(writer, "file", report->file);
    wire_pair_bool(writer, "ok", report->errors == 0);
    write_processes(writer, definition);
    if (decides) {
        write_decisions(writer, definition->decisions);
    }
    wire_write_text(writer, "problems");
    wire_write_array(writer, report->count);
    for (uint32_t i = 0; i < report->count; i++) {
        write_problem(writer, &report->problems[i]);
    }
}

static uint32_t count_severity(const struct engine_report *report, enum engine_severity severity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        count += report->problems[i].severity == severity;
    }
    return count;
}

static void print_file(const struct engine_report *report,
                       const struct engine_definition *definition)
{
    for (uint32_t i = 0; i < report->count; i++) {
        const struct engine_problem *problem = &report->problems[i];
        char place[ENGINE_PLACE_MAX];
        engine_problem_place(report, problem, place);
        printf("%s: %s: %.*s [%s]\n", place, severity_names[problem->severity],
               SPAN_ARG(problem->message), problem->rule);
    }
    printf("%.*s: %s", SPAN_ARG(report->file), report->errors == 0 ? "ok" : "refused");
    for (uint32_t i = 0; definition != NULL && i < definition->process_count; i++) {
        const struct engine_process *process = &definition->processes[i];
        if (process->is_global_task) {
            printf(", global task \"%.*s\"", SPAN_ARG(process->id));
        } else {
            printf(", process \"%.*s\" (%u nodes, %u flows)", SPAN_ARG(process->id),
                   process->node_count, process->flow_count);
        }
    }
    const struct engine_dmn *decisions = definition == NULL ? NULL : definition->decisions;
    for (uint32_t i = 0; decisions != NULL && i < engine_dmn_decision_count(decisions); i++) {
        printf(", decision \"%.*s\"", SPAN_ARG(engine_dmn_decision_id(decisions, i)));
    }
    uint32_t warnings = count_severity(report, ENGINE_WARNING);
    if (report->errors > 0) {
        printf(", %u error%s", report->errors, report->errors == 1 ? "" : "s");
    }
    if (warnings > 0) {
        printf(", %u warning%s", warnings, warnings == 1 ? "" : "s");
    }
    printf("\n");
}

static void finish_file(struct validation *validation, const struct engine_report *report,
                        const struct engine_definition *definition)
{
    validation->file_count++;
    validation->failed_count += report->errors > 0;
    if (validation->json) {
        write_file(validation, report, definition);
    } else {
        print_file(report, definition);
    }
}

static void validate_definition(struct validation *validation, struct span content,
                                struct engine_report *report)
{
    struct engine_definition *definition = NULL;
    enum result result = engine_read(report->file, content, report, &definition);
    if (result != RESULT_OK && report->errors == 0) {
        engine_report_add(report, ENGINE_ERROR, "unreadable", SPAN_EMPTY, 0, 0,
                          "it cannot be read: %s", result_text(result));
    }
    finish_file(validation, report, definition);
    if (definition != NULL) {
        engine_definition_free(definition);
    }
}

static void validate_modules(struct validation *validation, const struct actor_project *project,
                             struct engine_report *report)
{
    struct engine_modules *modules = NULL;
    enum result result = engine_read_modules(report->file, project->modules, project->project,
                                             project->environment, report, &modules);
    if (result != RESULT_OK && report->errors == 0) {
        engine_report_add(report, ENGINE_ERROR, "unreadable", SPAN_EMPTY, 0, 0,
                          "it cannot be read: %s", result_text(result));
    }
    finish_file(validation, report, NULL);
    if (modules != NULL) {
        engine_modules_free(modules);
    }
}

/* A modules.json by itself: in a project of no environment. */
static void validate_modules_text(struct validation *validation, struct span content,
                                  struct engine_report *report)
{
    struct actor_project project = {.project = span_text("default")};
    struct json_error error = {0};
    if (json_to_wire(content, LIMIT_DEPTH, &validation->arena, &project.modules, &error) ==
        RESULT_OK) {
        validate_modules(validation, &project, report);
        return;
    }
    engine_report_add(report, ENGINE_ERROR, "malformed", SPAN_EMPTY, error.line, error.column, "%s",
                      error.reason);
    finish_file(validation, report, NULL);
}

static bool is_modules_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash == NULL ? path : slash + 1, "modules.json") == 0;
}

static void validate_file(struct validation *validation, const char *path)
{
    char problem[512];
    struct span content;
    arena_clear(&validation->arena);
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, &validation->arena, &content, problem) !=
        RESULT_OK) {
        validation->failed_count++;
        cli_complain("validate", CLI_FAILED, "%s", problem);
        return;
    }
    struct engine_report report;
    engine_report_init(&report, span_text(path));
    if (is_modules_file(path)) {
        validate_modules_text(validation, content, &report);
    } else {
        validate_definition(validation, content, &report);
    }
    engine_report_release(&report);
}

static struct span path_in(struct cli_projects *projects, struct span folder, struct span name)
{
    bool ends = folder.count > 0 && folder.bytes[folder.count - 1] == '/';
    return arena_format(&projects->arena, "%.*s%s%.*s", SPAN_ARG(folder), ends ? "" : "/",
                        SPAN_ARG(name));
}

static void validate_project(struct validation *validation, struct cli_projects *projects,
                             size_t index)
{
    const struct actor_project *project = &projects->projects[index];
    struct span folder = projects->folders[index];
    struct engine_report report;
    for (size_t i = 0; i < project->definition_count; i++) {
        engine_report_init(&report, path_in(projects, folder, project->definitions[i].name));
        validate_definition(validation, project->definitions[i].content, &report);
        engine_report_release(&report);
    }
    if (project->modules.count > 0) {
        engine_report_init(&report, path_in(projects, folder, span_text("modules.json")));
        validate_modules(validation, project, &report);
        engine_report_release(&report);
    }
}

/* A folder is validated as the projects in it: the files that `serve` would load. */
static void validate_folder(struct validation *validation, const char *folder)
{
    struct cli_projects projects;
    cli_projects_init(&projects);
    if (cli_projects_add(&projects, folder) != RESULT_OK) {
        validation->failed_count++;
        cli_complain("validate", CLI_FAILED, "%s", projects.problem);
    }
    for (size_t i = 0; i < projects.count; i++) {
        validate_project(validation, &projects, i);
    }
    cli_projects_release(&projects);
}

static void print_results(struct validation *validation)
{
    struct wire_writer all;
    wire_writer_init(&all, &validation->arena, 4096);
    wire_write_array(&all, validation->file_count);
    wire_write_raw(&all, wire_writer_span(&validation->results));
    cli_print_json(wire_writer_span(&all), &validation->arena);
}

static int run_validate(const struct cli_arguments *arguments)
{
    struct validation validation = {.json = cli_option_flag(arguments, "json")};
    arena_init(&validation.arena, 65536, VALIDATE_ARENA_BYTES);
    arena_init(&validation.results_arena, 65536, VALIDATE_ARENA_BYTES);
    wire_writer_init(&validation.results, &validation.results_arena, 4096);
    for (size_t i = 0; i < arguments->operand_count; i++) {
        struct stat status;
        const char *path = arguments->operands[i];
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            validate_folder(&validation, path);
        } else {
            validate_file(&validation, path);
        }
    }
    if (validation.json) {
        arena_clear(&validation.arena);
        print_results(&validation);
    }
    int code = validation.failed_count > 0 ? CLI_FAILED : CLI_DONE;
    arena_release(&validation.results_arena);
    arena_release(&validation.arena);
    return code;
}

static const struct cli_option validate_options[] = {
    {"json", NULL, "one JSON array instead of text: file, ok, processes, problems"},
    {0},
};

const struct cli_verb cli_validate = {
    .name = "validate",
    .summary = "Reads, compiles and lints definitions; says what deploy would say",
    .operands = "FILE|FOLDER…",
    .operands_min = 1,
    .operands_max = CLI_VALUES_MAX,
    .options = validate_options,
    .details = "A line is FILE:LINE:COLUMN: SEVERITY: MESSAGE [RULE]. A folder is read as the "
               "projects in it.\n"
               "A file called modules.json is checked as such. Exit code: 0 when nothing is "
               "refused, 1 else.",
    .run = run_validate,
};
