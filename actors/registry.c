/*
 * registry.c: one job at a time: compile, commit, broadcast, answer. The registry's thread, so that
 * compiling a large file holds up nobody's executions.
 */
#include "actors/registry.h"

#include <stdlib.h>
#include <string.h>

#include "actors/queue.h"
#include "actors/reply.h"
#include "engine/dmn/dmn.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/record.h"
#include "proto/wire/reader.h"

enum {
    REGISTRY_MAGIC = 0x52454749,
    NAME_BYTES_MAX = 255,
    LISTED_MAX = 1000,
    JOBS_MAX = 256,                              /* that wait */
    JOBS_BYTES_MAX = 4 * LIMIT_DEFINITION_BYTES, /* ... and what they hold together */
};

enum stage { IDLE, COMMITTING, BROADCASTING };

#define STALLED_TEXT "the journal cannot be written: nothing was done"

struct actor_registry {
    uint32_t magic;
    struct actor_registry_options options;
    struct actor_catalog catalog;
    struct actor_schedule *schedule;
    bool scheduled; /* what recovery brought is in the schedule */
    struct arena arena;
    struct actor_time now;
    struct actor_queue jobs;   /* waiting */
    uint32_t jobs_count;       /* ... how many */
    size_t jobs_bytes;         /* ... with files of so many bytes */
    bool stalled;              /* the journal has not taken the job's commit; it tries again */
    struct proto_message *job; /* under way */
    enum stage stage;
    struct proto_definition file; /* the job's, with its version; borrowed from the job */
    int64_t deployed_ms;          /* ... and its time, as the journal has it */
    uint32_t answers_left;
    enum result worst; /* of the shards' answers */
    struct actor_registry_counters counters;
};

enum result actor_registry_new(const struct actor_registry_options *options,
                               struct actor_registry **out)
{
    struct actor_registry *registry = calloc(1, sizeof *registry);
    if (registry == NULL) {
        return RESULT_LIMIT;
    }
    registry->magic = REGISTRY_MAGIC;
    registry->options = *options;
    arena_init(&registry->arena, 16 << 10, LIMIT_DEFINITION_BYTES * 8ul);
    enum result result = actor_catalog_init(&registry->catalog, options->read_zone);
    if (result == RESULT_OK) {
        result =
            actor_schedule_new(&(struct actor_schedule_options){.self = options->self,
                                                                .shards = options->shards,
                                                                .shard_count = options->shard_count,
                                                                .catalog = &registry->catalog,
                                                                .router = options->router},
                               &registry->schedule);
    }
    if (result != RESULT_OK) {
        actor_registry_free(registry);
        return result;
    }
    *out = registry;
    return RESULT_OK;
}

void actor_registry_free(struct actor_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    actor_queue_clear(&registry->jobs);
    message_free(registry->job);
    actor_schedule_free(registry->schedule);
    actor_catalog_release(&registry->catalog);
    arena_release(&registry->arena);
    registry->magic = 0;
    free(registry);
}

struct actor_catalog *actor_registry_catalog(struct actor_registry *registry)
{
    return &registry->catalog;
}

enum result actor_registry_recover_firing(struct actor_registry *registry,
                                          const struct proto_record *record)
{
    return actor_schedule_recover(registry->schedule, record);
}

const struct actor_schedule_counters *
actor_registry_schedule_counters(const struct actor_registry *registry)
{
    return actor_schedule_counters(registry->schedule);
}

const struct actor_registry_counters *actor_registry_counters(const struct actor_registry *registry)
{
    return &registry->counters;
}

/* ---- refusals ---- */

/* Answers one that asks for a job; it is not freed here. Whoever has been answered hears nothing.
 */
static void refuse_message(struct actor_registry *registry, const struct proto_message *message,
                           enum proto_error error, enum result result, const char *text,
                           struct span details)
{
    actor_count(&registry->counters.refused, 1);
    if (message->type == PROTO_REQUEST) {
        struct arena arena;
        arena_init(&arena, 1024, LIMIT_DEFINITION_BYTES);
        actor_reply_refuse(message, &arena,
                           &(struct actor_refusal){
                               .error = error, .message = span_text(text), .details = details});
        arena_release(&arena);
        return;
    }
    struct proto_message *done = message_new(PROTO_DONE, strlen(text));
    if (done != NULL) {
        done->as.done =
            (struct proto_done){.result = result, .text = message_keep(done, span_text(text))};
        message_answer(message->reply_to, done);
    }
}

