/*
 * boundary_event.c: a token stands here only when the event has fired (timer.c, failure.c); from
 * here on it is like any event.
 */
#include "engine/element/element.h"

const struct engine_element_ops engine_element_boundary_event = {
    .name = "boundaryEvent",
    .arrive = engine_arrive_enter,
    .work = engine_work_pass,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
