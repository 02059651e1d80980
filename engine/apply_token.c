/*
 * apply_token.c: events of tokens: made, moved, joined, gone.
 */
#include "engine/apply_part.h"

#include "engine/encode.h"
#include "engine/pack.h"
#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

/* ---- moving ---- */

enum result engine_apply_token_created(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(engine_part_node_is_in(scope, event->node) && event->token >= execution->token_next);
    REQUIRE(event->flow == ENGINE_NONE || event->flow < scope->process->flow_count);
    struct engine_token *token = engine_token_make(execution, event->token, scope, false);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    token->node = event->node;
    token->flow = event->flow;
    token->guard = event->flags != 0;
    scope->live -= token->guard;
    scope->begun = event->count > 0 ? event->count : scope->begun;
    const struct engine_token *parent = engine_token_find(execution, event->other);
    if (parent != NULL) {
        token->path = parent->path;
        token->segment = parent->segment;
        token->output = parent->output;
    }
    if (event->value.count > 0) {
        token->output = engine_part_keep(execution, event->value);
    }
    return RESULT_OK;
}

static void add_step(struct engine_execution *execution, const struct engine_token *token,
                     const struct engine_scope *scope)
{
    const struct engine_node *node = &scope->process->nodes[token->node];
    struct span flow =
        token->flow == ENGINE_NONE ? SPAN_EMPTY : scope->process->flows[token->flow].id;
    size_t bytes = 112 + node->id.count + scope->process->id.count + flow.count;
    uint8_t *room = engine_history_room(&execution->steps, &execution->memory, bytes);
    if (room == NULL) {
        return;
    }
    struct wire_writer writer = {.arena = &execution->memory, .bytes = room, .capacity = bytes};
    bool called = engine_scope_of_process(execution, scope)->slot.id != ENGINE_SCOPE_ROOT;
    wire_write_map(&writer, 4u + called + (flow.count > 0));
    ENGINE_PACK_UINT(&writer, "sequence", token->sequence);
    ENGINE_PACK_STRING(&writer, "taskId", node->id);
    ENGINE_PACK_STRING(&writer, "at", span_of(execution->now_text.text, TEXT_TIME_BYTES));
    ENGINE_PACK_UINT(&writer, "token", token->slot.id);
    if (called) {
        ENGINE_PACK_STRING(&writer, "process", scope->process->id);
    }
    if (flow.count > 0) {
        ENGINE_PACK_STRING(&writer, "flow", flow);
    }
    ASSERT(writer.bytes == room);
    engine_history_add(&execution->steps, writer.count);
    execution->step_last_bytes = writer.count;
    while (execution->steps.count > LIMIT_HISTORY) {
        (void)engine_history_drop(&execution->steps);
    }
}

/* What one step went through means nothing to the next. */
static void reset_work(struct engine_token *token)
{
    token->attempts = 0;
    token->attempts_before = 0;
    token->retries = 0;
    token->callbacks = 0;
    token->call = 0;
    token->phase = ENGINE_PHASE_EXECUTE;
    token->shown = false;
    token->armed = false;
    token->called_ms = 0;
    token->answered_ms = 0;
    token->gave_output = false;
}

enum result engine_apply_entered(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && event->count == execution->sequence + 1);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_ENTERED, ENGINE_WAIT_NONE));
    execution->sequence = event->count;
    execution->task_completed = false;
    token->sequence = event->count;
    token->path = token->segment == execution->segment ? token->path + 1 : 1;
    token->segment = execution->segment;
    reset_work(token);
    add_step(execution, token, engine_scope_find(execution, token->scope));
    return execution->memory.overflowed ? RESULT_LIMIT : RESULT_OK;
}

enum result engine_apply_listened(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && token->guard);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_LISTENED, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

enum result engine_apply_locals_set(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    token->local = engine_part_keep(execution, event->value);
    return RESULT_OK;
}

enum result engine_apply_completed(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_COMPLETED));
    bool waited = token->state == ENGINE_TOKEN_WAITING;
    engine_part_forget_due(execution, token->due_ms);
    engine_part_stop_listening(execution, token, false);
    bool moved =
        engine_token_transition(execution, token, ENGINE_EVENT_COMPLETED, ENGINE_WAIT_NONE);
    ASSERT(moved);
    engine_part_note_block(execution, token, ENGINE_BLOCK_COMPLETED);
    token->due_ms = ENGINE_NO_DUE;
    if (token->instance == 0) { /* the output collection still looks at it */
        token->local = SPAN_EMPTY;
    }
    token->detail = SPAN_EMPTY;
    token->answer = (struct engine_answer){0};
    token->child = 0;
    execution->task_completed = execution->task_completed || event->flags != 0;
    token->callback = SPAN_EMPTY;
    engine_part_settle_error(execution);
    if (waited) {
        engine_part_resume_segment(execution);
    }
    return RESULT_OK;
}

enum result engine_apply_left(struct engine_execution *execution, const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL &&
            engine_part_node_is_in(engine_scope_find(execution, token->scope), event->node));
    REQUIRE(event->flow < engine_scope_find(execution, token->scope)->process->flow_count);
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_LEFT, ENGINE_WAIT_NONE));
    token->flow = event->flow;
    token->node = event->node;
    token->own = SPAN_EMPTY;
    reset_work(token);
    return RESULT_OK;
}