/* ---- answers ---- */

static const char *severity_name(enum engine_severity severity)
{
    static const char *const names[] = {
        [ENGINE_INFO] = "info", [ENGINE_WARNING] = "warning", [ENGINE_ERROR] = "error"};
    return names[severity];
}

static void write_problems(struct wire_writer *writer, const struct engine_report *report)
{
    wire_write_text(writer, "problems");
    wire_write_array(writer, report->count);
    for (uint32_t i = 0; i < report->count; i++) {
        const struct engine_problem *problem = &report->problems[i];
        wire_write_map(writer, 6);
        wire_pair_text(writer, "severity", severity_name(problem->severity));
        wire_pair_text(writer, "rule", problem->rule);
        wire_pair_string(writer, "element", problem->element);
        wire_pair_int(writer, "line", problem->line);
        wire_pair_int(writer, "column", problem->column);
        wire_pair_string(writer, "message", problem->message);
    }
}

struct span actor_problems(const struct engine_report *report, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    wire_write_map(&writer, 1);
    write_problems(&writer, report);
    return wire_writer_span(&writer);
}

static void end_job(struct actor_registry *registry)
{
    message_free(registry->job);
    registry->job = NULL;
    registry->stage = IDLE;
    registry->file = (struct proto_definition){0};
}

static void answer_done(struct actor_registry *registry, enum result result, struct span text,
                        uint64_t value)
{
    struct proto_message *done = message_new(PROTO_DONE, text.count);
    if (done != NULL) {
        done->as.done =
            (struct proto_done){.result = result, .text = message_keep(done, text), .value = value};
        message_answer(registry->job->reply_to, done);
    }
    end_job(registry);
}

static void refuse(struct actor_registry *registry, enum proto_error error, enum result result,
                   const char *message, struct span details)
{
    refuse_message(registry, registry->job, error, result, message, details);
    end_job(registry);
}

static void write_processes(struct wire_writer *writer, const struct engine_definition *definition)
{
    wire_write_text(writer, "processes");
    wire_write_array(writer, definition->process_count);
    for (uint32_t i = 0; i < definition->process_count; i++) {
        const struct engine_process *process = &definition->processes[i];
        wire_write_map(writer, 4);
        wire_pair_string(writer, "id", process->id);
        wire_pair_string(writer, "name", process->name);
        wire_pair_int(writer, "version", process->version);
        wire_pair_bool(writer, "executable", process->executable);
    }
}

static void write_decisions(struct wire_writer *writer, const struct actor_source *source)
{
    const struct engine_dmn *dmn = source->definition->decisions;
    uint32_t count = engine_dmn_decision_count(dmn);
    wire_write_text(writer, "decisions");
    wire_write_array(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_write_map(writer, 3);
        wire_pair_string(writer, "id", engine_dmn_decision_id(dmn, i));
        wire_pair_string(writer, "name", engine_dmn_decision_name(dmn, i));
        wire_pair_int(writer, "version", source->version);
    }
}

/* `report`: of the compilation, or NULL when the content was there already. */
static void answer_deployed(struct actor_registry *registry, const struct actor_source *source,
                            const struct engine_report *report)
{
    actor_count(&registry->counters.deploys, 1);
    if (registry->job->type != PROTO_REQUEST) {
        answer_done(registry, RESULT_OK, SPAN_EMPTY, source->version);
        return;
    }
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &registry->arena, 1024);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_string(&writer, "projectId", source->project);
    wire_pair_string(&writer, "name", source->name);
    wire_pair_int(&writer, "version", source->version);
    wire_pair_bool(&writer, "created", report != NULL);
    write_processes(&writer, source->definition);
    pairs += 5;
    if (source->definition->decisions != NULL) {
        write_decisions(&writer, source);
        pairs++;
    }
    if (report != NULL) {
        write_problems(&writer, report);
        pairs++;
    }
    struct span body = actor_reply_close(&writer, mark, pairs);
    struct proto_message *reply = actor_reply_new(registry->job->as.request.spelling, true, body);
    if (reply != NULL) {
        message_answer(registry->job->reply_to, reply);
    }
    end_job(registry);
}

/* ---- definitions: a row for each process, or decision, of each version ---- */

