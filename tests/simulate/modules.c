/*
 * modules.c: see modules.h.
 */
#include "tests/simulate/modules.h"

#include "engine/execution.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "tests/simulate/clients.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/model.h"
#include "tests/simulate/tap.h"

enum {
    KEYS_MAX = 2048,
    TROUBLES_MAX = 2, /* of one piece of work: the third attempt is the last one */
};

/* A piece of work, by its Idempotency-Key. */
struct work {
    struct span key;
    struct span execution_id;
    struct span node_id;
    uint32_t troubles;
    bool refused; /* it was answered with an error, and always will be under this key */
    bool done;
};

struct sim_modules {
    struct proto_sink sink;
    struct sim *sim;
    struct work works[KEYS_MAX];
    uint32_t work_count;
};

static struct work *work_of(struct sim *sim, const struct proto_call *call)
{
    struct sim_modules *modules = sim->modules;
    struct span node_id = wire_string_or(wire_find_text(call->body, "taskId"), "");
    struct span execution_id = execution_id_span(&call->execution_id);
    for (uint32_t i = 0; i < modules->work_count; i++) {
        struct work *work = &modules->works[i];
        if (span_equal(work->key, call->idempotency_key)) {
            if (!span_equal(work->node_id, node_id) ||
                !span_equal(work->execution_id, execution_id)) {
                sim_fail(sim, "key %.*s is used for %.*s and for %.*s", SPAN_ARG(work->key),
                         SPAN_ARG(work->node_id), SPAN_ARG(node_id));
            }
            return work;
        }
    }
    ASSERT(modules->work_count < KEYS_MAX);
    struct work *work = &modules->works[modules->work_count++];
    *work = (struct work){.key = arena_copy(&sim->arena, call->idempotency_key),
                          .execution_id = arena_copy(&sim->arena, execution_id),
                          .node_id = arena_copy(&sim->arena, node_id)};
    return work;
}

/* ---- the way back ---- */

static void deliver(struct sim *sim, struct proto_message *done, uint64_t value)
{
    (void)sim;
    (void)value;
    message_answer(done->reply_to, done);
}

/* Nobody hears it if the process that called is no more. */
static void answer(struct sim *sim, const struct proto_message *call, uint64_t boot,
                   uint64_t delay_ms, const struct proto_call_done *what)
{
    if (!sim->machine->running || sim->machine->boot != boot) {
        return;
    }
    struct proto_message *done =
        message_new(PROTO_CALL_DONE, what->body.count + what->reason.count);
    ASSERT(done != NULL);
    done->as.call_done = *what;
    done->as.call_done.execution_id = call->as.call.execution_id;
    done->as.call_done.token = call->as.call.token;
    done->as.call_done.attempt = call->as.call.attempt;
    done->as.call_done.body = message_keep(done, what->body);
    done->as.call_done.reason = message_keep(done, what->reason);
    done->reply_to = call->reply_to;
    sim_later(sim, delay_ms, true, deliver, done, 0);
}

/* ---- the work ---- */

/* It fails whatever is asked of it, until an operator has seen to it. */
static bool is_broken(struct sim *sim, const struct work *work)
{
    const struct sim_task *task = sim_model_task(sim->model, work->node_id);
    return task != NULL && task->broken.count > 0 &&
           (work->refused || !sim_clients_have_repaired(sim, work->execution_id));
}

/* True: something went wrong on the way, and was answered. */
static bool went_wrong(struct sim *sim, const struct proto_message *call, uint64_t boot,
                       struct work *work)
{
    if (work->troubles >= TROUBLES_MAX) {
        return false;
    }
    struct proto_call_done what = {.retry_after_ms = -1};
    uint64_t delay_ms = sim_below(&sim->schedule, 2000);
    if (sim_fault(sim, SIM_LOST_CALL, 4)) {
        what.outcome = PROTO_CALL_UNREACHABLE;
        what.reason = span_text("no connection");
    } else if (sim_fault(sim, SIM_BUSY_MODULE, 5)) {
        what.outcome = PROTO_CALL_ANSWERED;
        what.status = 503;
        what.retry_after_ms = sim_chance(&sim->schedule, 30) ? 3000 : -1;
    } else if (sim_fault(sim, SIM_LOST_REPLY, 5)) {
        work->refused = is_broken(sim, work);
        work->done = work->done || !work->refused;
        what.outcome = PROTO_CALL_TIMED_OUT;
        what.reason = span_text("no answer");
        delay_ms = 10000;
    } else {
        return false;
    }
    work->troubles++;
    answer(sim, call, boot, delay_ms, &what);
    return true;
}

