/*
 * Every drawing from outside (../shared/cases) through the writers: written as BPMN and as a JSON
 * graph, each process comes back as the same definition with the same drawing. Where that folder is
 * absent the tests say so and are skipped.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/write/same.h"
#include "engine/write/write.h"
#include "proto/base/limits.h"

static const char *const folders[] = {"../shared/cases/miwg", "../shared/cases/practice",
                                      "../shared/cases/lib-bpmn-engine"};

/* A whole file; empty when it cannot be read. Freed by the caller. */
static struct span read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file == NULL ? NULL : malloc(LIMIT_DEFINITION_BYTES);
    size_t count = bytes == NULL ? 0 : fread(bytes, 1, LIMIT_DEFINITION_BYTES, file);
    if (file != NULL) {
        fclose(file);
    }
    return span_of(bytes, count);
}

static struct engine_definition *read_definition(const char *name, struct span content)
{
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, span_text(name));
    enum result result = engine_read_lenient(span_text(name), content, &report, &definition);
    cr_expect_eq(result, RESULT_OK, "%s: %u errors", name, report.errors);
    engine_report_release(&report);
    return definition;
}

static void check_process(const char *path, const struct engine_definition *definition,
                          const struct engine_process *process, enum engine_notation notation)
{
    struct engine_report report;
    struct arena arena;
    struct span text;
    arena_init(&arena, 4096, 256 << 20);
    engine_report_init(&report, span_text(path));
    enum result result = engine_write(definition, process->id, notation, &report, &arena, &text);
    struct span problems = engine_report_text(&report, ENGINE_ERROR, &arena);
    cr_expect_eq(result, RESULT_OK, "%s: %.*s", path, SPAN_ARG(problems));
    struct engine_definition *again = result == RESULT_OK ? read_definition(path, text) : NULL;
    if (again != NULL) {
        struct same same;
        const char *difference = same_process(&same, process, &again->processes[0]);
        cr_expect_str_empty(difference, "%s: %s", path, difference);
    }
    engine_definition_free(again);
    engine_report_release(&report);
    arena_release(&arena);
}

/* Returns the number of processes that were compared. */
static unsigned check_file(const char *path, enum engine_notation notation)
{
    struct span content = read_file(path);
    struct engine_definition *definition = read_definition(path, content);
    unsigned count = 0;
    for (uint32_t i = 0; definition != NULL && i < definition->process_count; i++) {
        const struct engine_process *process = &definition->processes[i];
        if (notation == ENGINE_NOTATION_BPMN || !process->is_global_task) {
            check_process(path, definition, process, notation);
            count++;
        }
    }
    engine_definition_free(definition);
    free((void *)(uintptr_t)content.bytes);
    return count;
}

static unsigned check_folder(const char *folder, enum engine_notation notation)
{
    unsigned count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        char path[512];
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".bpmn") == 0) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            count += check_file(path, notation);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return count;
}

static void check_all(enum engine_notation notation)
{
    DIR *entries = opendir(folders[0]);
    if (entries == NULL) {
        cr_skip_test("%s is not here", folders[0]);
    }
    closedir(entries);
    unsigned count = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        count += check_folder(folders[i], notation);
    }
    cr_expect_geq(count, 80, "only %u processes were found", count);
}

Test(cases_converted, come_back_from_bpmn, .timeout = 120)
{
    check_all(ENGINE_NOTATION_BPMN);
}

Test(cases_converted, come_back_from_a_json_graph, .timeout = 120)
{
    check_all(ENGINE_NOTATION_GRAPH);
}
