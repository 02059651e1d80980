/*
 * start_event.c: where a token begins. Started by hand, every start event is a plain one, whatever
 * its trigger.
 */
#include "engine/element/element.h"
#include "engine/listen.h"

const struct engine_element_ops engine_element_start_event = {
    .name = "startEvent",
    .arrive = engine_arrive_enter,
    .work = engine_listen_finish,
    .answer = engine_never,
    .back = engine_never,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
