/*
 * library.c: (project, process id) -> versions; project -> modules.
 */
#include "actors/library.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"

struct process_entry {
    struct actor_link link;
    const struct actor_source *source;
    const struct engine_process *process;
};

struct project_entry {
    struct actor_link link;
    struct engine_modules *modules;
};

static uint64_t process_hash(struct span project, struct span process_id)
{
    return base_hash(process_id, base_hash(project, 2));
}

static const struct process_entry *entry_of(const struct actor_library *library, struct span project,
                                            struct span process_id, uint32_t version)
{
    const struct process_entry *best = NULL;
    for (struct actor_link *link = actor_table_find(&library->processes, process_hash(project, process_id)); link != NULL;
         link = actor_table_again(link)) {
        const struct process_entry *entry = ACTOR_OWNER(process_entry, link, link);
        if (!span_equal(entry->process->id, process_id) || !span_equal(entry->process->project, project)) {
            continue;
        }
        if (version == 0 ? best == NULL || entry->source->version > best->source->version
                         : entry->source->version == version) {
            best = entry;
        }
    }
    return best;
}

static const struct engine_process *find_process(const struct engine_library *self, struct span project,
                                                 struct span process_id, uint32_t version)
{
    const struct actor_library *library = ACTOR_OWNER(actor_library, engine, self);
    const struct process_entry *entry = entry_of(library, project, process_id, version);
    return entry == NULL ? NULL : entry->process;
}

static struct project_entry *project_of(const struct actor_library *library, struct span project)
{
    for (struct actor_link *link = actor_table_find(&library->projects, base_hash(project, 0)); link != NULL;
         link = actor_table_again(link)) {
        struct project_entry *entry = ACTOR_OWNER(project_entry, link, link);
        if (span_equal(entry->modules->project, project)) {
            return entry;
        }
    }
    return NULL;
}

static const struct engine_modules *find_modules(const struct engine_library *self, struct span project)
{
    const struct actor_library *library = ACTOR_OWNER(actor_library, engine, self);
    const struct project_entry *entry = project_of(library, project);
    return entry == NULL ? library->builtins : entry->modules;
}

/* {"modules":[]} */
static const uint8_t no_modules[] = {0x81, 0xa7, 'm', 'o', 'd', 'u', 'l', 'e', 's', 0x90};

enum result actor_library_init(struct actor_library *library)
{
    *library = (struct actor_library){.engine = {.process = find_process, .modules = find_modules}};
    actor_table_init(&library->processes);
    actor_table_init(&library->projects);
    struct engine_report report;
    engine_report_init(&report, span_text("built-in modules"));
    enum result result = engine_read_modules(span_text("built-in modules"), span_of(no_modules, sizeof no_modules),
                                             SPAN_EMPTY, SPAN_EMPTY, &report, &library->builtins);
    engine_report_release(&report);
    return result;
}

static void source_free(struct actor_source *source)
{
    if (source->definition != NULL) {
        engine_definition_free(source->definition);
    }
    free(source);
}

void actor_library_release(struct actor_library *library)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&library->processes); link != NULL; link = next) {
        next = link->next;
        free(ACTOR_OWNER(process_entry, link, link));
    }
    actor_table_release(&library->processes);
    for (struct actor_link *link = actor_table_take_all(&library->projects); link != NULL; link = next) {
        next = link->next;
        struct project_entry *entry = ACTOR_OWNER(project_entry, link, link);
        engine_modules_free(entry->modules);
        free(entry);
    }
    actor_table_release(&library->projects);
    while (library->sources != NULL) {
        struct actor_source *source = library->sources;
        library->sources = source->next;
        source_free(source);
    }
    if (library->builtins != NULL) {
        engine_modules_free(library->builtins);
        library->builtins = NULL;
    }
}

static struct span put(uint8_t **room, struct span span)
{
    uint8_t *copy = *room;
    if (span.count > 0) {
        memcpy(copy, span.bytes, span.count);
    }
    *room += span.count;
    return span_of(copy, span.count);
}

