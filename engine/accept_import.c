/*
 * accept_import.c: an execution that ran in another engine goes on in this one (engine.md 9). Its
 * tokens are put where virtual execution says (engine/foreign.h); from there on everything is as if
 * it had run here.
 */
#include "engine/accept.h"

#include "engine/activity.h"
#include "engine/apply.h"
#include "engine/element/element.h"
#include "engine/fields.h"
#include "engine/foreign.h"
#include "engine/handler.h"
#include "engine/scope.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

/* Data beside request, context and variables, which a start has too. */
static const struct {
    const char *name;
    enum engine_payload payload;
} payloads[] = {
    {"response", ENGINE_PAYLOAD_RESPONSE},
    {"module", ENGINE_PAYLOAD_MODULE},
    {"nodes", ENGINE_PAYLOAD_NODES},
};
enum { PAYLOAD_COUNT = sizeof payloads / sizeof payloads[0] };

static enum result read_foreign(struct engine_accept *accept, struct engine_foreign *foreign)
{
    struct span why = SPAN_EMPTY;
    if (engine_foreign_read(accept->execution->process, accept->input->foreign,
                            accept->output->arena, foreign, &why)) {
        return RESULT_OK;
    }
    return accept->output->arena->overflowed
               ? RESULT_LIMIT
               : engine_accept_refuse(accept, PROTO_ERROR_InvalidRequest, why);
}

enum result engine_accept_check_import(struct engine_accept *accept)
{
    struct engine_foreign foreign;
    ASSERT(wire_is(accept->input->foreign, WIRE_MAP));
    if (accept->execution->run > 0) {
        return engine_accept_refuse(accept, PROTO_ERROR_AlreadyExists,
                                    span_text("the execution has started already"));
    }
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        struct span value = wire_find_text(accept->input->foreign, payloads[i].name);
        if (value.count > 0 && !wire_is(value, WIRE_NIL) && !wire_is(value, WIRE_MAP)) {
            return engine_accept_refuse(
                accept, PROTO_ERROR_InvalidRequest,
                ENGINE_SAY(accept, "%s must be an object", payloads[i].name));
        }
    }
    return read_foreign(accept, &foreign);
}

static void emit_payloads(struct engine_decision *decision, struct span map)
{
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        struct span value = wire_find_text(map, payloads[i].name);
        if (wire_is(value, WIRE_MAP)) {
            struct engine_event *event = engine_emit(decision, ENGINE_EVENT_MERGED);
            event->scope = ENGINE_SCOPE_ROOT;
            event->flags = payloads[i].payload;
            event->value = arena_copy(decision->arena, value);
        }
    }
}

/* What was completed elsewhere: blocks show it, compensation may undo it. */
static void emit_history(struct engine_decision *decision, const struct engine_foreign *foreign)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, 16 + 5 * (size_t)foreign->order_count);
    wire_write_array(&writer, foreign->order_count);
    for (uint32_t i = 0; i < foreign->order_count; i++) {
        wire_write_uint(&writer, foreign->order[i]);
    }
    engine_emit(decision, ENGINE_EVENT_IMPORTED)->value = wire_writer_span(&writer);
    for (uint32_t i = 0; i < foreign->order_count; i++) {
        const struct engine_node *node = &foreign->process->nodes[foreign->order[i]];
        if (node->compensation != ENGINE_NONE) {
            struct engine_event *event = engine_emit(decision, ENGINE_EVENT_RECORDED);
            event->scope = ENGINE_SCOPE_ROOT;
            event->node = node->index;
            event->other = node->compensation;
        }
    }
    engine_emit_log(decision, ENGINE_LEVEL_INFO, NULL,
                    ENGINE_TEXT(decision, "imported: %u active nodes, %u tokens in joins",
                                foreign->active_count, foreign->waiting_count));
}

