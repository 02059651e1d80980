/*
 * accept_migrate.c: to another version of the definition (engine.md 9): refused whole, or done
 * whole.
 */
#include "engine/accept.h"

#include "engine/apply.h"
#include "engine/fields.h"
#include "engine/join.h"
#include "engine/migration.h"
#include "proto/base/assert.h"

static struct engine_migration migration_of(const struct engine_accept *accept)
{
    return (struct engine_migration){.from = accept->execution->process,
                                     .to = accept->input->process,
                                     .mapping = accept->input->mapping};
}

enum result engine_accept_check_migrate(struct engine_accept *accept)
{
    const struct engine_input *input = accept->input;
    const struct engine_process *process = accept->execution->process;
    ASSERT(input->process != NULL && engine_fields_is(input->mapping, WIRE_MAP));
    enum result result = engine_accept_check_verb(accept);
    if (result != RESULT_OK) {
        return result;
    }
    if (!span_equal(input->process->id, process->id) || input->process->version == 0 ||
        input->process->version == process->version) {
        return engine_accept_refuse(
            accept, PROTO_ERROR_InvalidRequest,
            ENGINE_SAY(accept,
                       "it runs version %u of \"%.*s\" and cannot be moved to version %u of "
                       "\"%.*s\"",
                       process->version, SPAN_ARG(process->id), input->process->version,
                       SPAN_ARG(input->process->id)));
    }
    struct engine_migration migration = migration_of(accept);
    struct span why = SPAN_EMPTY;
    if (engine_migration_check(accept->execution, &migration, accept->output->arena, &why)) {
        return RESULT_OK;
    }
    return accept->output->arena->overflowed
               ? RESULT_LIMIT
               : engine_accept_refuse(accept, PROTO_ERROR_InvalidRequest, why);
}

/* A join that waited for more flows than it has now is complete. */
static enum result fire_joins(struct engine_accept *accept)
{
    enum result result = RESULT_OK;
    bool found = true;
    while (result == RESULT_OK && found) {
        struct engine_decision decision;
        engine_decision_begin(&decision, accept->execution, accept->output);
        found = engine_join_fire_complete(&decision);
        result = engine_commit(accept->execution, &decision);
    }
    return result;
}

enum result engine_accept_migrate(struct engine_accept *accept)
{
    struct engine_decision decision;
    const struct engine_input *input = accept->input;
    uint32_t old_version = accept->execution->process->version;
    engine_decision_begin(&decision, accept->execution, accept->output);
    struct engine_event *event = engine_emit(&decision, ENGINE_EVENT_MIGRATED);
    event->count = input->process->version;
    event->value = arena_copy(decision.arena, input->mapping);
    engine_emit_log(&decision, ENGINE_LEVEL_INFO, NULL,
                    ENGINE_TEXT(&decision, "migrated from version %u to version %u", old_version,
                                input->process->version));
    enum result result = engine_commit(accept->execution, &decision);
    result = result == RESULT_OK ? fire_joins(accept) : result;
    return result == RESULT_OK ? engine_tell_audit(accept->execution, "migrated", 0, accept->output)
                               : result;
}
