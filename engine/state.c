/*
 * state.c: see state.h.
 */
#include "engine/state.h"

#include "proto/base/assert.h"

bool engine_state_is_waiting(const struct engine_execution *execution)
{
    bool idle = execution->ready.count == 0 && execution->call_count == 0;
    return execution->run > 0 && execution->end == ENGINE_END_NONE &&
           (idle || !execution->segment_open);
}

static uint8_t state_of_end(const struct engine_execution *execution)
{
    switch ((enum engine_end)execution->end) {
    case ENGINE_END_COMPLETED:
        return ENGINE_STATE_STOPPED | ENGINE_STATE_COMPLETED |
               (execution->module_missing ? ENGINE_STATE_EXCEPTION : 0);
    case ENGINE_END_FAILED:
        return ENGINE_STATE_STOPPED | ENGINE_STATE_EXCEPTION;
    case ENGINE_END_ABORTED:
        return ENGINE_STATE_STOPPED;
    case ENGINE_END_NONE:
        break;
    }
    return 0;
}

uint8_t engine_state_of(const struct engine_execution *execution)
{
    if (execution->end != ENGINE_END_NONE || execution->run == 0) {
        return state_of_end(execution);
    }
    unsigned state = ENGINE_STATE_RUNNING;
    bool waiting = engine_state_is_waiting(execution);
    state |= execution->call_count > 0 ? ENGINE_STATE_WAITING_TASK : 0;
    state |= execution->module_missing ? ENGINE_STATE_EXCEPTION : 0;
    state |= waiting ? ENGINE_STATE_WAITING_TASK_CALLBACK : 0;
    state |= execution->task_completed && !waiting ? ENGINE_STATE_TASK_COMPLETED : 0;
    return (uint8_t)state;
}

/* engine.md 2: an operator's suspend beats a human task beats any other wait. */
enum engine_lifecycle engine_lifecycle_of(const struct engine_execution *execution)
{
    if (execution->end != ENGINE_END_NONE) {
        return execution->end == ENGINE_END_COMPLETED ? ENGINE_COMPLETED : ENGINE_FAILED;
    }
    if (execution->run == 0) {
        return ENGINE_PENDING;
    }
    if (execution->suspended) {
        return ENGINE_SUSPENDED;
    }
    if (!engine_state_is_waiting(execution)) {
        return ENGINE_RUNNING;
    }
    return execution->wait_counts[ENGINE_WAIT_HUMAN] > 0 ? ENGINE_WAITING_FOR_HUMAN
                                                         : ENGINE_SUSPENDED;
}

struct span engine_state_error(const struct engine_execution *execution)
{
    if (execution->error_code.count == 0 && execution->module_missing) {
        return span_text("ModuleNotFound");
    }
    return execution->error_code;
}

/* Seed 000's priorities. */
const char *engine_status_name(uint8_t state)
{
    if ((state & ENGINE_STATE_EXCEPTION) != 0) {
        return "Error";
    }
    if ((state & ENGINE_STATE_STOPPED) != 0) {
        return (state & ENGINE_STATE_COMPLETED) != 0 ? "Completed" : "Stopped";
    }
    if ((state & (ENGINE_STATE_WAITING_TASK_CALLBACK | ENGINE_STATE_WAITING_TASK)) != 0) {
        return "Waiting";
    }
    return (state & ENGINE_STATE_RUNNING) != 0 ? "Running" : "Unknown";
}

const char *engine_lifecycle_name(enum engine_lifecycle lifecycle)
{
    static const char *const names[ENGINE_LIFECYCLE_COUNT] = {
        [ENGINE_PENDING] = "Pending",     [ENGINE_RUNNING] = "Running",
        [ENGINE_SUSPENDED] = "Suspended", [ENGINE_WAITING_FOR_HUMAN] = "WaitingForHuman",
        [ENGINE_COMPLETED] = "Completed", [ENGINE_FAILED] = "Failed",
    };
    ASSERT(lifecycle < ENGINE_LIFECYCLE_COUNT);
    return names[lifecycle];
}

/* ---- verbs: [lifecycle][verb]; what is left out is InvalidTransition ---- */