static uint32_t list_source(const struct actor_registry *registry, struct wire_writer *writer,
                            const struct actor_source *source, struct span process_id)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < source->definition->process_count; i++) {
        const struct engine_process *process = &source->definition->processes[i];
        if (process_id.count > 0 && !span_equal(process_id, process->id)) {
            continue;
        }
        bool in_force = actor_catalog_newest(&registry->catalog, source->project, process->id) ==
                        source->version;
        wire_write_map(writer, in_force ? 8 : 7);
        wire_pair_string(writer, "projectId", source->project);
        wire_pair_string(writer, "process", process->id);
        wire_pair_string(writer, "name", process->name);
        wire_pair_int(writer, "version", source->version);
        wire_pair_bool(writer, "executable", process->executable);
        wire_pair_string(writer, "file", source->name);
        wire_pair_time(writer, "deployedAt", source->at_ms);
        if (in_force) {
            wire_write_text(writer, "triggers");
            actor_schedule_write(registry->schedule, process, writer);
        }
        rows++;
    }
    return rows;
}

static uint32_t list_decisions(const struct actor_registry *registry, struct wire_writer *writer,
                               const struct actor_source *source, struct span process_id)
{
    (void)registry;
    const struct engine_dmn *dmn = source->definition->decisions;
    uint32_t count = dmn == NULL || process_id.count > 0 ? 0 : engine_dmn_decision_count(dmn);
    for (uint32_t i = 0; i < count; i++) {
        wire_write_map(writer, 6);
        wire_pair_string(writer, "projectId", source->project);
        wire_pair_string(writer, "decision", engine_dmn_decision_id(dmn, i));
        wire_pair_string(writer, "name", engine_dmn_decision_name(dmn, i));
        wire_pair_int(writer, "version", source->version);
        wire_pair_string(writer, "file", source->name);
        wire_pair_time(writer, "deployedAt", source->at_ms);
    }
    return count;
}

typedef uint32_t (*list_fn)(const struct actor_registry *registry, struct wire_writer *writer,
                            const struct actor_source *source, struct span process_id);

/* What `list` makes of each source of the project, or of all. */
static void list_all(const struct actor_registry *registry, struct wire_writer *writer,
                     const char *key, list_fn list_one, struct span project, struct span process_id)
{
    wire_write_text(writer, key);
    size_t array = wire_open_array(writer);
    uint32_t count = 0;
    for (const struct actor_source *source = registry->catalog.sources;
         source != NULL && count < LISTED_MAX; source = source->next) {
        if (project.count == 0 || span_equal(project, source->project)) {
            count += list_one(registry, writer, source, process_id);
        }
    }
    wire_close_array(writer, array, count);
}

/* At once, whatever job is under way. Takes the request. */
static void list(struct actor_registry *registry, struct proto_message *request)
{
    struct span query = request->as.request.body;
    struct span project = wire_string_or(wire_find_text(query, "projectId"), "");
    struct span process_id = wire_string_or(wire_find_text(query, "process"), "");
    struct arena arena;
    struct wire_writer writer;
    uint32_t pairs;
    arena_init(&arena, 16 << 10, LIMIT_FRAME_BYTES);
    wire_writer_init(&writer, &arena, 4096);
    size_t mark = actor_reply_open(&writer, &pairs);
    list_all(registry, &writer, "definitions", list_source, project, process_id);
    list_all(registry, &writer, "decisions", list_decisions, project, process_id);
    struct span body = actor_reply_close(&writer, mark, pairs + 2);
    struct proto_message *reply =
        body.count == 0 ? NULL : actor_reply_new(request->as.request.spelling, true, body);
    if (reply != NULL) {
        message_answer(request->reply_to, reply);
    } else {
        refuse_message(registry, request, PROTO_ERROR_PayloadTooLarge, RESULT_LIMIT,
                       "the list is too large: name a project or a process", SPAN_EMPTY);
    }
    arena_release(&arena);
    message_free(request);
}

/* ---- deploy ---- */

static struct span content_of(struct span body)
{
    struct span content = wire_find_text(body, "content");
    bool bytes = wire_is(content, WIRE_STRING) || wire_is(content, WIRE_BINARY);
    return bytes ? wire_head(content).as.text : SPAN_EMPTY;
}

