/*
 * catalog.c: (project, process id) -> versions; (project, decision id) -> versions; project ->
 * modules; name -> time zone.
 */
#include "actors/catalog.h"

#include <stdlib.h>

#include "engine/dmn/dmn.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

struct process_entry {
    struct actor_link link;
    const struct actor_source *source;
    const struct engine_process *process;
};

struct decision_entry {
    struct actor_link link;
    const struct actor_source *source;
    struct span id; /* in the source's definition */
};

struct zone_entry {
    struct actor_link link;
    struct span name;
    struct engine_zone zone;
};

enum { ZONES_MAX = 1024, ZONE_BLOCK_BYTES = 16 << 10, ZONES_BYTES_MAX = 64 << 20 };

struct project_entry {
    struct actor_link link;
    struct engine_modules *modules;
    struct span value; /* as actor_project_write wrote it; own memory */
};

static uint64_t process_hash(struct span project, struct span process_id)
{
    return base_hash(process_id, base_hash(project, 2));
}

static const struct process_entry *entry_of(const struct actor_catalog *catalog,
                                            struct span project, struct span process_id,
                                            uint32_t version)
{
    const struct process_entry *best = NULL;
    for (struct actor_link *link =
             actor_table_find(&catalog->processes, process_hash(project, process_id));
         link != NULL; link = actor_table_again(link)) {
        const struct process_entry *entry = ACTOR_OWNER(process_entry, link, link);
        if (!span_equal(entry->process->id, process_id) ||
            !span_equal(entry->process->project, project)) {
            continue;
        }
        if (version == 0 ? best == NULL || entry->source->version > best->source->version
                         : entry->source->version == version) {
            best = entry;
        }
    }
    return best;
}

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span process_id,
                                                 uint32_t version)
{
    const struct actor_catalog *catalog = ACTOR_OWNER(actor_catalog, engine, self);
    const struct process_entry *entry = entry_of(catalog, project, process_id, version);
    return entry == NULL ? NULL : entry->process;
}

static const struct engine_process *find_tagged(const struct engine_catalog *self,
                                                struct span project, struct span process_id,
                                                struct span tag)
{
    const struct actor_catalog *catalog = ACTOR_OWNER(actor_catalog, engine, self);
    const struct process_entry *best = NULL;
    for (struct actor_link *link =
             actor_table_find(&catalog->processes, process_hash(project, process_id));
         link != NULL; link = actor_table_again(link)) {
        const struct process_entry *entry = ACTOR_OWNER(process_entry, link, link);
        if (span_equal(entry->process->id, process_id) &&
            span_equal(entry->process->project, project) &&
            span_equal(entry->process->version_tag, tag) &&
            (best == NULL || entry->source->version > best->source->version)) {
            best = entry;
        }
    }
    return best == NULL ? NULL : best->process;
}

static const struct decision_entry *decision_of(const struct actor_catalog *catalog,
                                                struct span project, struct span decision_id,
                                                uint32_t version)
{
    const struct decision_entry *best = NULL;
    for (struct actor_link *link =
             actor_table_find(&catalog->decisions, process_hash(project, decision_id));
         link != NULL; link = actor_table_again(link)) {
        const struct decision_entry *entry = ACTOR_OWNER(decision_entry, link, link);
        if (!span_equal(entry->id, decision_id) || !span_equal(entry->source->project, project)) {
            continue;
        }
        if (version == 0 ? best == NULL || entry->source->version > best->source->version
                         : entry->source->version == version) {
            best = entry;
        }
    }
    return best;
}

static const struct engine_dmn *find_decision(const struct engine_catalog *self,
                                              struct span project, struct span decision_id,
                                              uint32_t version)
{
    const struct actor_catalog *catalog = ACTOR_OWNER(actor_catalog, engine, self);
    const struct decision_entry *entry = decision_of(catalog, project, decision_id, version);
    return entry == NULL ? NULL : entry->source->definition->decisions;
}

/* Only what a zone needs is kept: not its file, and nothing of what turns out to be none. */
static const struct engine_zone *keep_zone(struct actor_catalog *catalog, struct span name,
                                           uint64_t hash)
{
    struct arena scratch;
    struct engine_zone zone;
    struct zone_entry *entry = NULL;
    arena_init(&scratch, ZONE_BLOCK_BYTES, ZONES_BYTES_MAX);
    if (catalog->read_zone(name, &scratch, &zone) == RESULT_OK) {
        struct span changes =
            arena_copy(&catalog->zone_arena, span_of((const uint8_t *)zone.changes,
                                                     zone.change_count * sizeof *zone.changes));
        struct span kept = arena_copy(&catalog->zone_arena, name);
        entry = arena_alloc(&catalog->zone_arena, sizeof *entry);
        if (catalog->zone_arena.overflowed) {
            entry = NULL;
        } else {
            *entry = (struct zone_entry){.name = kept, .zone = zone};
            entry->zone.changes = (const struct engine_zone_change *)(const void *)changes.bytes;
            actor_table_add(&catalog->zones, &entry->link, hash);
        }
    }
    arena_release(&scratch);
    return entry == NULL ? NULL : &entry->zone;
}

