/*
 * answer.c: see answer.h.
 */
#include "engine/answer.h"

#include "engine/activity.h"
#include "engine/apply.h"
#include "engine/call.h"
#include "engine/failure.h"
#include "engine/fields.h"
#include "engine/payload.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

enum { ATTEMPTS_MAX = 3, BACK_OFF_SHIFT_MAX = 12 };
#define BACK_OFF_MS_MAX (60LL * 60 * 1000)

/* What the core itself acts on in a reply; the rest is merged as it is. */
enum { REPLY_OUTPUT, REPLY_OUTPUTS, REPLY_EXECUTION, REPLY_WAIT, REPLY_ERROR, REPLY_FIELD_COUNT };

static const struct span reply_names[REPLY_FIELD_COUNT] = {
    [REPLY_OUTPUT] = ENGINE_NAME("output"),       [REPLY_OUTPUTS] = ENGINE_NAME("outputs"),
    [REPLY_EXECUTION] = ENGINE_NAME("execution"), [REPLY_WAIT] = ENGINE_NAME("wait"),
    [REPLY_ERROR] = ENGINE_NAME("error"),
};

/* What is known of a reply while it is acted on. */
struct reply {
    const struct engine_module *module; /* NULL: gone since */
    struct span body;                   /* MAP, or empty */
    struct span local;
    struct span fields[REPLY_FIELD_COUNT];
    bool made; /* by the engine: the body is not in the token's answer */
};

/* ---- transient failures ---- */

static uint32_t attempts_max(struct engine_decision *decision, const struct engine_visit *visit,
                             const struct engine_module *module)
{
    uint32_t most =
        module != NULL && module->attempts_max > 0 ? module->attempts_max : ATTEMPTS_MAX;
    struct engine_scene scene;
    struct engine_evaluation evaluation;
    if (visit->node->retries == NULL) {
        return most;
    }
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (engine_expression_evaluate(visit->node->retries, &scene.names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        return most;
    }
    int64_t said = wire_int_or(evaluation.value, most);
    return said < 1 ? 1 : said > UINT32_MAX ? UINT32_MAX : (uint32_t)said;
}

/*
 * engine.md 8: back-off 2^n s, here 1 s after the first failed attempt, 2 s after the second, and
 * so on, at least what Retry-After says, at most an hour.
 */
static int64_t back_off_ms(uint32_t failures, int64_t retry_after_ms)
{
    uint32_t shift = failures - 1 < BACK_OFF_SHIFT_MAX ? failures - 1 : BACK_OFF_SHIFT_MAX;
    int64_t wait_ms = 1000LL << shift;
    wait_ms = retry_after_ms > wait_ms ? retry_after_ms : wait_ms;
    return wait_ms < BACK_OFF_MS_MAX ? wait_ms : BACK_OFF_MS_MAX;
}

static void fail_transiently(struct engine_decision *decision, const struct engine_visit *visit,
                             const struct engine_module *module, struct span reason)
{
    const struct engine_token *token = visit->token;
    uint32_t failures = token->attempts - token->attempts_before;
    failures = failures == 0 ? 1 : failures;
    uint32_t most = attempts_max(decision, visit, module);
    if (failures >= most) {
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("MaxRetriesExceeded"),
                    ENGINE_TEXT(decision, "\"%.*s\" failed %u times: %.*s",
                                SPAN_ARG(visit->node->id), failures, SPAN_ARG(reason)));
        return;
    }
    int64_t wait_ms = back_off_ms(failures, token->answer.retry_after_ms);
    engine_emit_token(decision, ENGINE_EVENT_ATTEMPT_FAILED, token)->text =
        ENGINE_TEXT(decision, "attempt %u of %u failed, next in %lld ms: %.*s", failures, most,
                    (long long)wait_ms, SPAN_ARG(reason));
    engine_wait_open(decision, visit, ENGINE_WAIT_RETRY, SPAN_EMPTY,
                     decision->execution->now_ms + wait_ms);
}

/* ---- errors ---- */

