/*
 * call.c: see call.h.
 */
#include "engine/call.h"

#include "engine/failure.h"
#include "engine/mapping.h"
#include "engine/pack.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

static const char *const phase_names[] = {[ENGINE_PHASE_EXECUTE] = "execute",
                                          [ENGINE_PHASE_CALLBACK] = "callback",
                                          [ENGINE_PHASE_CANCEL] = "cancel"};

/* One call, as its body and headers tell it. */
struct call {
    enum engine_phase phase;
    uint32_t number;    /* names the call: never used twice in an execution */
    uint32_t attempt;   /* from 1, of this step */
    uint32_t callbacks; /* of this step, this one included */
    const char *reason; /* CANCEL: why */
};

bool engine_call_type(const struct engine_decision *decision, const struct engine_visit *visit,
                      struct span *type, const char **reason)
{
    struct engine_scene scene;
    struct engine_evaluation evaluation = {0};
    *type = visit->node->task_type;
    if (visit->node->task_type_value == NULL) {
        return true;
    }
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (engine_expression_evaluate(visit->node->task_type_value, &scene.names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        *reason = evaluation.error.message;
        return false;
    }
    *type = wire_string_or(evaluation.value, "");
    *reason = "it is no text";
    return type->count > 0;
}

const struct engine_module *engine_call_module(const struct engine_decision *decision,
                                               const struct engine_visit *visit)
{
    struct span type;
    const char *reason;
    return engine_call_type(decision, visit, &type, &reason)
               ? engine_modules_find(engine_decision_modules(decision), type,
                                     decision->execution->channel)
               : NULL;
}

bool engine_call_config(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span local, struct span *config)
{
    struct span own = visit->token->own;
    *config = own.count == 0 ? local : wire_merge(decision->arena, own, local);
    if (visit->node->headers.count == 0) {
        return true;
    }
    const struct engine_mapping *failed;
    const char *reason;
    struct span headers;
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (!engine_mapping_evaluate(decision, &scene, &visit->node->headers, false, &headers, &failed,
                                 &reason)) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED,
                               ENGINE_TEXT(decision, "header \"%.*s\"", SPAN_ARG(failed->target)),
                               reason);
        return false;
    }
    headers = own.count == 0 ? headers : wire_merge(decision->arena, own, headers);
    *config = local.count == 0 ? headers : wire_merge(decision->arena, headers, local);
    return true;
}

struct span engine_call_url(const struct engine_module *module, struct span config)
{
    return module->builtin == ENGINE_BUILTIN_HTTP
               ? wire_string_or(wire_find_text(config, "url"), "")
               : module->url;
}

/* interfaces.md 3: `<stepId>`, `<stepId>/cb/<n>` for the n-th callback, `<stepId>/r<k>` after the
 * k-th operator retry. */
static struct span idempotency_key(struct engine_decision *decision,
                                   const struct engine_token *token, const struct call *call,
                                   const char *step_id)
{
    struct span key = ENGINE_TEXT(decision, "%s", step_id);
    if (call->phase == ENGINE_PHASE_CALLBACK) {
        key = ENGINE_TEXT(decision, "%s/cb/%u", step_id, call->callbacks);
    }
    if (call->phase == ENGINE_PHASE_CANCEL) { /* each one is news of its own */
        key = ENGINE_TEXT(decision, "%s/cancel/%llu", step_id,
                          (unsigned long long)decision->execution->event_sequence);
    }
    return token->retries == 0 ? key
                               : ENGINE_TEXT(decision, "%.*s/r%u", SPAN_ARG(key), token->retries);
}

/* W3C trace context: version, 32 hex digits of trace id, and so on. What a caller gave becomes part
 * of a header. */
