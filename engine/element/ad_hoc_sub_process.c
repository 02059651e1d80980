/*
 * ad_hoc_sub_process.c: a sub-process without an order of its own (ad_hoc.c).
 */
#include "engine/activity.h"
#include "engine/ad_hoc.h"
#include "engine/element/element.h"
#include "engine/join.h"
#include "engine/scope.h"

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    struct engine_indexes active = visit->node->starts;
    bool is_empty = visit->node->children.count == 0;
    if (!is_empty &&
        (!engine_activity_begin(decision, visit, &local) ||
         (visit->node->active != NULL && !engine_ad_hoc_active(decision, visit, local, &active)))) {
        return;
    }
    if (is_empty || (visit->node->active != NULL && active.count == 0)) {
        engine_ad_hoc_hand_over(decision, visit);
        engine_work_pass(decision, visit);
    } else {
        engine_scope_open_at(decision, visit, NULL, active,
                             engine_ad_hoc_variables(decision, visit, local));
    }
}

static void back(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_ad_hoc_hand_over(decision, visit);
    engine_back_sub_process(decision, visit);
}

const struct engine_element_ops engine_element_ad_hoc_sub_process = {
    .name = "adHocSubProcess",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_never,
    .back = back,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