/* What the cache holds is the owner's alone, as all of the catalog; that it grows while somebody
 * only looks changes nothing that can be seen. */
static const struct engine_zone *find_zone(const struct engine_catalog *self, struct span name,
                                           struct arena *arena)
{
    struct actor_catalog *catalog = ACTOR_OWNER(actor_catalog, engine, self);
    (void)arena; /* kept longer than that */
    uint64_t hash = base_hash(name, 3);
    for (struct actor_link *link = actor_table_find(&catalog->zones, hash); link != NULL;
         link = actor_table_again(link)) {
        const struct zone_entry *known = ACTOR_OWNER(zone_entry, link, link);
        if (span_equal(known->name, name)) {
            return &known->zone;
        }
    }
    if (catalog->read_zone == NULL || actor_table_count(&catalog->zones) == ZONES_MAX ||
        !engine_zone_name_is_valid(name)) {
        return NULL;
    }
    return keep_zone(catalog, name, hash);
}

static struct project_entry *project_of(const struct actor_catalog *catalog, struct span project)
{
    for (struct actor_link *link = actor_table_find(&catalog->projects, base_hash(project, 0));
         link != NULL; link = actor_table_again(link)) {
        struct project_entry *entry = ACTOR_OWNER(project_entry, link, link);
        if (span_equal(entry->modules->project, project)) {
            return entry;
        }
    }
    return NULL;
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    const struct actor_catalog *catalog = ACTOR_OWNER(actor_catalog, engine, self);
    const struct project_entry *entry = project_of(catalog, project);
    return entry == NULL ? catalog->builtins : entry->modules;
}

/* {"modules":[]} */
static const uint8_t no_modules[] = {0x81, 0xa7, 'm', 'o', 'd', 'u', 'l', 'e', 's', 0x90};

enum result actor_catalog_init(struct actor_catalog *catalog, actor_zone_fn read_zone)
{
    *catalog = (struct actor_catalog){.engine = {.process = find_process,
                                                 .tagged = find_tagged,
                                                 .modules = find_modules,
                                                 .decision = find_decision,
                                                 .zone = find_zone},
                                      .read_zone = read_zone};
    arena_init(&catalog->zone_arena, ZONE_BLOCK_BYTES, ZONES_BYTES_MAX);
    actor_table_init(&catalog->zones);
    actor_table_init(&catalog->processes);
    actor_table_init(&catalog->decisions);
    actor_table_init(&catalog->projects);
    struct engine_report report;
    engine_report_init(&report, span_text("built-in modules"));
    enum result result =
        engine_read_modules(span_text("built-in modules"), span_of(no_modules, sizeof no_modules),
                            SPAN_EMPTY, SPAN_EMPTY, &report, &catalog->builtins);
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

static void project_free(struct project_entry *entry)
{
    if (entry->modules != NULL) {
        engine_modules_free(entry->modules);
    }
    free((void *)entry->value.bytes);
    free(entry);
}

void actor_catalog_release(struct actor_catalog *catalog)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&catalog->processes); link != NULL;
         link = next) {
        next = link->next;
        free(ACTOR_OWNER(process_entry, link, link));
    }
    actor_table_release(&catalog->processes);
    for (struct actor_link *link = actor_table_take_all(&catalog->decisions); link != NULL;
         link = next) {
        next = link->next;
        free(ACTOR_OWNER(decision_entry, link, link));
    }
    actor_table_release(&catalog->decisions);
    (void)actor_table_take_all(&catalog->zones);
    actor_table_release(&catalog->zones);
    arena_release(&catalog->zone_arena);
    for (struct actor_link *link = actor_table_take_all(&catalog->projects); link != NULL;
         link = next) {
        next = link->next;
        struct project_entry *entry = ACTOR_OWNER(project_entry, link, link);
        project_free(entry);
    }
    actor_table_release(&catalog->projects);
    while (catalog->sources != NULL) {
        struct actor_source *source = catalog->sources;
        catalog->sources = source->next;
        source_free(source);
    }
    if (catalog->builtins != NULL) {
        engine_modules_free(catalog->builtins);
        catalog->builtins = NULL;
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
    struct actor_source *source = malloc(sizeof *source + definition->project.count +
                                         definition->name.count + definition->content.count);
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
static enum result list_processes(struct actor_catalog *catalog, struct actor_source *source)
{
    struct engine_definition *compiled = source->definition;
    for (uint32_t i = 0; i < compiled->process_count; i++) {
        if (entry_of(catalog, source->project, compiled->processes[i].id, source->version) !=
            NULL) {
            return RESULT_EXISTS;
        }
    }
    struct process_entry **entries =
        calloc(compiled->process_count + 1, sizeof(struct process_entry *));
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
        actor_table_add(&catalog->processes, &entries[i]->link,
                        process_hash(source->project, process->id));
    }
    free(entries);
    return result;
}