static void arrive(struct sim *sim, struct proto_message *call, uint64_t boot)
{
    struct work *work = work_of(sim, &call->as.call);
    struct span phase = wire_string_or(wire_find_text(call->as.call.body, "phase"), "");
    const struct sim_task *task = sim_model_task(sim->model, work->node_id);
    if (task == NULL) {
        sim_fail(sim, "%.*s is called, which no module serves", SPAN_ARG(work->node_id));
    } else if (!went_wrong(sim, call, boot, work)) {
        bool execute = span_is(phase, "execute");
        bool broken = execute && is_broken(sim, work);
        work->refused = broken;
        struct proto_call_done what = {.outcome = PROTO_CALL_ANSWERED,
                                       .status = execute ? task->status : 200,
                                       .retry_after_ms = -1,
                                       .body = broken                       ? task->broken
                                               : execute                    ? task->reply
                                               : span_is(phase, "callback") ? task->told
                                                                            : SPAN_EMPTY};
        uint64_t delay_ms = sim_below(&sim->schedule, 300);
        if (sim_fault(sim, SIM_SLOW_MODULE, 6)) {
            delay_ms = sim_between(&sim->schedule, 1000, 20000);
        }
        work->done = work->done || !broken;
        answer(sim, call, boot, delay_ms, &what);
        if (sim_fault(sim, SIM_DOUBLED_REPLY, 5)) {
            answer(sim, call, boot, delay_ms + sim_below(&sim->schedule, 500), &what);
        }
    }
    message_free(call);
}

static enum result take_call(struct proto_sink *self, struct proto_message **message)
{
    struct sim *sim = ((struct sim_modules *)self)->sim;
    struct proto_message *call = *message;
    *message = NULL;
    if (!sim_machine_effect(sim) || call->type == PROTO_CALL_CANCEL) {
        message_free(call); /* a cancelled call is answered like any other: late */
        return RESULT_OK;
    }
    ASSERT(call->type == PROTO_CALL);
    sim_trace(sim, "    call %.*s token %u number %u", SPAN_ARG(call->as.call.idempotency_key),
              call->as.call.token, call->as.call.attempt);
    sim_tap_call_leaves(sim, &call->as.call);
    sim_later(sim, sim_below(&sim->schedule, 200), false, arrive, call, sim->machine->boot);
    return RESULT_OK;
}

void sim_modules_init(struct sim *sim)
{
    sim->modules = arena_zero(&sim->arena, sizeof *sim->modules);
    ASSERT(sim->modules != NULL);
    sim->modules->sink.send = take_call;
    sim->modules->sim = sim;
}

struct proto_sink *sim_modules_sink(struct sim *sim)
{
    return &sim->modules->sink;
}

/* <stepId>, or <stepId>/r1 after an operator's retry; not /cb/1, /cancel (interfaces.md 3). */
static bool is_of_step(struct span key)
{
    const uint8_t *slash = memchr(key.bytes, '/', key.count);
    return slash == NULL || (slash + 2 < key.bytes + key.count && slash[1] == 'r');
}

/* Of the run that the execution is in? A key begins with its step's id, which is one of the run. */
static bool is_of_run(const struct engine_execution *execution, struct span key)
{
    char step_id[UUID_TEXT_BYTES + 1];
    for (uint32_t i = 1; i <= execution->sequence && execution->run > 1; i++) {
        uuid_format(engine_step_id(execution, i), step_id);
        if (memcmp(key.bytes, step_id, UUID_TEXT_BYTES) == 0) {
            return true;
        }
    }
    return execution->run == 1;
}

uint32_t sim_modules_done(const struct sim *sim, const struct engine_execution *execution,
                          struct span node_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->modules->work_count; i++) {
        const struct work *work = &sim->modules->works[i];
        count += work->done && is_of_step(work->key) &&
                 span_equal(work->execution_id, execution_id_span(&execution->id)) &&
                 span_equal(work->node_id, node_id) && is_of_run(execution, work->key);
    }
    return count;
}
