/*
 * apply.c: the table of events; see event.def for their fields and apply.h for the rules.
 */
#include "engine/apply.h"

#include "engine/apply_part.h"
#include "proto/base/assert.h"

static const engine_apply_fn apply_table[ENGINE_EVENT_TYPE_COUNT] = {
    [ENGINE_EVENT_CREATED] = engine_apply_created,
    [ENGINE_EVENT_CLOCK] = engine_apply_clock,
    [ENGINE_EVENT_STARTED] = engine_apply_started,
    [ENGINE_EVENT_TOKEN_CREATED] = engine_apply_token_created,
    [ENGINE_EVENT_ENTERED] = engine_apply_entered,
    [ENGINE_EVENT_LOCALS_SET] = engine_apply_locals_set,
    [ENGINE_EVENT_COMPLETED] = engine_apply_completed,
    [ENGINE_EVENT_LEFT] = engine_apply_left,
    [ENGINE_EVENT_CONSUMED] = engine_apply_consumed,
    [ENGINE_EVENT_CANCELLED] = engine_apply_cancelled,
    [ENGINE_EVENT_JOINED] = engine_apply_joined,
    [ENGINE_EVENT_JOIN_FIRED] = engine_apply_join_fired,
    [ENGINE_EVENT_CALLED] = engine_apply_called,
    [ENGINE_EVENT_ANSWERED] = engine_apply_answered,
    [ENGINE_EVENT_REPLY_MERGED] = engine_apply_reply_merged,
    [ENGINE_EVENT_MERGED] = engine_apply_merged,
    [ENGINE_EVENT_OUTPUT_SET] = engine_apply_output_set,
    [ENGINE_EVENT_WAITED] = engine_apply_waited,
    [ENGINE_EVENT_WOKEN] = engine_apply_woken,
    [ENGINE_EVENT_TIMED_OUT] = engine_apply_timed_out,
    [ENGINE_EVENT_CALLBACK] = engine_apply_callback,
    [ENGINE_EVENT_CALLBACK_KEPT] = engine_apply_callback_kept,
    [ENGINE_EVENT_TIMER_ARMED] = engine_apply_timer_armed,
    [ENGINE_EVENT_TIMER_FIRED] = engine_apply_timer_fired,
    [ENGINE_EVENT_SCOPE_OPENED] = engine_apply_scope_opened,
    [ENGINE_EVENT_SCOPE_SPENT] = engine_apply_scope_spent,
    [ENGINE_EVENT_SCOPE_CLOSED] = engine_apply_scope_closed,
    [ENGINE_EVENT_SCOPE_CLEARED] = engine_apply_scope_cleared,
    [ENGINE_EVENT_MODULE_MISSED] = engine_apply_module_missed,
    [ENGINE_EVENT_FAILED] = engine_apply_failed,
    [ENGINE_EVENT_ENDED] = engine_apply_ended,
    [ENGINE_EVENT_LOGGED] = engine_apply_logged,
    [ENGINE_EVENT_AUDITED] = engine_apply_audited,
    [ENGINE_EVENT_SEGMENT_ENDED] = engine_apply_segment_ended,
    [ENGINE_EVENT_SUSPENDED] = engine_apply_suspended,
    [ENGINE_EVENT_RESUMED] = engine_apply_resumed,
    [ENGINE_EVENT_RETRIED] = engine_apply_retried,
    [ENGINE_EVENT_ATTEMPT_FAILED] = engine_apply_attempt_failed,
    [ENGINE_EVENT_LINKED] = engine_apply_linked,
    [ENGINE_EVENT_INSTANCE_CREATED] = engine_apply_instance_created,
    [ENGINE_EVENT_INSTANCE_DONE] = engine_apply_instance_done,
    [ENGINE_EVENT_LISTENED] = engine_apply_listened,
    [ENGINE_EVENT_SCOPE_INTERRUPTED] = engine_apply_scope_interrupted,
    [ENGINE_EVENT_RECORDED] = engine_apply_recorded,
    [ENGINE_EVENT_COMPENSATED] = engine_apply_compensated,
    [ENGINE_EVENT_SUBSCRIBED] = engine_apply_subscribed,
    [ENGINE_EVENT_TURNED] = engine_apply_turned,
    [ENGINE_EVENT_CAUGHT] = engine_apply_caught,
    [ENGINE_EVENT_PUBLISHED] = engine_apply_published,
    [ENGINE_EVENT_MIGRATED] = engine_apply_migrated,
    [ENGINE_EVENT_IMPORTED] = engine_apply_imported,
    [ENGINE_EVENT_HEARD] = engine_apply_heard,
};

enum result engine_apply(struct engine_execution *execution, const struct engine_event *event)
{
    ASSERT(execution->magic == ENGINE_EXECUTION_MAGIC);
    REQUIRE(event->type > ENGINE_EVENT_NONE && event->type < ENGINE_EVENT_TYPE_COUNT);
    ASSERT(apply_table[event->type] != NULL);
    enum result result = apply_table[event->type](execution, event);
    if (result != RESULT_OK) {
        return result;
    }
    execution->event_sequence++;
    return execution->memory.overflowed ? RESULT_LIMIT : RESULT_OK;
}