static const bool verb_table[ENGINE_LIFECYCLE_COUNT][ENGINE_IN_COUNT] = {
    [ENGINE_PENDING] = {[ENGINE_IN_ABORT] = true},
    [ENGINE_RUNNING] =
        {[ENGINE_IN_SUSPEND] = true, [ENGINE_IN_ABORT] = true, [ENGINE_IN_MIGRATE] = true},
    [ENGINE_SUSPENDED] = {[ENGINE_IN_SUSPEND] = true,
                          [ENGINE_IN_RESUME] = true,
                          [ENGINE_IN_ABORT] = true,
                          [ENGINE_IN_MIGRATE] = true},
    [ENGINE_WAITING_FOR_HUMAN] =
        {[ENGINE_IN_SUSPEND] = true, [ENGINE_IN_ABORT] = true, [ENGINE_IN_MIGRATE] = true},
    [ENGINE_COMPLETED] = {[ENGINE_IN_RESTART] = true},
    [ENGINE_FAILED] =
        {[ENGINE_IN_RESTART] = true, [ENGINE_IN_RETRY] = true, [ENGINE_IN_MIGRATE] = true},
};

bool engine_state_allows(const struct engine_execution *execution, enum engine_input_kind verb)
{
    ASSERT(verb < ENGINE_IN_COUNT);
    if (!verb_table[engine_lifecycle_of(execution)][verb]) {
        return false;
    }
    /* Suspended is the lifecycle of a timer's wait too: what an operator suspended is told from it
     * by the flag. */
    switch (verb) {
    case ENGINE_IN_SUSPEND:
        return !execution->suspended;
    case ENGINE_IN_RESUME:
        return execution->suspended;
    case ENGINE_IN_RETRY:
        return execution->end == ENGINE_END_FAILED;
    case ENGINE_IN_MIGRATE: /* what was aborted has nothing left to move */
        return execution->end != ENGINE_END_ABORTED;
    case ENGINE_IN_START:
    case ENGINE_IN_CALL_DONE:
    case ENGINE_IN_CALLBACK:
    case ENGINE_IN_TIMER:
    case ENGINE_IN_MESSAGE:
    case ENGINE_IN_SIGNAL:
    case ENGINE_IN_ABORT:
    case ENGINE_IN_RESTART:
    case ENGINE_IN_IMPORT:
    case ENGINE_IN_COUNT:
        break;
    }
    return true;
}

const char *engine_verb_name(enum engine_input_kind verb)
{
    static const char *const names[ENGINE_IN_COUNT] = {
        [ENGINE_IN_START] = "start",       [ENGINE_IN_CALL_DONE] = "call done",
        [ENGINE_IN_CALLBACK] = "callback", [ENGINE_IN_TIMER] = "timer",
        [ENGINE_IN_SUSPEND] = "suspend",   [ENGINE_IN_RESUME] = "resume",
        [ENGINE_IN_ABORT] = "abort",       [ENGINE_IN_RESTART] = "restart",
        [ENGINE_IN_RETRY] = "retry",       [ENGINE_IN_MESSAGE] = "give a message to",
        [ENGINE_IN_SIGNAL] = "signal",     [ENGINE_IN_MIGRATE] = "migrate",
        [ENGINE_IN_IMPORT] = "import",
    };
    ASSERT(verb < ENGINE_IN_COUNT);
    return names[verb];
}

/* ---- the view ---- */

void engine_look(const struct engine_execution *execution, struct engine_view *out)
{
    *out = (struct engine_view){
        .state = engine_state_of(execution),
        .lifecycle = engine_lifecycle_of(execution),
        .run = execution->run,
        .sequence = execution->sequence,
        .revision = execution->revision,
        .event_sequence = execution->event_sequence,
        .ended = execution->end != ENGINE_END_NONE,
        .waiting =
            execution->run > 0 && execution->end == ENGINE_END_NONE && !execution->segment_open,
        .human = execution->end == ENGINE_END_NONE && execution->wait_counts[ENGINE_WAIT_HUMAN] > 0,
        .retrying =
            execution->end == ENGINE_END_NONE && execution->wait_counts[ENGINE_WAIT_RETRY] > 0,
        .call_count = execution->call_count,
        .waiting_since_ms = execution->waiting_since_ms,
        .human_since_ms = execution->human_since_ms,
        .started_ms = execution->started_ms,
        .updated_ms = execution->now_ms,
        .ended_ms = execution->ended_ms,
        .is_test = execution->is_test,
        .id = execution_id_span(&execution->id),
        .workspace = execution->workspace,
        .project = execution->project,
        .process = execution->process->id,
        .channel = execution->channel,
        .channel_session_id = execution->channel_session_id,
        .error_code = engine_state_error(execution),
        .version = execution->process->version,
    };
}

int64_t engine_next_due_ms(const struct engine_execution *execution)
{
    ASSERT(execution->due_known);
    return engine_execution_frozen(execution) ? INT64_MAX : execution->due_ms;
}
