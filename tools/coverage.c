/*
 * coverage.c: prints docs/bpmn-coverage.md from the tables that the linter refuses by, and from
 * what the reader says to the files of BPMN's model interchange suite; or checks that the page says
 * the same.
 *
 *   bpmn-coverage [--check PAGE] [FOLDER]     FOLDER: files of the suite, as shared/cases/miwg
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/read/extension.h"
#include "engine/read/read.h"
#include "engine/read/support.h"
#include "proto/base/limits.h"

#define FILES_TITLE "## Files of the BPMN Model Interchange Working Group\n"

static const char *const words[] = {
    [SUPPORT_NONE] = "–",
    [SUPPORT_LATER] = "refused",
    [SUPPORT_BY_HAND] = "by hand",
    [SUPPORT_FULL] = "yes",
};

static void print_kinds(FILE *out)
{
    (void)fprintf(out, "## Elements\n\n| element | executed |\n|---|---|\n");
    for (unsigned kind = 0; kind < ENGINE_KIND_COUNT; kind++) {
        (void)fprintf(out, "| `%s` | %s |\n", engine_kind_xml_name((enum engine_kind)kind),
                      words[engine_support_kind((enum engine_kind)kind)]);
    }
}

static void print_events(FILE *out)
{
    (void)fprintf(out, "\n## Events\n\n| |");
    for (unsigned place = 0; place < SUPPORT_PLACE_COUNT; place++) {
        (void)fprintf(out, " %s |", engine_support_place_name((enum support_place)place));
    }
    (void)fprintf(out, "\n|---|");
    for (unsigned place = 0; place < SUPPORT_PLACE_COUNT; place++) {
        (void)fprintf(out, "---|");
    }
    for (unsigned event = 0; event < ENGINE_EVENT_KIND_COUNT; event++) {
        (void)fprintf(out, "\n| %s |", engine_event_kind_name((enum engine_event_kind)event));
        for (unsigned place = 0; place < SUPPORT_PLACE_COUNT; place++) {
            (void)fprintf(out, " %s |",
                          words[engine_support_event((enum support_place)place,
                                                     (enum engine_event_kind)event)]);
        }
    }
    (void)fprintf(out, "\n\n– BPMN has no such event there.\n");
}

static void print_markers(FILE *out)
{
    (void)fprintf(out, "\n## Markers\n\n| marker | executed |\n|---|---|\n");
    for (unsigned marker = 0; marker < SUPPORT_MARKER_COUNT; marker++) {
        (void)fprintf(out, "| %s | %s |\n", engine_support_marker_name((enum support_marker)marker),
                      words[engine_support_marker((enum support_marker)marker)]);
    }
}

static void print_missed(FILE *out)
{
    const struct extension_missed *missed;
    (void)fprintf(out, "\n## Vendors' extensions that are not run\n\n"
                       "Each is a warning (`ignored-extension`) of `validate` and `deploy`, which "
                       "names kind, number, and the first element that has it.\n\n"
                       "| extension | what it is in its engine |\n|---|---|\n");
    for (size_t i = 0; (missed = engine_extension_missed(i)) != NULL; i++) {
        (void)fprintf(out, "| `%s` | %s |\n", missed->name, missed->what);
    }
}

/* ---- the suite's files ---- */

/* Messages begin with kind and id of the element; what an expression language says about its text
 * is not this page's matter. */
static void print_problem(FILE *out, const struct engine_problem *problem)
{
    struct span message = problem->message;
    const char *end = memmem(message.bytes, message.count, "\": ", 3);
    if (strcmp(problem->rule, "malformed-expression") == 0 && end != NULL) {
        message.count = (size_t)(end - (const char *)message.bytes) + 1;
        (void)fprintf(out, "%.*s: a malformed expression", SPAN_ARG(message));
    } else {
        (void)fprintf(out, "%.*s", SPAN_ARG(problem->message));
    }
}

static void print_problems(FILE *out, const struct engine_report *report)
{
    uint32_t printed = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        if (report->problems[i].severity == ENGINE_ERROR) {
            (void)fprintf(out, "%s", printed++ > 0 ? "<br>" : "");
            print_problem(out, &report->problems[i]);
        }
    }
}

static void print_file(FILE *out, const char *folder, const char *name)
{
    static uint8_t bytes[LIMIT_DEFINITION_BYTES];
    struct engine_definition *definition = NULL;
    struct engine_report report;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return;
    }
    size_t count = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    engine_report_init(&report, span_text(name));
    bool deploys =
        engine_read(report.file, span_of(bytes, count), &report, &definition) == RESULT_OK;
    (void)fprintf(out, "| %s | %s | ", name, deploys ? "yes" : "no");
    print_problems(out, &report);
    (void)fprintf(out, " |\n");
    engine_definition_free(definition);
    engine_report_release(&report);
}

static int is_definition(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".bpmn") == 0;
}

/* False: there is no such folder. */
static bool print_files(FILE *out, const char *folder)
{
    struct dirent **entries = NULL;
    int count = folder == NULL ? -1 : scandir(folder, &entries, is_definition, alphasort);
    if (count < 0) {
        return false;
    }
    (void)fprintf(out, "\n" FILES_TITLE
                       "\nTheir reference models, saved by many tools.\n\n| file | deployed | "
                       "refused for |\n|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        print_file(out, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free((void *)entries);
    return true;
}

static bool print_page(FILE *out, const char *folder)
{
    (void)fprintf(out, "# BPMN coverage\n\n"
                       "What is executed, printed by `tools/dev coverage` from the tables that "
                       "`validate` and `deploy` refuse by\n"
                       "(`engine/element/kinds.def`, `engine/read/support.c`, "
                       "`engine/read/extension.c`). What it means is told in "
                       "[bpmn.md](bpmn.md).\n\n");
    print_kinds(out);
    print_events(out);
    print_markers(out);
    print_missed(out);
    return print_files(out, folder);
}

/* ---- checking ---- */

static int check_page(const char *path, const char *folder)
{
    char *page = NULL;
    size_t page_bytes = 0;
    FILE *out = open_memstream(&page, &page_bytes);
    FILE *file = fopen(path, "rb");
    if (out == NULL || file == NULL) {
        (void)fprintf(stderr, "bpmn-coverage: cannot read %s\n", path);
        return 2;
    }
    bool with_files = print_page(out, folder);
    (void)fclose(out);
    static char committed[1 << 20];
    size_t count = fread(committed, 1, sizeof committed - 1, file);
    (void)fclose(file);
    committed[count] = '\0';
    char *files = strstr(committed, "\n" FILES_TITLE);
    if (!with_files && files != NULL) {
        (void)printf("no files of the suite: that part of %s is not checked\n", path);
        *files = '\0';
    }
    bool same = strcmp(page, committed) == 0;
    free(page);
    if (!same) {
        (void)fprintf(stderr, "bpmn-coverage: %s is stale: run tools/dev coverage\n", path);
    }
    return same ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    bool checks = argument_count > 2 && strcmp(arguments[1], "--check") == 0;
    int folder = checks ? 3 : 1;
    const char *path = argument_count > folder ? arguments[folder] : NULL;
    if (checks) {
        return check_page(arguments[2], path);
    }
    (void)print_page(stdout, path);
    return 0;
}