enum result engine_apply_linked(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL &&
            engine_part_node_is_in(engine_scope_find(execution, token->scope), event->node));
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_LINKED, ENGINE_WAIT_NONE));
    token->flow = ENGINE_NONE;
    token->node = event->node;
    token->own = SPAN_EMPTY;
    reset_work(token);
    return RESULT_OK;
}

enum result engine_apply_consumed(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_CONSUMED));
    engine_part_stop_listening(execution, token, false);
    engine_scope_find(execution, token->scope)->live--;
    REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_CONSUMED, ENGINE_WAIT_NONE));
    return RESULT_OK;
}

enum result engine_apply_cancelled(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL);
    engine_part_close_child(execution, token);
    engine_part_drop_token(execution, token);
    return RESULT_OK;
}

/* ---- joins ---- */

static struct engine_join_tokens *join_on(struct engine_execution *execution,
                                          struct engine_scope *scope, uint32_t flow)
{
    struct engine_join_tokens *join = engine_join_find(execution, scope, flow);
    if (join != NULL) {
        return join;
    }
    return engine_part_add_join(execution, scope, flow);
}

/* engine.md 3: a join's path length is the largest of the merged tokens'. */
static void lengthen(struct engine_execution *execution, uint32_t *path, uint32_t *segment,
                     uint32_t by_path, uint32_t by_segment)
{
    uint32_t mine = *segment == execution->segment ? *path : 0;
    uint32_t theirs = by_segment == execution->segment ? by_path : 0;
    *path = mine > theirs ? mine : theirs;
    *segment = execution->segment;
}

enum result engine_apply_joined(struct engine_execution *execution,
                                const struct engine_event *event)
{
    struct engine_token *token = engine_token_find(execution, event->token);
    REQUIRE(token != NULL && engine_token_may(token, ENGINE_EVENT_JOINED) &&
            token->flow != ENGINE_NONE);
    struct engine_scope *scope = engine_scope_find(execution, token->scope);
    REQUIRE(token->flow < scope->process->flow_count);
    struct engine_join_tokens *join = join_on(execution, scope, token->flow);
    if (join == NULL) {
        return RESULT_LIMIT;
    }
    join->count++; /* scope->live stays: the token still lives there */
    /* Stored bytes do not tell nil from nothing here, and must give the same again. */
    join->output = wire_is(token->output, WIRE_NIL) ? SPAN_EMPTY : token->output;
    lengthen(execution, &join->path, &join->segment, token->path, token->segment);
    bool moved = engine_token_transition(execution, token, ENGINE_EVENT_JOINED, ENGINE_WAIT_NONE);
    ASSERT(moved);
    return RESULT_OK;
}

static void take_joined(struct engine_execution *execution, struct engine_scope *scope,
                        struct engine_join_tokens *join, struct engine_token *token,
                        enum engine_join_phase phase)
{
    if (join->count > 0 && !join->taken) {
        lengthen(execution, &token->path, &token->segment, join->path, join->segment);
        token->output = join->output;
        scope->live--;
        join->count--;
    }
    join->taken = phase == ENGINE_JOIN_START;
    if (join->count == 0 && !join->taken) {
        engine_part_drop_join(execution, scope, join);
    }
}

/* Up to so many of the flow's tokens; how many is the answer. */
static uint32_t take_gathered(struct engine_execution *execution, struct engine_scope *scope,
                              struct engine_join_tokens *join, struct engine_token *token,
                              uint32_t wanted)
{
    uint32_t taken = join->count < wanted ? join->count : wanted;
    if (taken > 0) {
        lengthen(execution, &token->path, &token->segment, join->path, join->segment);
        token->output = join->output;
        scope->live -= taken;
        join->count -= taken;
    }
    if (join->count == 0) {
        engine_part_drop_join(execution, scope, join);
    }
    return taken;
}

/* BPMN 2.0.2 §13.4.1: exactly one token per incoming flow is consumed; surplus tokens stay on
 * theirs. */
enum result engine_apply_join_fired(struct engine_execution *execution,
                                    const struct engine_event *event)
{
    struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(engine_part_node_is_in(scope, event->node) && event->token >= execution->token_next);
    REQUIRE(event->flags < ENGINE_JOIN_PHASE_COUNT);
    const struct engine_node *node = &scope->process->nodes[event->node];
    struct engine_indexes incoming = node->incoming;
    uint32_t wanted = event->flags == ENGINE_JOIN_GATHERED ? node->start_quantity : 0;
    struct engine_token *token = engine_token_make(execution, event->token, scope, true);
    if (token == NULL) {
        return RESULT_LIMIT;
    }
    execution->token_next = event->token + 1;
    token->node = event->node;
    token->segment = execution->segment;
    token->own = engine_part_keep(execution, event->value);
    for (uint32_t i = 0; i < incoming.count; i++) {
        struct engine_join_tokens *join = engine_join_find(execution, scope, incoming.at[i]);
        if (join == NULL) {
            continue; /* an inclusive join fires without all of them */
        }
        if (event->flags == ENGINE_JOIN_GATHERED) {
            wanted -= take_gathered(execution, scope, join, token, wanted);
            continue;
        }
        take_joined(execution, scope, join, token, (enum engine_join_phase)event->flags);
    }
    return RESULT_OK;
}