static bool has_trace_id(struct span traceparent)
{
    if (traceparent.count < 36 || traceparent.bytes[2] != '-' || traceparent.bytes[35] != '-') {
        return false;
    }
    for (size_t i = 3; i < 35; i++) {
        uint8_t byte = traceparent.bytes[i];
        if (!((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'))) {
            return false;
        }
    }
    return true;
}

/* The caller's trace goes on, else the execution is one of its own; the span is the call. */
static struct span traceparent(struct engine_decision *decision, const struct call *call)
{
    const struct engine_execution *execution = decision->execution;
    struct span id = execution_id_span(&execution->id);
    uint64_t parent = base_hash(id, ((uint64_t)execution->run << 32) | call->number);
    if (has_trace_id(execution->traceparent)) {
        return ENGINE_TEXT(decision, "00-%.*s-%016llx-01", 32,
                           (const char *)execution->traceparent.bytes + 3,
                           (unsigned long long)parent);
    }
    uint64_t trace[2];
    uint8_t hash[sizeof trace];
    base_hash_128(id, 0, hash);
    memcpy(trace, hash, sizeof trace);
    return ENGINE_TEXT(decision, "00-%016llx%016llx-%016llx-01", (unsigned long long)trace[0],
                       (unsigned long long)trace[1], (unsigned long long)parent);
}

static void write_payload(struct wire_writer *writer, struct span payload)
{
    if (payload.count > 0) {
        engine_pack_raw(writer, payload);
    } else {
        wire_write_map(writer, 0);
    }
}

static struct span call_body(struct engine_decision *decision, const struct engine_visit *visit,
                             const struct call *call, const char *step_id, struct span config)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *process = engine_scope_of_process(execution, visit->scope);
    struct span variables = process == visit->scope && visit->token->own.count == 0
                                ? process->variables
                                : engine_names_visible(decision, visit->scope, visit->token);
    struct span type;
    const char *reason;
    struct wire_writer writer;
    (void)engine_call_type(decision, visit, &type, &reason); /* or there would be no module */
    wire_writer_init(&writer, decision->arena,
                     512 + config.count + execution->request.count + execution->context.count +
                         execution->module.count + variables.count);
    wire_write_map(&writer, 19u + (call->phase != ENGINE_PHASE_EXECUTE));
    ENGINE_PACK_STRING(&writer, "phase", span_text(phase_names[call->phase]));
    ENGINE_PACK_STRING(&writer, "executionId", execution_id_span(&execution->id));
    ENGINE_PACK_STRING(&writer, "stepId", span_of(step_id, UUID_TEXT_BYTES));
    ENGINE_PACK_UINT(&writer, "sequence", visit->token->sequence);
    ENGINE_PACK_UINT(&writer, "attempt", call->attempt);
    ENGINE_PACK_STRING(&writer, "workspaceId", execution->workspace);
    ENGINE_PACK_STRING(&writer, "projectId", execution->project);
    ENGINE_PACK_STRING(&writer, "process", process->process->id);
    ENGINE_PACK_UINT(&writer, "version", process->process->version);
    ENGINE_PACK_STRING(&writer, "taskId", visit->node->id);
    ENGINE_PACK_STRING(&writer, "taskName", visit->node->name);
    ENGINE_PACK_STRING(&writer, "taskType", type);
    ENGINE_PACK(&writer, "channel");
    if (execution->channel.count > 0) {
        engine_pack_string(&writer, execution->channel);
    } else {
        wire_write_nil(&writer);
    }
    ENGINE_PACK(&writer, "isTest");
    wire_write_bool(&writer, execution->is_test);
    ENGINE_PACK(&writer, "config");
    write_payload(&writer, config);
    ENGINE_PACK(&writer, "request");
    write_payload(&writer, execution->request);
    ENGINE_PACK(&writer, "context");
    write_payload(&writer, execution->context);
    ENGINE_PACK(&writer, "module");
    write_payload(&writer, execution->module);
    ENGINE_PACK(&writer, "execution");
    write_payload(&writer, variables);
    if (call->phase == ENGINE_PHASE_CALLBACK) {
        ENGINE_PACK(&writer, "callback");
        wire_write_value(&writer, visit->token->callback);
    }
    if (call->phase == ENGINE_PHASE_CANCEL) {
        ENGINE_PACK_STRING(&writer, "reason", span_text(call->reason));
    }
    return wire_writer_span(&writer);
}

/* The http built-in sends config.body (or all of config) as it is: the other side knows nothing of
 * us. */
static struct span http_body(struct engine_decision *decision, struct span config)
{
    struct span body = wire_find_text(config, "body");
    if (wire_is(body, WIRE_MAP)) {
        return arena_copy(decision->arena, body);
    }
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, 16);
    wire_write_map(&writer, 0);
    return wire_writer_span(&writer);
}

