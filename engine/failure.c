/*
 * failure.c: see failure.h. The search of a handler only reads; interrupting is scope.c's.
 */
#include "engine/failure.h"

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

/* ---- BPMN errors ---- */

/* Of the boundary events on a node: the one with this code, else the first that catches all, else
 * NULL. */
static const struct engine_node *catcher_on(const struct engine_process *process,
                                            const struct engine_node *node, struct span code)
{
    const struct engine_node *catch_all = NULL;
    for (uint32_t i = 0; i < node->boundaries.count; i++) {
        const struct engine_node *boundary = &process->nodes[node->boundaries.at[i]];
        if (boundary->event_count == 0 || boundary->events[0].kind != ENGINE_ON_ERROR) {
            continue;
        }
        struct span caught = boundary->events[0].code;
        if (caught.count > 0 && span_equal(caught, code)) {
            return boundary;
        }
        catch_all = caught.count == 0 && catch_all == NULL ? boundary : catch_all;
    }
    return catch_all;
}

/* {"code", "message"}: what a handler sees as `output`. */
static struct span error_value(struct engine_decision *decision, struct span code,
                               struct span message)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, code.count + message.count + 32);
    wire_write_map(&writer, 2);
    wire_pair_string(&writer, "code", code);
    wire_pair_string(&writer, "message", message);
    return wire_writer_span(&writer);
}

void engine_throw(struct engine_decision *decision, const struct engine_visit *visit,
                  enum engine_token_state resume, struct span code, struct span message)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_token *host = visit->token;
    const struct engine_scope *scope = visit->scope;
    while (host != NULL) {
        /* traps.md 8: an event sub-process of the scope would come before this boundary (issue 3).
         */
        const struct engine_node *handler =
            scope->kind == ENGINE_SCOPE_BODY
                ? NULL /* traps.md 7: the boundary is around the body */
                : catcher_on(scope->process, &scope->process->nodes[host->node], code);
        if (handler != NULL) {
            engine_decision_step(decision, visit->token, false);
            engine_scope_interrupt(decision, host, visit->token, handler->index,
                                   error_value(decision, code, message));
            return;
        }
        host = engine_token_find(execution, scope->host);
        scope = engine_scope_find(execution, scope->parent);
        ASSERT((host == NULL) == (scope == NULL));
    }
    /* An error end event need not name a code; an incident needs one. */
    engine_fail(decision, visit, resume, code.count > 0 ? code : span_text("BpmnError"), message);
}
