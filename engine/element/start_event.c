/*
 * start_event.c: where a token begins. Started by hand, every start event is a plain one, whatever
 * its trigger.
 */
#include "engine/element/element.h"

const struct engine_element_ops engine_element_start_event = {
    .name = "startEvent",
    .arrive = engine_arrive_enter,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