static void fail_module(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span reason)
{
    engine_fail(
        decision, visit, ENGINE_TOKEN_ENTERED, span_text("ModuleFailed"),
        ENGINE_TEXT(decision, "\"%.*s\": %.*s", SPAN_ARG(visit->node->id), SPAN_ARG(reason)));
}

/* {"code", "message", "transient", "bpmnError"?} of a reply or a callback. */
static void act_on_error(struct engine_decision *decision, const struct engine_visit *visit,
                         const struct engine_module *module, struct span error, bool transient)
{
    struct span code = wire_string_or(wire_find_text(error, "code"), "");
    struct span message = wire_string_or(wire_find_text(error, "message"), "");
    struct span bpmn_error = wire_string_or(wire_find_text(error, "bpmnError"), "");
    struct span reason = code.count == 0      ? message
                         : message.count == 0 ? code
                                              : ENGINE_TEXT(decision, "%.*s: %.*s", SPAN_ARG(code),
                                                            SPAN_ARG(message));
    if (bpmn_error.count > 0) {
        engine_throw(decision, visit, ENGINE_TOKEN_ENTERED, arena_copy(decision->arena, bpmn_error),
                     arena_copy(decision->arena, reason));
    } else if (wire_bool_or(wire_find_text(error, "transient"), transient)) {
        fail_transiently(decision, visit, module, arena_copy(decision->arena, reason));
    } else {
        fail_module(decision, visit,
                    reason.count > 0 ? reason
                                     : span_text("it failed, and said neither code nor message"));
    }
}

/* ---- declared outputs (engine.md 8) ---- */

static bool declares(const struct engine_module *module, struct span key)
{
    for (uint32_t i = 0; i < module->output_count; i++) {
        if (span_equal(module->outputs[i], key)) {
            return true;
        }
    }
    return false;
}

static bool keeps_contract(const struct engine_module *module, struct span outputs)
{
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(outputs);
    while (wire_map_next(&walk, &key, &value)) {
        if (!declares(module, key)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < module->output_count; i++) {
        if (wire_find(outputs, module->outputs[i]).count == 0) {
            return false;
        }
    }
    return true;
}

static void write_name(struct wire_writer *writer, size_t start, struct span name)
{
    if (writer->count > start) {
        wire_write_raw(writer, span_text(", "));
    }
    wire_write_raw(writer, name);
}

static struct span contract_text(struct engine_decision *decision,
                                 const struct engine_module *module, struct span outputs)
{
    struct wire_writer writer;
    struct span key, value;
    wire_writer_init(&writer, decision->arena, 128);
    wire_write_raw(&writer, span_text("contract violation: declared outputs ["));
    size_t start = writer.count;
    for (uint32_t i = 0; i < module->output_count; i++) {
        write_name(&writer, start, module->outputs[i]);
    }
    wire_write_raw(&writer, span_text("], got ["));
    start = writer.count;
    struct wire_map_walk walk = wire_map_begin(outputs);
    while (wire_map_next(&walk, &key, &value)) {
        write_name(&writer, start, key);
    }
    wire_write_raw(&writer, span_text("]"));
    return wire_writer_span(&writer);
}

/* False: the contract is strict and broken, which was decided on. */
static bool check_contract(struct engine_decision *decision, const struct engine_visit *visit,
                           const struct reply *reply)
{
    const struct engine_module *module = reply->module;
    struct span outputs = reply->fields[REPLY_OUTPUTS];
    if (module == NULL || module->output_count == 0 || keeps_contract(module, outputs)) {
        return true;
    }
    struct span text = contract_text(decision, module, outputs);
    if (module->strict_outputs) {
        fail_module(decision, visit, text);
        return false;
    }
    engine_emit_log(decision, ENGINE_LEVEL_WARN, visit, text);
    return true;
}

/* ---- success ---- */

/* Camunda's and Zeebe's resultVariable of a task without a script: what the module says is its
 * result. */
static void set_result_variable(struct engine_decision *decision, const struct engine_visit *visit,
                                const struct reply *reply)
{
    struct span result = reply->fields[REPLY_OUTPUT];
    result = result.count > 0 ? result : reply->fields[REPLY_OUTPUTS];
    if (visit->node->result_variable.count == 0 || visit->node->script != NULL ||
        result.count == 0) {
        return;
    }
    engine_emit_variables(
        decision, visit->token,
        engine_fields_single(decision->arena, visit->node->result_variable, result));
}

static void emit_merge(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct reply *reply, uint32_t flags)
{
    if (wire_count(reply->body) > 0) {
        struct engine_event *event =
            engine_emit_token(decision, ENGINE_EVENT_REPLY_MERGED, visit->token);
        event->flags = flags;
        event->value = reply->made ? reply->body : SPAN_EMPTY;
    }
}

static void emit_output(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span output)
{
    if (output.count > 0) {
        engine_emit_token(decision, ENGINE_EVENT_OUTPUT_SET, visit->token)->value =
            arena_copy(decision->arena, output);
    }
}

/* The work is done: outputs, then the token may leave. The overlays are what output mappings see
 * before all else. */
static void succeed(struct engine_decision *decision, const struct engine_visit *visit,
                    struct span local, struct span first, struct span second, struct span output)
{
    emit_output(decision, visit, output);
    if (visit->node->outputs.count > 0) {
        struct engine_scene scene;
        engine_scene_init(&scene, decision, visit->scope, visit->token);
        scene.local = local;
        scene.overlays[0] = first;
        scene.overlays[1] = second;
        scene.output = output.count > 0 ? output : scene.output;
        /* The answer is still there: a retry of a failed mapping does not call the module again. */
        enum engine_token_state resume = visit->token->state == ENGINE_TOKEN_ANSWERED
                                             ? ENGINE_TOKEN_ANSWERED
                                             : ENGINE_TOKEN_ENTERED;
        if (!engine_activity_outputs(decision, visit, &scene, resume)) {
            return;
        }
    }
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token)->flags = 1;
}

