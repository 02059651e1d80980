/*
 * block.c: the blocks of a block scheme (engine.md 5). Block, AndBlock and OrBlock are one: when a
 * block is entered is its join rule's affair (model.h), which flows it takes that of its result. A
 * block with a handler calls a module, one without passes on. A FinishBlock ends the process.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/flow.h"
#include "engine/join.h"
#include "engine/scope.h"
#include "engine/task.h"
#include "proto/base/assert.h"

static void work_handled(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_unserved_miss, NULL);
}

static void work_plain(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, engine_unserved_pass, NULL);
}

/* Itself it has completed; what goes on in other blocks is aborted. */
static void work_finish(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
    engine_scope_terminate(decision, visit);
}

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_result(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

static const struct engine_element_ops handled_block = {
    .name = "block with a handler",
    .arrive = engine_join_arrive_block,
    .work = work_handled,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_call_cancel,
};

static const struct engine_element_ops plain_block = {
    .name = "block",
    .arrive = engine_join_arrive_block,
    .work = work_plain,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_call_cancel,
};

static const struct engine_element_ops finish_block = {
    .name = "finish block",
    .arrive = engine_join_arrive_block,
    .work = work_finish,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_never,
    .cancel = engine_cancel_nothing,
};

const struct engine_element_ops *engine_element_block(const struct engine_node *node)
{
    ASSERT(node->join != ENGINE_JOIN_NONE);
    return node->kind == ENGINE_END_EVENT      ? &finish_block
           : node->kind == ENGINE_SERVICE_TASK ? &handled_block
                                               : &plain_block;
}
