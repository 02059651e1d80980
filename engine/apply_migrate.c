/*
 * apply_migrate.c: the event of a migration: everything that names a node or a flow of the old
 * version names its counterpart (engine/migration.h). Ids, times, attempts, payloads and history
 * stay as they are.
 */
#include "engine/apply_part.h"

#include "engine/fields.h"
#include "engine/migration.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

static void move_token(struct engine_execution *execution, const struct engine_migration *migration,
                       struct engine_token *token)
{
    token->node = engine_migration_node(migration, token->node);
    token->flow =
        token->flow == ENGINE_NONE ? ENGINE_NONE : engine_migration_flow(migration, token->flow);
    for (ENGINE_EACH(struct engine_timer, timer, &execution->timers, &token->timers,
                     ENGINE_LINK_FIRST)) {
        timer->node = engine_migration_node(migration, timer->node);
    }
    for (ENGINE_EACH(struct engine_subscription, subscription, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        subscription->node = engine_migration_node(migration, subscription->node);
    }
    struct engine_scope *child = engine_scope_find(execution, token->child);
    if (child != NULL) {
        child->node = token->node;
    }
}

/* A block that is no more is forgotten. */
static void move_blocks(struct engine_execution *execution,
                        const struct engine_migration *migration, struct engine_scope *scope)
{
    const uint8_t *old = scope->blocks;
    bool is_scheme = migration->to->notation == ENGINE_NOTATION_SCHEME;
    scope->blocks = is_scheme ? arena_zero(&execution->memory, migration->to->node_count) : NULL;
    for (uint32_t i = 0; old != NULL && scope->blocks != NULL && i < migration->from->node_count;
         i++) {
        uint32_t node = engine_migration_node(migration, i);
        if (node != ENGINE_NONE && old[i] != ENGINE_BLOCK_IDLE) {
            scope->blocks[node] = old[i];
        }
    }
}

static void move_scope(struct engine_execution *execution, const struct engine_migration *migration,
                       struct engine_scope *scope)
{
    for (ENGINE_EACH(struct engine_token, token, &execution->tokens, &scope->tokens,
                     ENGINE_LINK_IN_SCOPE)) {
        move_token(execution, migration, token);
    }
    for (ENGINE_EACH(struct engine_join_tokens, join, &execution->joins, &scope->joins,
                     ENGINE_LINK_FIRST)) {
        uint32_t flow = engine_migration_flow(migration, join->flow);
        engine_part_move_join(execution, scope, join, migration->to, flow);
    }
    for (ENGINE_EACH(struct engine_record, record, &execution->records, &scope->records,
                     ENGINE_LINK_FIRST)) {
        record->node = engine_migration_node(migration, record->node);
        record->handler = engine_migration_node(migration, record->handler);
    }
    if (!engine_scope_is_inner(scope)) {
        move_blocks(execution, migration, scope);
    }
    scope->process = migration->to;
}

/* A task's id, where it is kept as text. */
static struct span moved_id(struct engine_execution *execution,
                            const struct engine_migration *migration, struct span id)
{
    const struct engine_node *old = id.count == 0 ? NULL : engine_process_node(migration->from, id);
    uint32_t node = old == NULL ? ENGINE_NONE : engine_migration_node(migration, old->index);
    return node == ENGINE_NONE ? id : engine_part_keep(execution, migration->to->nodes[node].id);
}

enum result engine_apply_migrated(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_migration migration = {.from = execution->process, .mapping = event->value};
    struct span why;
    REQUIRE(execution->run > 0 && event->count > 0 && engine_fields_is(event->value, WIRE_MAP));
    migration.to = execution->catalog->process(execution->catalog, execution->project,
                                               execution->process->id, event->count);
    if (migration.to == NULL) {
        return RESULT_NOT_FOUND;
    }
    if (!engine_migration_check(execution, &migration, &execution->memory, &why)) {
        return execution->memory.overflowed ? RESULT_LIMIT : RESULT_CORRUPT;
    }
    for (ENGINE_EACH(struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        /* What its parents are is said by their kinds, which stay. */
        if (engine_migration_moves(execution, scope)) {
            move_scope(execution, &migration, scope);
        }
    }
    for (uint32_t i = 0; i < execution->inbox_count; i++) {
        execution->inbox[i].task_id = moved_id(execution, &migration, execution->inbox[i].task_id);
    }
    execution->start_node = moved_id(execution, &migration, execution->start_node);
    engine_execution_set_process(execution, migration.to);
    engine_part_open_segment(execution);
    return RESULT_OK;
}
