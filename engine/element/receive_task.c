/*
 * receive_task.c: waits for what comes from outside; without a module, for a callback.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/task.h"
#include "engine/wait.h"

static void wait_for_callback(struct engine_decision *decision, const struct engine_visit *visit,
                              struct span local)
{
    (void)local;
    engine_wait_open(decision, visit, ENGINE_WAIT_CALLBACK, SPAN_EMPTY, ENGINE_NO_DUE);
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_task_work(decision, visit, wait_for_callback, NULL);
}

const struct engine_element_ops engine_element_receive_task = {
    .name = "receiveTask",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