/* wait: true, or {"kind": "human", …} (interfaces.md 3). */
static void open_wait(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_module *module, struct span wait)
{
    bool is_map = wire_is(wait, WIRE_MAP);
    bool human = is_map && span_is(wire_string_or(wire_find_text(wait, "kind"), ""), "human");
    int64_t due_ms = ENGINE_NO_DUE;
    if (module != NULL && module->callback_timeout_ms > 0) {
        due_ms = decision->execution->now_ms + module->callback_timeout_ms;
    }
    engine_wait_open(decision, visit, human ? ENGINE_WAIT_HUMAN : ENGINE_WAIT_CALLBACK,
                     is_map ? arena_copy(decision->arena, wait) : SPAN_EMPTY, due_ms);
}

static void act_on_reply(struct engine_decision *decision, const struct engine_visit *visit,
                         struct reply *reply, bool accepted)
{
    engine_fields_read(reply->body, reply_names, REPLY_FIELD_COUNT, reply->fields);
    struct span wait = reply->fields[REPLY_WAIT];
    if (wire_is(reply->fields[REPLY_ERROR], WIRE_MAP)) {
        emit_merge(decision, visit, reply, ENGINE_REPLY_LOGS_ONLY);
        act_on_error(decision, visit, reply->module, reply->fields[REPLY_ERROR], false);
        return;
    }
    if (accepted || wire_is(wait, WIRE_MAP) || wire_bool_or(wait, false)) {
        emit_merge(decision, visit, reply, 0);
        emit_output(decision, visit, reply->fields[REPLY_OUTPUT]);
        open_wait(decision, visit, reply->module, wait);
        return;
    }
    if (!check_contract(decision, visit, reply)) {
        return;
    }
    emit_merge(decision, visit, reply,
               visit->node->outputs.count > 0 ? ENGINE_REPLY_WITHOUT_EXECUTION : 0);
    set_result_variable(decision, visit, reply);
    succeed(decision, visit, reply->local, reply->fields[REPLY_OUTPUTS],
            reply->fields[REPLY_EXECUTION], reply->fields[REPLY_OUTPUT]);
}

void engine_answer_made(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_module *module, struct span body, struct span local)
{
    struct reply reply = {.module = module, .body = body, .local = local, .made = true};
    act_on_reply(decision, visit, &reply, false);
}

/* ---- HTTP ---- */

