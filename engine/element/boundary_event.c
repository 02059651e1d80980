/*
 * boundary_event.c: a token stands here only when the event has fired (listen.c, failure.c); from
 * here on it is like any event.
 */
#include "engine/element/element.h"
#include "engine/listen.h"

const struct engine_element_ops engine_element_boundary_event = {
    .name = "boundaryEvent",
    .arrive = engine_arrive_enter,
    .work = engine_listen_finish,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