static uint32_t decision_count(const struct engine_definition *definition)
{
    return definition->decisions == NULL ? 0 : engine_dmn_decision_count(definition->decisions);
}

/* All or nothing: an entry for each decision of the file. */
static enum result list_decisions(struct actor_catalog *catalog, struct actor_source *source)
{
    const struct engine_dmn *dmn = source->definition->decisions;
    uint32_t count = decision_count(source->definition);
    struct decision_entry *made = NULL;
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < count && result == RESULT_OK; i++) {
        struct span id = engine_dmn_decision_id(dmn, i);
        bool is_there = decision_of(catalog, source->project, id, source->version) != NULL;
        struct decision_entry *entry = is_there ? NULL : malloc(sizeof *entry);
        if (entry == NULL) {
            result = is_there ? RESULT_EXISTS : RESULT_LIMIT;
            break;
        }
        *entry = (struct decision_entry){
            .link.next = made == NULL ? NULL : &made->link, .source = source, .id = id};
        made = entry;
    }
    while (made != NULL) {
        struct decision_entry *entry = made;
        made =
            entry->link.next == NULL ? NULL : ACTOR_OWNER(decision_entry, link, entry->link.next);
        if (result == RESULT_OK) {
            actor_table_add(&catalog->decisions, &entry->link,
                            process_hash(source->project, entry->id));
        } else {
            free(entry);
        }
    }
    return result;
}

enum result actor_catalog_add(struct actor_catalog *catalog,
                              const struct proto_definition *definition, int64_t at_ms,
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
        result = source->definition->decisions != NULL ? list_decisions(catalog, source)
                                                       : list_processes(catalog, source);
    }
    if (result != RESULT_OK) {
        source_free(source);
        return result;
    }
    source->next = catalog->sources;
    catalog->sources = source;
    return RESULT_OK;
}

/* ---- projects ---- */

struct span actor_project_write(const struct proto_project *project, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 64 + project->environment.count + project->modules.count);
    wire_write_array(&writer, 3);
    wire_write_string(&writer, project->workspace);
    wire_write_value(&writer, project->environment);
    wire_write_value(&writer, project->modules);
    return wire_writer_span(&writer);
}

static struct span value_or_empty(struct span value)
{
    return wire_is(value, WIRE_NIL) ? SPAN_EMPTY : value;
}

enum result actor_project_read(struct span project_id, struct span value, struct proto_project *out)
{
    if (wire_count(value) != 3 || !wire_is(value, WIRE_ARRAY)) {
        return RESULT_CORRUPT;
    }
    *out = (struct proto_project){.project = project_id,
                                  .workspace = wire_string_or(wire_at(value, 0), ""),
                                  .environment = value_or_empty(wire_at(value, 1)),
                                  .modules = value_or_empty(wire_at(value, 2))};
    return RESULT_OK;
}

static struct project_entry *project_new(const struct proto_project *project)
{
    struct project_entry *entry = calloc(1, sizeof *entry);
    struct arena arena;
    arena_init(&arena, 4096, LIMIT_DEFINITION_BYTES * 4ul);
    struct span value = actor_project_write(project, &arena);
    uint8_t *copy = value.count == 0 || entry == NULL ? NULL : malloc(value.count);
    if (copy != NULL) {
        memcpy(copy, value.bytes, value.count);
        entry->value = span_of(copy, value.count);
    } else {
        free(entry);
        entry = NULL;
    }
    arena_release(&arena);
    return entry;
}

bool actor_catalog_has_project(const struct actor_catalog *catalog,
                               const struct proto_project *project)
{
    const struct project_entry *entry = project_of(catalog, project->project);
    struct proto_project known;
    return entry != NULL &&
           actor_project_read(project->project, entry->value, &known) == RESULT_OK &&
           span_equal(known.workspace, project->workspace) &&
           span_equal(known.environment, project->environment) &&
           span_equal(known.modules, project->modules);
}