/* engine.md 8. */
static bool is_transient_status(uint32_t status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 ||
           status == 503 || status == 504;
}

static void act_on_status(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct reply *reply)
{
    const struct engine_answer *answer = &visit->token->answer;
    bool transient = is_transient_status(answer->status);
    struct span error = wire_find_text(reply->body, "error");
    if (wire_is(error, WIRE_MAP)) {
        act_on_error(decision, visit, reply->module, error, transient);
        return;
    }
    struct span reason =
        answer->reason.count == 0
            ? ENGINE_TEXT(decision, "HTTP %u", answer->status)
            : ENGINE_TEXT(decision, "HTTP %u: %.*s", answer->status, SPAN_ARG(answer->reason));
    if (transient) {
        fail_transiently(decision, visit, reply->module, reason);
    } else {
        fail_module(decision, visit, reason);
    }
}

/* The http built-in: any answer is a result, {"status", "body"}. */
static struct span http_reply(struct engine_decision *decision, const struct engine_answer *answer)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, 2 * answer->body.count + 64);
    wire_write_map(&writer, 2);
    wire_write_text(&writer, "outputs");
    wire_write_map(&writer, 2);
    wire_pair_int(&writer, "status", answer->status);
    wire_pair_value(&writer, "body", answer->body);
    wire_pair_value(&writer, "output", answer->body);
    return wire_writer_span(&writer);
}

/* interfaces.md 3: fields that have one form only. What a module says in another is not dropped in
 * silence: it may be its error. */
static const struct {
    struct span name;
    bool list;
} formed_fields[] = {
    {ENGINE_NAME("error"), false},     {ENGINE_NAME("outputs"), false},
    {ENGINE_NAME("request"), false},   {ENGINE_NAME("response"), false},
    {ENGINE_NAME("context"), false},   {ENGINE_NAME("module"), false},
    {ENGINE_NAME("execution"), false}, {ENGINE_NAME("conversation"), true},
    {ENGINE_NAME("logs"), true},
};

static bool is_list_of(struct span list, enum wire_type type)
{
    struct wire_map_walk walk = wire_array_begin(list);
    struct span entry;
    while (wire_array_next(&walk, &entry)) {
        if (!wire_is(entry, type)) {
            return false;
        }
    }
    return wire_is(list, WIRE_ARRAY);
}

static bool is_given(struct span value)
{
    return value.count > 0 && !wire_is(value, WIRE_NIL);
}

/* The same of what stands in a field that has its form. */
static struct span misformed_within(struct engine_decision *decision, struct span key,
                                    struct span value)
{
    struct span code = span_is(key, "error") ? wire_find_text(value, "bpmnError") : SPAN_EMPTY;
    if (is_given(code) && !wire_is(code, WIRE_STRING)) {
        return span_text("\"error.bpmnError\" must be a string");
    }
    if (span_is(key, "logs") && !is_list_of(value, WIRE_MAP)) {
        return span_text("\"logs\" must be a list of objects");
    }
    bool merges = wire_is(value, WIRE_MAP) && !span_is(key, "error") && !span_is(key, "outputs");
    struct span unset = merges ? wire_find_text(value, "$unset") : SPAN_EMPTY;
    return is_given(unset) && !is_list_of(unset, WIRE_STRING)
               ? ENGINE_TEXT(decision, "\"%.*s.$unset\" must be a list of keys", SPAN_ARG(key))
               : SPAN_EMPTY;
}

/* The first field of a wrong form as a reason, or an empty span. */
static struct span misformed(struct engine_decision *decision, struct span body)
{
    struct wire_map_walk walk = wire_map_begin(body);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        enum wire_type type = wire_head(value).type;
        if (span_is(key, "wait") && type != WIRE_NIL && type != WIRE_BOOL && type != WIRE_MAP) {
            return span_text("\"wait\" must be true, false or an object");
        }
        for (size_t i = 0; i < sizeof formed_fields / sizeof formed_fields[0]; i++) {
            bool list = formed_fields[i].list;
            if (!span_equal(key, formed_fields[i].name) || type == WIRE_NIL) {
                continue;
            }
            if (type != (list ? WIRE_ARRAY : WIRE_MAP)) {
                return ENGINE_TEXT(decision, "\"%.*s\" must be %s", SPAN_ARG(key),
                                   list ? "a list" : "an object");
            }
            struct span within = misformed_within(decision, key, value);
            if (within.count > 0) {
                return within;
            }
        }
    }
    return SPAN_EMPTY;
}

