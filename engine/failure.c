/*
 * failure.c: see failure.h. The search of a handler only reads; interrupting is scope.c's.
 */
#include "engine/failure.h"

#include "engine/fields.h"
#include "engine/handler.h"
#include "engine/scope.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

static void emit_failed(struct engine_decision *decision, uint32_t token,
                        enum engine_token_state resume, struct span code, struct span message)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_FAILED);
    event->token = token;
    event->count = token == 0 ? 0 : resume;
    event->text = code;
    struct span value = engine_decision_string(decision, message);
    event->value = value;
    engine_scope_drop_calls(decision);
}

void engine_fail(struct engine_decision *decision, const struct engine_visit *visit,
                 enum engine_token_state resume, struct span code, struct span message)
{
    emit_failed(decision, visit->token->slot.id, resume, code, message);
    if (resume != ENGINE_TOKEN_ARRIVED) { /* before the node there is no step of it yet */
        engine_decision_step(decision, visit->token, false);
    }
}

void engine_fail_execution(struct engine_decision *decision, struct span code, struct span message)
{
    emit_failed(decision, 0, ENGINE_TOKEN_GONE, code, message);
}

void engine_fail_expression(struct engine_decision *decision, const struct engine_visit *visit,
                            enum engine_token_state resume, struct span what, const char *reason)
{
    engine_fail(decision, visit, resume, span_text("ExpressionFailed"),
                ENGINE_TEXT(decision, "\"%.*s\": %.*s: %s", SPAN_ARG(visit->node->id),
                            SPAN_ARG(what), reason == NULL ? "evaluation failed" : reason));
}

void engine_fail_unsupported(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_fail(decision, visit, (enum engine_token_state)visit->token->state,
                span_text("DefinitionInvalid"),
                ENGINE_TEXT(decision, "\"%.*s\" (%s) is not executed yet",
                            SPAN_ARG(visit->node->id), engine_kind_trace_name(visit->node->kind)));
}

/* ---- what is thrown: BPMN errors and escalations ---- */

/* Who catches what was thrown. */
struct catcher {
    const struct engine_node *event; /* boundary event, or start event of an event sub-process */
    const struct engine_event_definition *definition; /* which of the event's */
    const struct engine_token *host; /* of the boundary event; NULL: it is an event sub-process */
    const struct engine_scope *scope;
};

/* traps.md 8: at one level the one with this code, else the first that catches all. */
static void prefer(struct catcher *found, const struct engine_node *event,
                   enum engine_event_kind kind, struct span code)
{
    for (uint32_t i = 0; event != NULL && i < event->event_count; i++) {
        const struct engine_event_definition *definition = &event->events[i];
        bool exact = definition->code.count > 0 && span_equal(definition->code, code);
        bool had_exact = found->event != NULL && found->definition->code.count > 0;
        bool any = definition->code.count == 0 && found->event == NULL;
        if (definition->kind == kind && ((exact && !had_exact) || any)) {
            found->event = event;
            found->definition = definition;
        }
    }
}

static void look_on(struct catcher *found, const struct engine_node *node,
                    enum engine_event_kind kind, struct span code)
{
    const struct engine_process *process = found->scope->process;
    for (uint32_t i = 0; i < node->boundaries.count; i++) {
        prefer(found, &process->nodes[node->boundaries.at[i]], kind, code);
    }
}

static void look_in(struct catcher *found, enum engine_event_kind kind, struct span code)
{
    struct engine_indexes handlers = engine_handlers_of(found->scope);
    for (uint32_t i = 0; i < handlers.count; i++) {
        prefer(found, engine_handler_start(found->scope->process, handlers.at[i]), kind, code);
    }
}

/*
 * traps.md 8: from inside out, at each level the boundary events of the activity, then the event
 * sub-processes of the scope that it is in. What a handler throws is not for the scope's own
 * handlers; the boundary of an activity with instances is around all of them.
 */
static bool find_catcher(const struct engine_execution *execution, const struct engine_visit *visit,
                         enum engine_event_kind kind, struct span code, struct catcher *out)
{
    const struct engine_token *host = visit->token;
    const struct engine_scope *scope = visit->scope;
    while (host != NULL) {
        const struct engine_node *node = &scope->process->nodes[host->node];
        *out = (struct catcher){.host = host, .scope = scope};
        if (scope->kind != ENGINE_SCOPE_BODY) {
            look_on(out, node, kind, code);
        }
        if (out->event == NULL && !node->triggered_by_event) {
            out->host = NULL;
            look_in(out, kind, code);
        }
        if (out->event != NULL) {
            return true;
        }
        host = engine_token_find(execution, scope->host);
        scope = engine_scope_find(execution, scope->parent);
        ASSERT((host == NULL) == (scope == NULL));
    }
    return false;
}

/* {"code", "message"}: what a handler sees as `output`. */
static struct span thrown_value(struct engine_decision *decision, struct span code,
                                struct span message)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, code.count + message.count + 32);
    wire_write_map(&writer, 1u + (message.count > 0));
    wire_pair_string(&writer, "code", code);
    if (message.count > 0) {
        wire_pair_string(&writer, "message", message);
    }
    return wire_writer_span(&writer);
}

/* The variables that the catching event names. */
static void set_variable(struct engine_decision *decision, const struct catcher *catcher,
                         struct span name, struct span text)
{
    if (name.count > 0) {
        struct span value = engine_decision_string(decision, text);
        struct engine_event *event = engine_emit(decision, ENGINE_EVENT_MERGED);
        event->scope = catcher->scope->slot.id;
        event->flags = ENGINE_PAYLOAD_EXECUTION;
        event->value = engine_fields_single(decision->arena, name, value);
    }
}

/* True: the thrower is still there. */
static bool begin_catcher(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct catcher *catcher, struct span code, struct span message)
{
    const struct engine_node *event = catcher->event;
    struct span output = thrown_value(decision, code, message);
    set_variable(decision, catcher, catcher->definition->code_variable, code);
    set_variable(decision, catcher, catcher->definition->message_variable, message);
    if (catcher->host == NULL) {
        (void)engine_handler_begin(decision, catcher->scope, event, visit->token, output);
        return !event->interrupting;
    }
    if (event->interrupting) {
        (void)engine_scope_interrupt(decision, catcher->host, visit->token, event->index, output);
        return false;
    }
    engine_scope_add_token(decision, catcher->scope, event->index, ENGINE_NONE, visit->token,
                           output);
    return true;
}

void engine_throw(struct engine_decision *decision, const struct engine_visit *visit,
                  enum engine_token_state resume, struct span code, struct span message)
{
    struct catcher catcher;
    if (find_catcher(decision->execution, visit, ENGINE_ON_ERROR, code, &catcher)) {
        engine_decision_step(decision, visit->token, false);
        (void)begin_catcher(decision, visit, &catcher, code, message);
    } else { /* An error end event need not name a code; an incident needs one. */
        engine_fail(decision, visit, resume, code.count > 0 ? code : span_text("BpmnError"),
                    message);
    }
}

bool engine_escalate(struct engine_decision *decision, const struct engine_visit *visit,
                     struct span code)
{
    struct catcher catcher;
    if (!find_catcher(decision->execution, visit, ENGINE_ON_ESCALATION, code, &catcher) ||
        begin_catcher(decision, visit, &catcher, code, SPAN_EMPTY)) {
        return true;
    }
    engine_decision_step(decision, visit->token, false);
    return false;
}
