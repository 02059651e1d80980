/*
 * ad_hoc_sub_process.c: a sub-process without an order of its own (ad_hoc.c).
 */
#include "engine/element/element.h"

const struct engine_element_ops engine_element_ad_hoc_sub_process = {
    .name = "adHocSubProcess",
    .arrive = engine_arrive_enter,
    .work = engine_work_sub_process,
    .answer = engine_never,
    .back = engine_back_sub_process,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
