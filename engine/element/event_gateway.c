/*
 * event_gateway.c: the token waits in the gateway for all events behind it; the first takes its way
 * (traps.md 6). A parallel one, which starts a process, waits for each of them.
 */
#include "engine/element/element.h"
#include "engine/flow.h"
#include "engine/listen.h"
#include "engine/wait.h"

static void wait_for_first(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_process *process = visit->scope->process;
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    for (uint32_t i = 0; i < visit->node->outgoing.count; i++) {
        const struct engine_node *event =
            &process->nodes[process->flows[visit->node->outgoing.at[i]].target];
        bool met;
        if (!engine_listen_arm(decision, visit, event, &scene, &met)) {
            return;
        }
        if (met) {
            const struct engine_news news = {.node = event->index};
            engine_decision_step(decision, visit->token, false);
            engine_listen_happen(decision, visit->token, &news);
            return;
        }
    }
    engine_wait_open(decision, visit, ENGINE_WAIT_EVENT, SPAN_EMPTY, ENGINE_NO_DUE);
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->node->exclusive_type && visit->node->outgoing.count > 0) {
        wait_for_first(decision, visit);
    } else {
        engine_work_pass(decision, visit);
    }
}

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_choice choice;
    if (engine_flow_choose_all(decision, visit, &choice)) {
        engine_flow_take(decision, visit, &choice);
    }
}

const struct engine_element_ops engine_element_event_gateway = {
    .name = "eventBasedGateway",
    .arrive = engine_arrive_enter,
    .work = work,
    .answer = engine_never,
    .back = engine_never,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