static enum result begin(struct engine_accept *accept, const struct engine_foreign *foreign)
{
    struct engine_execution *execution = accept->execution;
    struct engine_decision decision;
    engine_decision_begin(&decision, execution, accept->output);
    engine_emit(&decision, ENGINE_EVENT_STARTED)->count = execution->run + 1;
    enum result result = engine_commit(execution, &decision);
    if (result != RESULT_OK) {
        return result;
    }
    engine_decision_begin(&decision, execution, accept->output);
    emit_history(&decision, foreign);
    emit_payloads(&decision, accept->input->foreign);
    engine_handler_guard(&decision, execution->process, execution->process->handlers,
                         ENGINE_SCOPE_ROOT);
    return engine_commit(execution, &decision);
}

/* A token arrives on a flow and joins, as it did elsewhere. */
static enum result fill_joins(struct engine_accept *accept, const struct engine_foreign *foreign)
{
    struct engine_execution *execution = accept->execution;
    enum result result = RESULT_OK;
    for (uint32_t flow = 0; flow < foreign->process->flow_count; flow++) {
        for (uint32_t i = 0; i < foreign->waiting[flow] && result == RESULT_OK; i++) {
            struct engine_decision decision;
            const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
            engine_decision_begin(&decision, execution, accept->output);
            uint32_t token = engine_scope_add_token(
                &decision, root, foreign->process->flows[flow].target, flow, NULL, SPAN_EMPTY);
            engine_emit(&decision, ENGINE_EVENT_JOINED)->token = token;
            result = engine_commit(execution, &decision);
        }
    }
    return result;
}

/* {"wait": …}: what its module would have replied. */
static struct span wait_reply(struct engine_decision *decision, struct span wait)
{
    return engine_fields_single(decision->arena, span_text("wait"), wait);
}

/* The work was begun elsewhere and is waited for: as if its module had just said so. */
static enum result await(struct engine_accept *accept, uint32_t id, struct span wait)
{
    struct engine_execution *execution = accept->execution;
    struct engine_decision decision;
    engine_decision_begin(&decision, execution, accept->output);
    const struct engine_token *token = engine_token_find(execution, id);
    engine_emit_token(&decision, ENGINE_EVENT_ENTERED, token)->count = execution->sequence + 1;
    enum result result = engine_commit(execution, &decision);
    if (result != RESULT_OK) {
        return result;
    }
    engine_decision_begin(&decision, execution, accept->output);
    struct engine_visit visit = engine_visit_of(&decision, engine_token_find(execution, id));
    struct span local;
    if (engine_activity_begin(&decision, &visit, &local)) {
        struct engine_event *event = engine_emit_token(&decision, ENGINE_EVENT_CALLED, visit.token);
        event->count = engine_decision_call_number(&decision);
        event->flags = ENGINE_PHASE_EXECUTE;
        event = engine_emit_token(&decision, ENGINE_EVENT_ANSWERED, visit.token);
        event->flags = PROTO_CALL_ANSWERED;
        event->count = 200;
        event->at_ms = -1;
        event->value = wait_reply(&decision, wait);
    }
    return engine_commit(execution, &decision);
}

static enum result place_tokens(struct engine_accept *accept, const struct engine_foreign *foreign)
{
    struct engine_execution *execution = accept->execution;
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < foreign->active_count && result == RESULT_OK; i++) {
        const struct engine_foreign_active *active = &foreign->actives[i];
        const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
        struct engine_decision decision;
        engine_decision_begin(&decision, execution, accept->output);
        uint32_t token =
            engine_scope_add_token(&decision, root, active->node, ENGINE_NONE, NULL, SPAN_EMPTY);
        result = engine_commit(execution, &decision);
        if (result == RESULT_OK && active->wait.count > 0 && !engine_execution_frozen(execution)) {
            result = await(accept, token, active->wait);
        }
    }
    return result;
}

enum result engine_accept_import(struct engine_accept *accept)
{
    struct engine_foreign foreign;
    enum result result = read_foreign(accept, &foreign);
    result = result == RESULT_OK ? begin(accept, &foreign) : result;
    result = result == RESULT_OK ? fill_joins(accept, &foreign) : result;
    result = result == RESULT_OK ? place_tokens(accept, &foreign) : result;
    return result == RESULT_OK ? engine_tell_audit(accept->execution, "imported", 0, accept->output)
                               : result;
}
