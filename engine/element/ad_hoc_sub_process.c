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
    struct engine_indexes active;
    if (visit->node->active == NULL) {
        engine_work_sub_process(decision, visit);
    } else if (engine_activity_begin(decision, visit, &local) &&
               engine_ad_hoc_active(decision, visit, local, &active)) {
        if (active.count == 0) {
            engine_work_pass(decision, visit);
        } else {
            engine_scope_open_at(decision, visit, NULL, active, local);
        }
    }
}

const struct engine_element_ops engine_element_ad_hoc_sub_process = {
    .name = "adHocSubProcess",
    .arrive = engine_join_arrive_activity,
    .work = work,
    .answer = engine_never,
    .back = engine_back_sub_process,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
