/*
 * apply_run.c: events of the run as a whole: its begin and end, its failure, what is said of it,
 * operator verbs.
 */
#include "engine/apply_part.h"

#include "engine/payload.h"
#include "engine/token.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* ---- life ---- */

enum result engine_apply_created(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    (void)event; /* engine_new, or engine_replay from this event's value, did it */
    REQUIRE(execution->run == 0 && execution->event_sequence == 0);
    return RESULT_OK;
}

enum result engine_apply_clock(struct engine_execution *execution, const struct engine_event *event)
{
    REQUIRE(event->at_ms >= execution->now_ms);
    engine_execution_set_now(execution, event->at_ms);
    return RESULT_OK;
}

/* Every run begins from nothing but what the caller gave; revisions, logs, token and call numbers
 * go on. */
enum result engine_apply_started(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(event->count == execution->run + 1);
    struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    if (root != NULL) {
        engine_part_clear_scope(execution, root);
        engine_part_drop_scope(execution, root);
    }
    ASSERT(execution->token_count == 0 && execution->call_count == 0);
    execution->run = event->count;
    execution->end = ENGINE_END_NONE;
    execution->suspended = false;
    execution->module_missing = false;
    execution->task_completed = false;
    engine_execution_set_started(execution, execution->now_ms);
    execution->ended_ms = 0;
    execution->sequence = 0;
    execution->scope_next = ENGINE_SCOPE_ROOT;
    execution->request = execution->first_request;
    execution->context = execution->first_context;
    execution->response = SPAN_EMPTY;
    execution->module = SPAN_EMPTY;
    execution->resume = SPAN_EMPTY;
    execution->output = SPAN_EMPTY;
    execution->conversations = SPAN_EMPTY;
    execution->inbox_count = 0;
    engine_history_clear(&execution->steps);
    execution->step_last_bytes = 0;
    execution->step_id_sequence = 0;
    engine_part_clear_error(execution);
    root = engine_part_open_scope(execution, ENGINE_SCOPE_ROOT, ENGINE_SCOPE_PROCESS,
                                  execution->process);
    if (root == NULL) {
        return RESULT_LIMIT;
    }
    root->variables = execution->first_execution;
    engine_part_open_segment(execution);
    return RESULT_OK;
}

enum result engine_apply_imported(struct engine_execution *execution,
                                  const struct engine_event *event)
{
    struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct wire_map_walk walk = wire_array_begin(event->value);
    struct span entry;
    REQUIRE(root != NULL && execution->sequence == 0 && wire_is(event->value, WIRE_ARRAY));
    while (wire_array_next(&walk, &entry)) {
        int64_t node = wire_int_or(entry, -1);
        REQUIRE(node >= 0 && node < root->process->node_count);
        if (root->blocks != NULL) {
            root->blocks[node] = ENGINE_BLOCK_COMPLETED;
        }
    }
    return RESULT_OK;
}

enum result engine_apply_ended(struct engine_execution *execution, const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_NONE);
    REQUIRE(event->flags > ENGINE_END_NONE && event->flags <= ENGINE_END_ABORTED);
    execution->end = (uint8_t)event->flags;
    execution->ended_ms = execution->now_ms;
    execution->suspended = false;
    execution->inbox_count = 0;
    if (event->flags == ENGINE_END_ABORTED) {
        execution->error_code = engine_part_keep(execution, event->text);
        execution->error_message = engine_part_keep(execution, wire_string_or(event->value, ""));
        execution->error_task = SPAN_EMPTY;
        engine_part_open_segment(execution);
    }
    return RESULT_OK;
}

enum result engine_apply_segment_ended(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    (void)event;
    REQUIRE(execution->segment_open);
    execution->segment_open = false;
    execution->resumed_untold = false;
    execution->waiting_since_ms = execution->end == ENGINE_END_NONE ? execution->now_ms : 0;
    return RESULT_OK;
}

enum result engine_apply_audited(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(event->count == execution->revision + 1);
    execution->revision = event->count;
    execution->log_shipped = execution->log_last;
    execution->log_unshipped_bytes = 0;
    execution->resumed_untold = false;
    engine_payload_trim_logs(execution);
    return RESULT_OK;
}

/* ---- what goes wrong, and what is said ---- */

static const char *const level_names[ENGINE_LEVEL_COUNT] = {
    [ENGINE_LEVEL_INFO] = "INFO", [ENGINE_LEVEL_WARN] = "WARN", [ENGINE_LEVEL_ERROR] = "ERROR"};

enum result engine_apply_logged(struct engine_execution *execution,
                                const struct engine_event *event)
{
    REQUIRE(event->flags < ENGINE_LEVEL_COUNT);
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    const struct engine_node *node =
        engine_part_node_is_in(scope, event->node) ? &scope->process->nodes[event->node] : NULL;
    engine_payload_log(execution, span_text(level_names[event->flags]), event->text, event->value,
                       node);
    return RESULT_OK;
}

enum result engine_apply_module_missed(struct engine_execution *execution,
                                       const struct engine_event *event)
{
    const struct engine_scope *scope = engine_scope_find(execution, event->scope);
    REQUIRE(engine_part_node_is_in(scope, event->node));
    execution->module_missing = true;
    execution->error_code = engine_part_keep(execution, span_text("ModuleNotFound"));
    execution->error_message = engine_part_keep(execution, event->text);
    execution->error_task = engine_part_keep(execution, scope->process->nodes[event->node].id);
    return RESULT_OK;
}

enum result engine_apply_failed(struct engine_execution *execution,
                                const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_NONE);
    struct engine_token *token = engine_token_find(execution, event->token);
    const struct engine_node *node = NULL;
    struct span message = wire_string_or(event->value, "");
    if (event->token != 0) {
        REQUIRE(token != NULL && event->count > ENGINE_TOKEN_GONE &&
                event->count <= ENGINE_TOKEN_LEAVING);
        node = engine_token_node(execution, token);
        REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_FAILED, ENGINE_WAIT_NONE));
        token->resume = (uint8_t)event->count;
    }
    execution->end = ENGINE_END_FAILED;
    execution->ended_ms = execution->now_ms;
    execution->error_code = engine_part_keep(execution, event->text);
    execution->error_message = engine_part_keep(execution, message);
    execution->error_task = node == NULL ? SPAN_EMPTY : engine_part_keep(execution, node->id);
    engine_payload_log(execution, span_text("ERROR"), message, SPAN_EMPTY, node);
    return RESULT_OK;
}

enum result engine_apply_suspended(struct engine_execution *execution,
                                   const struct engine_event *event)
{
    (void)event;
    REQUIRE(!engine_execution_frozen(execution));
    execution->suspended = true;
    engine_part_open_segment(execution);
    return RESULT_OK;
}

enum result engine_apply_resumed(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    (void)event;
    REQUIRE(execution->suspended);
    execution->suspended = false;
    engine_part_open_segment(execution);
    return RESULT_OK;
}

enum result engine_apply_retried(struct engine_execution *execution,
                                 const struct engine_event *event)
{
    REQUIRE(execution->end == ENGINE_END_FAILED);
    struct engine_token *token = engine_token_find(execution, event->token);
    if (event->token != 0) {
        REQUIRE(token != NULL);
        REQUIRE(engine_token_transition(execution, token, ENGINE_EVENT_RETRIED, ENGINE_WAIT_NONE));
        token->retries++;
        token->attempts_before = token->attempts;
    }
    execution->end = ENGINE_END_NONE;
    execution->ended_ms = 0;
    engine_part_clear_error(execution);
    engine_part_open_segment(execution);
    return RESULT_OK;
}