enum result actor_catalog_set_project(struct actor_catalog *catalog,
                                      const struct proto_project *project,
                                      struct engine_report *report)
{
    engine_report_init(report, span_text(ACTOR_PROJECT_FILE));
    struct span modules =
        project->modules.count == 0 ? span_of(no_modules, sizeof no_modules) : project->modules;
    struct project_entry *entry = project_new(project);
    if (entry == NULL) {
        return RESULT_LIMIT;
    }
    enum result result =
        engine_read_modules(span_text(ACTOR_PROJECT_FILE), modules, project->project,
                            project->environment, report, &entry->modules);
    if (result != RESULT_OK) {
        project_free(entry);
        return result;
    }
    struct project_entry *old = project_of(catalog, project->project);
    if (old != NULL) {
        actor_table_remove(&catalog->projects, &old->link);
        project_free(old);
    }
    actor_table_add(&catalog->projects, &entry->link, base_hash(entry->modules->project, 0));
    return RESULT_OK;
}

struct span actor_catalog_workspace(const struct actor_catalog *catalog, struct span project)
{
    const struct project_entry *entry = project_of(catalog, project);
    struct proto_project known = {0};
    bool is_known = entry != NULL &&
                    actor_project_read(project, entry->value, &known) == RESULT_OK &&
                    known.workspace.count > 0;
    return is_known ? known.workspace : span_text("default");
}

/* ---- webhooks ---- */

const struct engine_process *actor_catalog_of_path(const struct actor_catalog *catalog,
                                                   struct span path,
                                                   struct engine_start_trigger *trigger)
{
    for (const struct actor_source *source = catalog->sources; source != NULL;
         source = source->next) {
        for (uint32_t i = 0; i < source->definition->process_count; i++) {
            const struct engine_process *process = &source->definition->processes[i];
            if (actor_catalog_newest(catalog, source->project, process->id) == source->version &&
                engine_trigger_of_path(process, path, trigger)) {
                return process;
            }
        }
    }
    return NULL;
}

struct path_check {
    const struct actor_catalog *catalog;
    struct span project;
    const struct engine_process *process;
    struct engine_report *report;
};

static void check_path(void *owner, const struct engine_start_trigger *trigger)
{
    const struct path_check *check = owner;
    struct engine_start_trigger other;
    const struct engine_process *taken =
        trigger->kind == ENGINE_START_BY_WEBHOOK
            ? actor_catalog_of_path(check->catalog, trigger->text, &other)
            : NULL;
    if (taken != NULL && (!span_equal(taken->id, check->process->id) ||
                          !span_equal(taken->project, check->project))) {
        struct span element = trigger->node == NULL ? SPAN_EMPTY : trigger->node->id;
        engine_report_add(check->report, ENGINE_ERROR, "trigger", element,
                          trigger->node == NULL ? check->process->line : trigger->node->line, 0,
                          "the webhook path \"%.*s\" is taken by process \"%.*s\" of project "
                          "\"%.*s\"",
                          SPAN_ARG(trigger->text), SPAN_ARG(taken->id), SPAN_ARG(taken->project));
    }
}

void actor_catalog_check_paths(const struct actor_catalog *catalog, struct span project,
                               const struct engine_definition *definition,
                               struct engine_report *report)
{
    for (uint32_t i = 0; i < definition->process_count; i++) {
        struct path_check check = {.catalog = catalog,
                                   .project = project,
                                   .process = &definition->processes[i],
                                   .report = report};
        engine_triggers_each(check.process, check_path, &check);
    }
}

uint32_t actor_catalog_newest(const struct actor_catalog *catalog, struct span project,
                              struct span process_id)
{
    const struct process_entry *entry = entry_of(catalog, project, process_id, 0);
    return entry == NULL ? 0 : entry->source->version;
}

uint32_t actor_catalog_newest_decision(const struct actor_catalog *catalog, struct span project,
                                       struct span decision_id)
{
    const struct decision_entry *entry = decision_of(catalog, project, decision_id, 0);
    return entry == NULL ? 0 : entry->source->version;
}

const struct actor_source *actor_catalog_source(const struct actor_catalog *catalog,
                                                struct span project, struct span process_id,
                                                uint32_t version)
{
    const struct process_entry *entry = entry_of(catalog, project, process_id, version);
    return entry == NULL ? NULL : entry->source;
}

const struct actor_source *actor_catalog_file(const struct actor_catalog *catalog,
                                              struct span project, struct span name)
{
    const struct actor_source *newest = NULL;
    for (const struct actor_source *source = catalog->sources; source != NULL;
         source = source->next) {
        if (span_equal(source->project, project) && span_equal(source->name, name) &&
            (newest == NULL || source->version > newest->version)) {
            newest = source;
        }
    }
    return newest;
}