static void act_on_answer(struct engine_decision *decision, const struct engine_visit *visit,
                          struct reply *reply)
{
    const struct engine_answer *answer = &visit->token->answer;
    bool is_http = reply->module != NULL && reply->module->builtin == ENGINE_BUILTIN_HTTP;
    reply->body = wire_is(answer->body, WIRE_MAP) ? answer->body : SPAN_EMPTY;
    if (answer->status < 200 || answer->status > 299) {
        act_on_status(decision, visit, reply);
    } else if (is_http) {
        engine_answer_made(decision, visit, reply->module, http_reply(decision, answer),
                           reply->local);
    } else if (answer->body.count > 0 && reply->body.count == 0 &&
               wire_head(answer->body).type != WIRE_NIL) {
        fail_module(decision, visit, span_text("the reply is not a map"));
    } else {
        struct span reason = misformed(decision, reply->body);
        if (reason.count > 0) {
            fail_module(decision, visit, reason);
        } else {
            act_on_reply(decision, visit, reply, answer->status == 202);
        }
    }
}

static void act_on_outcome(struct engine_decision *decision, const struct engine_visit *visit,
                           const struct engine_module *module)
{
    const struct engine_answer *answer = &visit->token->answer;
    struct reply reply = {.module = module, .local = visit->token->local};
    switch ((enum proto_call_outcome)answer->outcome) {
    case PROTO_CALL_ANSWERED:
        act_on_answer(decision, visit, &reply);
        break;
    case PROTO_CALL_UNREACHABLE:
        fail_transiently(decision, visit, module,
                         answer->reason.count > 0 ? answer->reason
                                                  : span_text("the module cannot be reached"));
        break;
    case PROTO_CALL_TIMED_OUT:
        fail_transiently(decision, visit, module,
                         answer->reason.count > 0 ? answer->reason
                                                  : span_text("no answer in time"));
        break;
    case PROTO_CALL_BAD_REPLY:
    case PROTO_CALL_REFUSED:
    case PROTO_CALL_CANCELLED: /* accept drops these: only corrupt bytes bring one here */
        fail_module(decision, visit, answer->reason);
        break;
    }
}

/* ---- callbacks ---- */

static void act_on_callback(struct engine_decision *decision, const struct engine_visit *visit,
                            const struct engine_module *module)
{
    const struct engine_answer *answer = &visit->token->answer;
    struct span config;
    if (wire_is(answer->reason, WIRE_MAP)) {
        act_on_error(decision, visit, module, answer->reason, false);
        return;
    }
    if (module != NULL && module->callback && module->builtin == ENGINE_BUILTIN_NONE) {
        struct span output = answer->output;
        emit_output(decision, visit, wire_head(output).type == WIRE_NIL ? SPAN_EMPTY : output);
        if (engine_call_config(decision, visit, visit->token->local, &config)) {
            engine_call_out(decision, visit, module, ENGINE_PHASE_CALLBACK, config);
        }
        return;
    }
    struct span output = wire_head(answer->output).type == WIRE_NIL ? SPAN_EMPTY : answer->output;
    succeed(decision, visit, visit->token->local, answer->body, SPAN_EMPTY, output);
}

void engine_answer_task(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_module *module = engine_call_module(decision, visit);
    switch ((enum engine_answer_kind)visit->token->answer.kind) {
    case ENGINE_ANSWER_REPLY:
        act_on_outcome(decision, visit, module);
        break;
    case ENGINE_ANSWER_CALLBACK:
        act_on_callback(decision, visit, module);
        break;
    case ENGINE_ANSWER_TIMEOUT:
        fail_transiently(decision, visit, module, visit->token->answer.reason);
        break;
    case ENGINE_ANSWER_NONE:
    case ENGINE_ANSWER_EVENT:
        ASSERT_UNREACHABLE();
    }
}