static void emit_call(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_module *module, const struct call *call,
                      struct span config)
{
    const struct engine_execution *execution = decision->execution;
    char step_id[UUID_TEXT_BYTES + 1];
    struct engine_effect *effect = engine_emit_effect(decision, ENGINE_EFFECT_CALL);
    if (effect == NULL) {
        return;
    }
    uuid_format(engine_step_id(execution, visit->token->sequence), step_id);
    bool is_http = module->builtin == ENGINE_BUILTIN_HTTP;
    struct proto_call *out = &effect->as.call;
    out->execution_id = execution->id;
    out->token = visit->token->slot.id;
    out->attempt = call->number;
    out->project = arena_copy(decision->arena, execution->project);
    /* Copies: the effect outlives a reload of the project's modules. */
    out->module = arena_copy(decision->arena, module->name);
    out->url = arena_copy(decision->arena, engine_call_url(module, config));
    out->headers =
        arena_copy(decision->arena, is_http ? wire_find_text(config, "headers") : module->headers);
    out->idempotency_key = idempotency_key(decision, visit->token, call, step_id);
    out->traceparent = traceparent(decision, call);
    out->body =
        is_http ? http_body(decision, config) : call_body(decision, visit, call, step_id, config);
    out->spelling = module->message_pack ? PROTO_MSGPACK : PROTO_JSON;
    out->timeout_ms = module->timeout_ms;
    out->concurrent_max = module->concurrent_max;
    out->reply_bytes_max = LIMIT_REPLY_BYTES;
}

void engine_call_out(struct engine_decision *decision, const struct engine_visit *visit,
                     const struct engine_module *module, enum engine_phase phase,
                     struct span config)
{
    const struct engine_token *token = visit->token;
    struct call call = {.phase = phase,
                        .number = engine_decision_call_number(decision),
                        .attempt = token->attempts + 1,
                        .callbacks = token->callbacks + (token->attempts == 0)};
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_CALLED, token);
    event->count = call.number;
    event->flags = phase;
    emit_call(decision, visit, module, &call, config);
}

/* The configuration is evaluated again: it is derived, and the module knows the step by its
 * Idempotency-Key. */
void engine_call_again(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_token *token = visit->token;
    const struct engine_module *module = engine_call_module(decision, visit);
    ASSERT(token->state == ENGINE_TOKEN_CALLING);
    struct span config;
    if (module == NULL ||
        (module->builtin != ENGINE_BUILTIN_NONE && module->builtin != ENGINE_BUILTIN_HTTP)) {
        struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_ANSWERED, token);
        event->flags = PROTO_CALL_REFUSED;
        event->at_ms = -1;
        event->text = ENGINE_TEXT(decision, "no module serves \"%.*s\" any more",
                                  SPAN_ARG(visit->node->task_type));
        return;
    }
    if (!engine_call_config(decision, visit, token->local, &config)) {
        return;
    }
    struct call call = {.phase = (enum engine_phase)token->phase,
                        .number = token->call,
                        .attempt = token->attempts,
                        .callbacks = token->callbacks};
    emit_call(decision, visit, module, &call, config);
}

void engine_call_drop(struct engine_decision *decision, const struct engine_token *token)
{
    if (token->state != ENGINE_TOKEN_CALLING) {
        return;
    }
    struct engine_effect *effect = engine_emit_effect(decision, ENGINE_EFFECT_CANCEL_CALL);
    if (effect != NULL) {
        effect->as.cancel =
            (struct proto_call_cancel){decision->execution->id, token->slot.id, token->call};
    }
}

void engine_call_tell(struct engine_decision *decision, const struct engine_visit *visit,
                      const char *reason)
{
    const struct engine_token *token = visit->token;
    bool waits = token->state == ENGINE_TOKEN_WAITING &&
                 (token->wait == ENGINE_WAIT_CALLBACK || token->wait == ENGINE_WAIT_HUMAN);
    if (token->state != ENGINE_TOKEN_CALLING && !waits) {
        return;
    }
    const struct engine_module *module = engine_call_module(decision, visit);
    if (module != NULL && module->cancel && module->builtin == ENGINE_BUILTIN_NONE) {
        /* Fire and forget: number 0 is no call's, so the answer finds nobody. */
        struct call call = {.phase = ENGINE_PHASE_CANCEL, .attempt = 1, .reason = reason};
        emit_call(decision, visit, module, &call, token->local);
    }
}

void engine_call_cancel(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_call_drop(decision, visit->token);
    engine_call_tell(decision, visit, "cancelled");
}