static struct actor_source *source_new(const struct proto_definition *definition, int64_t at_ms)
{
    struct actor_source *source =
        malloc(sizeof *source + definition->project.count + definition->name.count + definition->content.count);
    if (source == NULL) {
        return NULL;
    }
    uint8_t *room = (uint8_t *)(source + 1);
    *source = (struct actor_source){.version = definition->version, .at_ms = at_ms};
    source->project = put(&room, definition->project);
    source->name = put(&room, definition->name);
    source->content = put(&room, definition->content);
    return source;
}

/* All or nothing: an entry for each process of the file. */
static enum result list_processes(struct actor_library *library, struct actor_source *source)
{
    struct engine_definition *compiled = source->definition;
    for (uint32_t i = 0; i < compiled->process_count; i++) {
        if (entry_of(library, source->project, compiled->processes[i].id, source->version) != NULL) {
            return RESULT_EXISTS;
        }
    }
    struct process_entry **entries = calloc(compiled->process_count + 1, sizeof(struct process_entry *));
    if (entries == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < compiled->process_count && result == RESULT_OK; i++) {
        entries[i] = malloc(sizeof(struct process_entry));
        result = entries[i] == NULL ? RESULT_LIMIT : RESULT_OK;
    }
    for (uint32_t i = 0; i < compiled->process_count; i++) {
        if (result != RESULT_OK) {
            free(entries[i]);
            continue;
        }
        struct engine_process *process = &compiled->processes[i];
        process->version = source->version;
        process->project = source->project;
        *entries[i] = (struct process_entry){.source = source, .process = process};
        actor_table_add(&library->processes, &entries[i]->link, process_hash(source->project, process->id));
    }
    free(entries);
    return result;
}

enum result actor_library_add(struct actor_library *library, const struct proto_definition *definition, int64_t at_ms,
                              struct engine_report *report)
{
    ASSERT(definition->version > 0);
    engine_report_init(report, definition->name);
    struct actor_source *source = source_new(definition, at_ms);
    if (source == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = engine_read(source->name, source->content, report, &source->definition);
    if (result == RESULT_OK) {
        result = list_processes(library, source);
    }
    if (result != RESULT_OK) {
        source_free(source);
        return result;
    }
    source->next = library->sources;
    library->sources = source;
    return RESULT_OK;
}

enum result actor_library_set_project(struct actor_library *library, const struct proto_project *project,
                                      struct engine_report *report)
{
    engine_report_init(report, span_text("modules.json"));
    struct span modules = project->modules.count == 0 ? span_of(no_modules, sizeof no_modules) : project->modules;
    struct engine_modules *compiled = NULL;
    enum result result = engine_read_modules(span_text("modules.json"), modules, project->project, project->environment,
                                             report, &compiled);
    if (result != RESULT_OK) {
        return result;
    }
    struct project_entry *entry = project_of(library, project->project);
    if (entry != NULL) {
        engine_modules_free(entry->modules);
        entry->modules = compiled;
        return RESULT_OK;
    }
    entry = malloc(sizeof *entry);
    if (entry == NULL) {
        engine_modules_free(compiled);
        return RESULT_LIMIT;
    }
    *entry = (struct project_entry){.modules = compiled};
    actor_table_add(&library->projects, &entry->link, base_hash(compiled->project, 0));
    return RESULT_OK;
}

uint32_t actor_library_newest(const struct actor_library *library, struct span project, struct span process_id)
{
    const struct process_entry *entry = entry_of(library, project, process_id, 0);
    return entry == NULL ? 0 : entry->source->version;
}

const struct actor_source *actor_library_source(const struct actor_library *library, struct span project,
                                                struct span process_id, uint32_t version)
{
    const struct process_entry *entry = entry_of(library, project, process_id, version);
    return entry == NULL ? NULL : entry->source;
}

const struct actor_source *actor_library_file(const struct actor_library *library, struct span project, struct span name)
{
    const struct actor_source *newest = NULL;
    for (const struct actor_source *source = library->sources; source != NULL; source = source->next) {
        if (span_equal(source->project, project) && span_equal(source->name, name) &&
            (newest == NULL || source->version > newest->version)) {
            newest = source;
        }
    }
    return newest;
}