/* false: refused. */
static bool read_job(struct actor_registry *registry)
{
    if (registry->job->type == PROTO_DEFINITION) {
        registry->file = registry->job->as.definition;
    } else {
        struct span body = registry->job->as.request.body;
        registry->file = (struct proto_definition){
            .project = wire_string_or(wire_find_text(body, "projectId"), "default"),
            .name = wire_string_or(wire_find_text(body, "name"), ""),
            .content = content_of(body)};
    }
    const struct proto_definition *file = &registry->file;
    bool name_is_valid = channel_session_id_is_valid(file->name) &&
                         file->name.count <= NAME_BYTES_MAX &&
                         !span_is(file->name, ACTOR_PROJECT_FILE);
    if (!name_is_valid) {
        refuse(registry, PROTO_ERROR_InvalidRequest, RESULT_INVALID,
               "name is the file's name: 1 to 255 bytes of UTF-8 without control characters, "
               "not " ACTOR_PROJECT_FILE,
               SPAN_EMPTY);
    } else if (file->content.count == 0) {
        refuse(registry, PROTO_ERROR_InvalidRequest, RESULT_INVALID, "content is the file's text",
               SPAN_EMPTY);
    } else if (file->content.count > LIMIT_DEFINITION_BYTES) {
        refuse(registry, PROTO_ERROR_PayloadTooLarge, RESULT_LIMIT,
               "the file is larger than 16 MiB", SPAN_EMPTY);
    } else {
        return true;
    }
    return false;
}

static uint32_t next_version(const struct actor_registry *registry,
                             const struct engine_definition *definition)
{
    uint32_t newest = 0;
    for (uint32_t i = 0; i < definition->process_count; i++) {
        uint32_t version = actor_catalog_newest(&registry->catalog, registry->file.project,
                                                definition->processes[i].id);
        newest = version > newest ? version : newest;
    }
    const struct engine_dmn *dmn = definition->decisions;
    for (uint32_t i = 0; dmn != NULL && i < engine_dmn_decision_count(dmn); i++) {
        uint32_t version = actor_catalog_newest_decision(&registry->catalog, registry->file.project,
                                                         engine_dmn_decision_id(dmn, i));
        newest = version > newest ? version : newest;
    }
    const struct actor_source *of_name =
        actor_catalog_file(&registry->catalog, registry->file.project, registry->file.name);
    return (of_name != NULL && of_name->version > newest ? of_name->version : newest) + 1;
}

static void commit(struct actor_registry *registry)
{
    struct wire_writer batch;
    registry->deployed_ms = registry->now.unix_ms;
    wire_writer_init(&batch, &registry->arena, registry->file.content.count + 512);
    record_write(&batch, &(struct proto_record){.kind = PROTO_RECORD_DEFINITION,
                                                .project_id = registry->file.project,
                                                .name = registry->file.name,
                                                .number = registry->file.version,
                                                .at_ms = registry->deployed_ms,
                                                .body = registry->file.content});
    struct span records = wire_writer_span(&batch);
    struct proto_message *message =
        records.count == 0 ? NULL : message_new(PROTO_COMMIT, records.count);
    if (message == NULL) {
        refuse(registry, PROTO_ERROR_Overloaded, RESULT_LIMIT, "no memory", SPAN_EMPTY);
        return;
    }
    message->as.commit.records = message_keep(message, records);
    message->reply_to = (struct proto_address){.sink = registry->options.self};
    if (registry->options.journal->send(registry->options.journal, &message) != RESULT_OK) {
        message_free(message);
        refuse(registry, PROTO_ERROR_ShuttingDown, RESULT_CLOSED, "the engine stops", SPAN_EMPTY);
        return;
    }
    registry->stage = COMMITTING;
}

/* What a file says alone is right; here it meets this system and the other definitions. */
static enum result check_triggers(struct actor_registry *registry,
                                  const struct engine_definition *definition,
                                  struct engine_report *report)
{
    struct span project = registry->file.project;
    actor_schedule_check(&registry->catalog, project, definition, registry->now.unix_ms, report);
    actor_catalog_check_paths(&registry->catalog, project, definition, report);
    return report->errors > 0 ? RESULT_INVALID : RESULT_OK;
}

