/*
 * transaction.c: a sub-process that a cancel end event can undo (compensation.c).
 */
#include "engine/element/element.h"
#include "engine/join.h"

const struct engine_element_ops engine_element_transaction = {
    .name = "transaction",
    .arrive = engine_join_arrive_activity,
    .work = engine_work_sub_process,
    .answer = engine_never,
    .back = engine_back_sub_process,
    .leave = engine_leave_activity,
    .cancel = engine_cancel_nothing,
};
