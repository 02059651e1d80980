/*
 * load.c: projects are given to the registry, all or nothing: everything is read and checked here,
 * on the caller's thread, before the first message is sent.
 */
#include "actors/assembly.h"
#include "proto/base/assert.h"

enum { LOAD_TIMEOUT_MS = 60000 };

static void add_problems(struct arena *arena, const struct engine_report *report,
                         struct span *problems)
{
    struct span text = engine_report_text(report, ENGINE_ERROR, arena);
    if (text.count > 0) {
        *problems = arena_format(
            arena, "%.*s%s%.*s", SPAN_ARG(*problems),
            problems->count > 0 && problems->bytes[problems->count - 1] != '\n' ? "\n" : "",
            SPAN_ARG(text));
    }
}

/* A folder of projects may hold many files of one name. */
static void name_project(struct engine_report *report, const struct actor_project *project,
                         struct arena *arena)
{
    report->file =
        arena_format(arena, "%.*s/%.*s", SPAN_ARG(project->project), SPAN_ARG(report->file));
}

static enum result check_file(const struct actor_catalog *catalog,
                              const struct actor_project *project,
                              const struct actor_project_file *file, struct arena *arena,
                              struct span *problems)
{
    struct engine_report report;
    struct engine_definition *definition = NULL;
    struct actor_clock clock = {0};
    engine_report_init(&report, file->name);
    name_project(&report, project, arena);
    enum result result = engine_read(file->name, file->content, &report, &definition);
    if (result == RESULT_OK) {
        actor_schedule_check(catalog, project->project, definition, actor_clock_now(&clock).unix_ms,
                             &report);
        result = report.errors > 0 ? RESULT_INVALID : RESULT_OK;
        engine_definition_free(definition);
    }
    add_problems(arena, &report, problems);
    engine_report_release(&report);
    return result;
}

/* With a catalog of this project alone, for its modules, `env` and zones. */
static enum result check_with(struct actor_catalog *catalog, const struct actor_project *project,
                              struct arena *arena, struct span *problems)
{
    struct engine_report report;
    struct proto_project settings = {.project = project->project,
                                     .workspace = project->workspace,
                                     .environment = project->environment,
                                     .modules = project->modules};
    enum result worst = actor_catalog_set_project(catalog, &settings, &report);
    name_project(&report, project, arena);
    add_problems(arena, &report, problems);
    engine_report_release(&report);
    for (size_t i = 0; i < project->definition_count; i++) {
        enum result result =
            check_file(catalog, project, &project->definitions[i], arena, problems);
        worst = result != RESULT_OK ? result : worst;
    }
    return worst;
}

static enum result check_project(const struct actor_project *project, actor_zone_fn read_zone,
                                 struct arena *arena, struct span *problems)
{
    if (!id_is_valid(project->project) || !id_is_valid(project->workspace)) {
        *problems =
            arena_format(arena, "%.*sproject \"%.*s\": its id or its workspace's id is not valid\n",
                         SPAN_ARG(*problems), SPAN_ARG(project->project));
        return RESULT_INVALID;
    }
    struct actor_catalog catalog;
    enum result result = actor_catalog_init(&catalog, read_zone);
    if (result == RESULT_OK) {
        result = check_with(&catalog, project, arena, problems);
    }
    actor_catalog_release(&catalog);
    return result;
}

/* Takes the message; waits for its PROTO_DONE. */
static enum result ask_registry(struct actor_runtime *runtime, struct proto_message *message,
                                struct arena *arena, struct span *problems)
{
    if (message == NULL) {
        return RESULT_LIMIT;
    }
    uint64_t ticket = ++runtime->load_ticket;
    message->reply_to =
        (struct proto_address){.sink = &runtime->load_waiter.sink, .ticket = ticket};
    if (runtime->registry_loop.sink.send(&runtime->registry_loop.sink, &message) != RESULT_OK) {
        message_free(message);
        return RESULT_CLOSED;
    }
    for (;;) {
        struct proto_message *done = actor_waiter_next(&runtime->load_waiter, LOAD_TIMEOUT_MS);
        if (done == NULL) {
            return RESULT_TIMEOUT;
        }
        bool ours = done->reply_to.ticket == ticket; /* else of one that timed out */
        enum result result = done->as.done.result;
        if (ours && result != RESULT_OK) {
            *problems = arena_copy(arena, done->as.done.text);
        }
        message_free(done);
        if (ours) {
            return result;
        }
    }
}

static struct proto_message *project_message(const struct actor_project *project)
{
    return message_of_project(&(struct proto_project){.project = project->project,
                                                      .workspace = project->workspace,
                                                      .environment = project->environment,
                                                      .modules = project->modules});
}

static struct proto_message *file_message(const struct actor_project *project,
                                          const struct actor_project_file *file)
{
    return message_of_definition(&(struct proto_definition){
        .project = project->project, .name = file->name, .content = file->content});
}

enum result actor_runtime_load(struct actor_runtime *runtime, const struct actor_project *projects,
                               size_t count, struct arena *arena, struct span *problems)
{
    *problems = SPAN_EMPTY;
    ASSERT(runtime->started);
    enum result result = RESULT_OK;
    for (size_t i = 0; i < count; i++) {
        enum result checked =
            check_project(&projects[i], runtime->options.read_zone, arena, problems);
        result = checked != RESULT_OK ? checked : result;
    }
    if (result != RESULT_OK) {
        return result;
    }
    /* Only one at a time: their parts must not mix. It is no actor that waits here, so a message
     * could not order them. */
    pthread_mutex_lock(&runtime->load_mutex);
    for (size_t i = 0; i < count && result == RESULT_OK; i++) {
        result = ask_registry(runtime, project_message(&projects[i]), arena, problems);
        for (size_t k = 0; k < projects[i].definition_count && result == RESULT_OK; k++) {
            result = ask_registry(runtime, file_message(&projects[i], &projects[i].definitions[k]),
                                  arena, problems);
        }
    }
    pthread_mutex_unlock(&runtime->load_mutex);
    return result;
}