static void refuse_definition(struct actor_registry *registry, enum result result,
                              const struct engine_report *report)
{
    const char *text =
        result == RESULT_INVALID ? "the definition has errors" : "the definition is too large";
    if (registry->job->type != PROTO_REQUEST && report->errors > 0) {
        struct span lines = engine_report_text(report, ENGINE_ERROR, &registry->arena);
        lines = arena_format(&registry->arena, "%.*s", SPAN_ARG(lines)); /* ends with a NUL */
        text = lines.count > 0 ? (const char *)lines.bytes : text;
    }
    refuse(registry, PROTO_ERROR_DefinitionInvalid, result, text,
           actor_problems(report, &registry->arena));
}

static void deploy(struct actor_registry *registry)
{
    if (!read_job(registry)) {
        return;
    }
    struct proto_definition *file = &registry->file;
    const struct actor_source *newest =
        actor_catalog_file(&registry->catalog, file->project, file->name);
    if (newest != NULL && span_equal(newest->content, file->content)) {
        answer_deployed(registry, newest, NULL);
        return;
    }
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, file->name);
    enum result result = engine_read(file->name, file->content, &report, &definition);
    if (result == RESULT_OK) {
        result = check_triggers(registry, definition, &report);
        file->version = next_version(registry, definition);
        engine_definition_free(definition);
    }
    if (result == RESULT_OK) {
        commit(registry);
    } else {
        refuse_definition(registry, result, &report);
    }
    engine_report_release(&report);
}

/* ---- broadcast ---- */

static void keep_project(struct actor_registry *registry)
{
    struct engine_report report;
    enum result result =
        actor_catalog_set_project(&registry->catalog, &registry->job->as.project, &report);
    struct span text = engine_report_text(&report, ENGINE_ERROR, &registry->arena);
    answer_done(registry, result, text, 0);
    engine_report_release(&report);
}

static void finish_broadcast(struct actor_registry *registry)
{
    if (registry->worst != RESULT_OK) {
        refuse(registry, PROTO_ERROR_Internal, registry->worst,
               "a shard could not take it; see the log", SPAN_EMPTY);
        return;
    }
    if (registry->job->type == PROTO_PROJECT) {
        keep_project(registry);
        return;
    }
    struct engine_report report;
    enum result result =
        actor_catalog_add(&registry->catalog, &registry->file, registry->deployed_ms, &report);
    if (result == RESULT_OK) {
        actor_schedule_put(registry->schedule, registry->catalog.sources);
        actor_count(&registry->counters.definitions, 1);
        answer_deployed(registry, registry->catalog.sources, &report);
    } else {
        refuse(registry, PROTO_ERROR_Internal, result,
               "it is deployed, but the registry has no memory for it", SPAN_EMPTY);
    }
    engine_report_release(&report);
}

static void broadcast(struct actor_registry *registry)
{
    registry->stage = BROADCASTING;
    registry->worst = RESULT_OK;
    registry->answers_left = 0;
    for (uint32_t i = 0; i < registry->options.shard_count; i++) {
        struct proto_message *copy = registry->job->type == PROTO_PROJECT
                                         ? message_of_project(&registry->job->as.project)
                                         : message_of_definition(&registry->file);
        if (copy == NULL) {
            registry->worst = RESULT_LIMIT;
            continue;
        }
        copy->reply_to = (struct proto_address){.sink = registry->options.self, .ticket = i};
        if (registry->options.shards[i]->send(registry->options.shards[i], &copy) == RESULT_OK) {
            registry->answers_left++;
        } else {
            message_free(copy);
            registry->worst = RESULT_CLOSED;
        }
    }
    if (registry->answers_left == 0) {
        finish_broadcast(registry);
    }
}

/* ---- jobs ---- */

static size_t job_bytes(const struct proto_message *job)
{
    return job->type == PROTO_REQUEST ? job->as.request.body.count
           : job->type == PROTO_DEFINITION
               ? job->as.definition.content.count
               : job->as.project.modules.count + job->as.project.environment.count;
}

/* ---- answers of others ---- */

static struct proto_message *take_job(struct actor_registry *registry)
{
    struct proto_message *job = actor_queue_pop(&registry->jobs);
    if (job != NULL) {
        ASSERT(registry->jobs_count > 0);
        registry->jobs_count--;
        registry->jobs_bytes -= job_bytes(job);
    }
    return job;
}

/* The journal keeps the commit and tries again, so the job under way waits, but its caller does
 * not; those behind it have not begun and are refused. */
