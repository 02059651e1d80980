/*
 * receive_task.c: waits for its message; without one and without a module, for a callback.
 */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/listen.h"
#include "engine/task.h"
#include "engine/wait.h"

static void wait(struct engine_decision *decision, const struct engine_visit *visit,
                 struct span local)
{
    if (visit->node->message_name.count > 0) {
        engine_listen_wait(decision, visit, local);
        return;
    }
    engine_wait_open(decision, visit, ENGINE_WAIT_CALLBACK, SPAN_EMPTY, ENGINE_NO_DUE);
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (engine_listen_came(visit)) {
        engine_listen_finish(decision, visit);
    } else {
        engine_task_work(decision, visit, wait, NULL);
    }
}

const struct engine_element_ops engine_element_receive_task = {
    .name = "receiveTask",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_answer_task,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_call_cancel,
};