static void stall(struct actor_registry *registry, enum result why)
{
    registry->stalled = true;
    refuse_message(registry, registry->job, PROTO_ERROR_StorageFailed, why,
                   "the journal cannot be written; the file is kept and deployed when it can be",
                   SPAN_EMPTY);
    registry->job->reply_to.sink = NULL;
    struct proto_message *job;
    while ((job = take_job(registry)) != NULL) {
        refuse_message(registry, job, PROTO_ERROR_StorageFailed, why, STALLED_TEXT, SPAN_EMPTY);
        message_free(job);
    }
}

static void committed(struct actor_registry *registry, enum result result)
{
    ASSERT(registry->stage == COMMITTING);
    if (result != RESULT_OK) {
        stall(registry, result);
        return;
    }
    registry->stalled = false;
    broadcast(registry);
}

static void shard_done(struct actor_registry *registry, const struct proto_message *message)
{
    ASSERT(registry->stage == BROADCASTING && registry->answers_left > 0);
    if (message->as.done.result != RESULT_OK) {
        registry->worst = message->as.done.result;
        log_line(LOG_ERROR, "REGISTRY-SHARD-REFUSED", "shard=%llu reason=\"%.*s\"",
                 (unsigned long long)message->reply_to.ticket, SPAN_ARG(message->as.done.text));
    }
    if (--registry->answers_left == 0) {
        finish_broadcast(registry);
    }
}

/* ---- the turn ---- */

/* As durable as a definition, so that recovery has it. */
static void set_project(struct actor_registry *registry)
{
    const struct proto_project *project = &registry->job->as.project;
    if (actor_catalog_has_project(&registry->catalog, project)) {
        answer_done(registry, RESULT_OK, SPAN_EMPTY, 0);
        return;
    }
    registry->file =
        (struct proto_definition){.project = project->project,
                                  .name = span_text(ACTOR_PROJECT_FILE),
                                  .content = actor_project_write(project, &registry->arena),
                                  .version = 1};
    commit(registry);
}

static void next_job(struct actor_registry *registry)
{
    registry->job = take_job(registry);
    arena_clear(&registry->arena);
    if (registry->job->type == PROTO_PROJECT) {
        set_project(registry);
    } else {
        deploy(registry);
    }
}

/* Takes the message. */
static void admit(struct actor_registry *registry, struct proto_message *message)
{
    size_t bytes = job_bytes(message);
    if (message->type == PROTO_REQUEST && message->as.request.operation == PROTO_OP_DEFINITIONS) {
        list(registry, message);
    } else if (registry->stalled) {
        refuse_message(registry, message, PROTO_ERROR_StorageFailed, RESULT_IO, STALLED_TEXT,
                       SPAN_EMPTY);
        message_free(message);
    } else if (registry->jobs_count > 0 && (registry->jobs_count == JOBS_MAX ||
                                            registry->jobs_bytes + bytes > JOBS_BYTES_MAX)) {
        refuse_message(registry, message, PROTO_ERROR_Overloaded, RESULT_AGAIN,
                       "too many files wait to be deployed", SPAN_EMPTY);
        message_free(message);
    } else {
        registry->jobs_count++;
        registry->jobs_bytes += bytes;
        actor_queue_push(&registry->jobs, message);
    }
}

/* Each process's newest version, as recovery found it. */
static void schedule_all(struct actor_registry *registry)
{
    for (const struct actor_source *source = registry->catalog.sources; source != NULL;
         source = source->next) {
        actor_schedule_put(registry->schedule, source);
    }
    registry->scheduled = true;
}

uint64_t actor_registry_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_registry *registry = BASE_CAST(actor_registry, argument, REGISTRY_MAGIC);
    registry->now = now;
    if (!registry->scheduled) {
        schedule_all(registry);
    }
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        if (message->type == PROTO_COMMITTED) {
            committed(registry, message->as.committed.result);
            message_free(message);
        } else if (message->type == PROTO_DONE) {
            shard_done(registry, message);
            message_free(message);
        } else if (message->type == PROTO_FIRED) {
            actor_schedule_fired(registry->schedule, &message->as.fire, now);
            message_free(message);
        } else {
            ASSERT(message->type == PROTO_REQUEST || message->type == PROTO_DEFINITION ||
                   message->type == PROTO_PROJECT);
            admit(registry, message);
        }
    }
    while (registry->stage == IDLE && registry->jobs.oldest != NULL) {
        next_job(registry);
    }
    return actor_schedule_turn(registry->schedule, now);
}
