/*
 * listen.c: see listen.h.
 */
#include "engine/listen.h"

#include "engine/activity.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/handler.h"
#include "engine/pack.h"
#include "engine/scope.h"
#include "engine/timer.h"
#include "engine/wait.h"
#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

/* A receive task has no definition of its own: its message is one. */
static uint32_t definition_count(const struct engine_node *event)
{
    return event->kind == ENGINE_RECEIVE_TASK ? 1 : event->event_count;
}

static struct engine_event_definition definition_at(const struct engine_node *event, uint32_t place)
{
    ASSERT(place < definition_count(event));
    if (event->kind == ENGINE_RECEIVE_TASK) {
        return (struct engine_event_definition){
            .kind = ENGINE_ON_MESSAGE, .name = event->message_name, .activity = ENGINE_NONE};
    }
    return event->events[place];
}

/* BPMN 2.0.2 table 10.89: parallel multiple. */
static bool needs_all(const struct engine_node *event)
{
    return event->parallel_multiple && event->event_count > 1;
}

static bool is_listened_for(enum engine_event_kind kind)
{
    return kind == ENGINE_ON_MESSAGE || kind == ENGINE_ON_SIGNAL || kind == ENGINE_ON_CONDITION;
}

bool engine_listen_may(const struct engine_process *process, uint32_t host, uint32_t node)
{
    if (node >= process->node_count || host >= process->node_count) {
        return false;
    }
    const struct engine_node *event = &process->nodes[node];
    bool guards = event->scope == host && process->nodes[host].triggered_by_event;
    if (node == host || event->attached_to == host || guards) {
        return true;
    }
    for (uint32_t i = 0; i < event->incoming.count; i++) {
        if (process->flows[event->incoming.at[i]].source == host) {
            return process->nodes[host].kind == ENGINE_EVENT_GATEWAY;
        }
    }
    return false;
}

bool engine_listen_has(const struct engine_process *process, uint32_t node, uint32_t definition,
                       uint8_t kind)
{
    if (node >= process->node_count || definition >= definition_count(&process->nodes[node])) {
        return false;
    }
    return definition_at(&process->nodes[node], definition).kind == kind;
}

bool engine_listen_is_open(const struct engine_execution *execution,
                           const struct engine_token *token,
                           const struct engine_subscription *subscription)
{
    const struct engine_scope *scope = engine_scope_find(execution, token->scope);
    bool heard = subscription->kind != ENGINE_ON_CONDITION && subscription->held;
    bool boundary = scope->process->nodes[subscription->node].attached_to == token->node;
    return !heard && (boundary || token->state == ENGINE_TOKEN_WAITING ||
                      token->state == ENGINE_TOKEN_LISTENING);
}

/* ---- names and keys ---- */

bool engine_listen_name(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_node *event,
                        const struct engine_event_definition *definition,
                        struct engine_scene *scene, struct span *name)
{
    struct engine_evaluation evaluation;
    *name = definition->name.count > 0 ? definition->name : event->id;
    if (definition->name_value == NULL) {
        return true;
    }
    const char *reason = "is not a text";
    if (engine_expression_evaluate(definition->name_value, &scene->names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        reason = evaluation.error.message;
    } else if (wire_is(evaluation.value, WIRE_STRING)) {
        *name = arena_copy(decision->arena, wire_string_or(evaluation.value, ""));
        return true;
    }
    engine_fail_expression(decision, visit, (enum engine_token_state)visit->token->state,
                           ENGINE_TEXT(decision, "%s name of \"%.*s\"",
                                       engine_event_kind_name(definition->kind),
                                       SPAN_ARG(event->id)),
                           reason);
    return false;
}

static bool key_text(struct engine_decision *decision, struct span value, struct span *key)
{
    struct wire_value head = wire_head(value);
    if (value.count == 0 || head.type == WIRE_NIL || head.type == WIRE_ARRAY ||
        head.type == WIRE_MAP) {
        return false;
    }
    if (head.type == WIRE_STRING) {
        *key = arena_copy(decision->arena, wire_string_or(value, ""));
        return true;
    }
    return json_from_wire(value, JSON_COMPACT, decision->arena, key) == RESULT_OK;
}

bool engine_listen_key(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_node *event,
                       const struct engine_event_definition *definition, struct engine_scene *scene,
                       struct span *key)
{
    struct engine_evaluation evaluation;
    const struct engine_expression *expression =
        definition->correlation_key != NULL ? definition->correlation_key : event->correlation_key;
    *key = SPAN_EMPTY;
    if (expression == NULL) {
        return true;
    }
    const char *reason = "is null, a list or a context: nothing could correlate to it";
    if (engine_expression_evaluate(expression, &scene->names, decision->arena, &evaluation) !=
        RESULT_OK) {
        reason = evaluation.error.message;
    } else if (key_text(decision, evaluation.value, key)) {
        return true;
    }
    engine_fail_expression(
        decision, visit, (enum engine_token_state)visit->token->state,
        ENGINE_TEXT(decision, "correlation key of \"%.*s\"", SPAN_ARG(event->id)), reason);
    return false;
}

/* ---- beginning to listen ---- */

static bool is_true(struct engine_decision *decision, const struct engine_expression *condition,
                    struct engine_scene *scene)
{
    struct engine_evaluation evaluation;
    return condition != NULL &&
           engine_expression_evaluate(condition, &scene->names, decision->arena, &evaluation) ==
               RESULT_OK &&
           wire_bool_or(evaluation.value, false);
}

static struct engine_event *emit_subscribed(struct engine_decision *decision,
                                            const struct engine_visit *visit,
                                            const struct engine_node *event, uint32_t place,
                                            enum engine_event_kind kind)
{
    struct engine_event *out = engine_emit_token(decision, ENGINE_EVENT_SUBSCRIBED, visit->token);
    out->node = event->index;
    out->other = place;
    out->flags = kind;
    return out;
}

static bool arm_condition(struct engine_decision *decision, const struct engine_visit *visit,
                          const struct engine_node *event, uint32_t place,
                          struct engine_scene *scene, uint32_t *held)
{
    struct engine_evaluation evaluation = {0};
    const struct engine_expression *condition = event->events[place].condition;
    if (condition != NULL && engine_expression_evaluate(condition, &scene->names, decision->arena,
                                                        &evaluation) != RESULT_OK) {
        engine_fail_expression(decision, visit, (enum engine_token_state)visit->token->state,
                               ENGINE_TEXT(decision, "condition of \"%.*s\"", SPAN_ARG(event->id)),
                               evaluation.error.message);
        return false;
    }
    bool holds = wire_bool_or(evaluation.value, false);
    emit_subscribed(decision, visit, event, place, ENGINE_ON_CONDITION)->count = holds;
    *held += holds;
    return true;
}

static bool arm_name(struct engine_decision *decision, const struct engine_visit *visit,
                     const struct engine_node *event, uint32_t place, struct engine_scene *scene)
{
    struct engine_event_definition definition = definition_at(event, place);
    struct span name;
    struct span key = SPAN_EMPTY;
    if (!engine_listen_name(decision, visit, event, &definition, scene, &name) ||
        (definition.kind == ENGINE_ON_MESSAGE &&
         !engine_listen_key(decision, visit, event, &definition, scene, &key))) {
        return false;
    }
    struct engine_event *out = emit_subscribed(decision, visit, event, place, definition.kind);
    out->text = name;
    out->value = key.count > 0 ? engine_decision_string(decision, key) : SPAN_EMPTY;
    return true;
}

bool engine_listen_arm(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_node *event, struct engine_scene *scene, bool *met)
{
    bool armed = true;
    uint32_t held = 0;
    for (uint32_t i = 0; armed && i < definition_count(event); i++) {
        struct engine_event_definition definition = definition_at(event, i);
        if (definition.kind == ENGINE_ON_TIMER) {
            armed = engine_timer_arm(decision, visit, event, i, scene);
        } else if (definition.kind == ENGINE_ON_CONDITION) {
            armed = arm_condition(decision, visit, event, i, scene, &held);
        } else if (is_listened_for(definition.kind)) {
            armed = arm_name(decision, visit, event, i, scene);
        }
    }
    *met = held >= (needs_all(event) ? event->event_count : 1u);
    return armed;
}

static enum engine_wait wait_kind(const struct engine_node *event)
{
    if (definition_count(event) == 1) {
        enum engine_event_kind kind = definition_at(event, 0).kind;
        if (kind == ENGINE_ON_MESSAGE || kind == ENGINE_ON_SIGNAL) {
            return kind == ENGINE_ON_MESSAGE ? ENGINE_WAIT_MESSAGE : ENGINE_WAIT_SIGNAL;
        }
    }
    return ENGINE_WAIT_EVENT;
}

void engine_listen_wait(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span local)
{
    struct engine_scene scene;
    bool met;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (!engine_listen_arm(decision, visit, visit->node, &scene, &met)) {
        return;
    }
    if (met) {
        engine_listen_finish(decision, visit);
        return;
    }
    engine_wait_open(decision, visit, wait_kind(visit->node), SPAN_EMPTY, ENGINE_NO_DUE);
}

/* ---- what came ---- */

static void emit_caught(struct engine_decision *decision, uint32_t token,
                        const struct engine_news *news)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_CAUGHT);
    event->token = token;
    event->value = news->payload;
    event->text = news->id;
}

static void fire_boundary(struct engine_decision *decision, const struct engine_token *host,
                          const struct engine_scope *scope, const struct engine_news *news)
{
    const struct engine_node *event = &scope->process->nodes[news->node];
    uint32_t token;
    if (event->interrupting) {
        token = engine_scope_interrupt(decision, host, host, event->index, SPAN_EMPTY);
    } else {
        token =
            engine_scope_add_token(decision, scope, event->index, ENGINE_NONE, host, SPAN_EMPTY);
    }
    emit_caught(decision, token, news);
}

static void merge(struct engine_decision *decision, uint32_t scope, struct span payload)
{
    if (wire_is(payload, WIRE_MAP) && wire_count(payload) > 0) {
        struct engine_event *event = engine_emit(decision, ENGINE_EVENT_MERGED);
        event->scope = scope;
        event->flags = ENGINE_PAYLOAD_EXECUTION;
        event->value = arena_copy(decision->arena, payload);
    }
}

/* An event sub-process begins; what came is there for all that runs in it. */
static void begin_handler(struct engine_decision *decision, const struct engine_scope *scope,
                          const struct engine_news *news)
{
    const struct engine_node *start = &scope->process->nodes[news->node];
    uint32_t token = engine_handler_begin(decision, scope, start, NULL, news->payload);
    emit_caught(decision, token, news);
    merge(decision, scope->slot.id, news->payload);
}

/* The first event takes its way out of the gateway and, in the same decision, all others are
 * forgotten (traps.md 6). */
static void fire_arm(struct engine_decision *decision, const struct engine_token *host,
                     const struct engine_scope *scope, const struct engine_news *news)
{
    const struct engine_node *event = &scope->process->nodes[news->node];
    uint32_t flow = ENGINE_NONE;
    for (uint32_t i = 0; i < event->incoming.count; i++) {
        if (scope->process->flows[event->incoming.at[i]].source == host->node) {
            flow = event->incoming.at[i];
            break;
        }
    }
    ASSERT(flow != ENGINE_NONE);
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, host);
    struct engine_event *left = engine_emit_token(decision, ENGINE_EVENT_LEFT, host);
    left->flow = flow;
    left->node = event->index;
    emit_caught(decision, host->slot.id, news);
}

void engine_listen_happen(struct engine_decision *decision, const struct engine_token *host,
                          const struct engine_news *news)
{
    const struct engine_scope *scope = engine_scope_find(decision->execution, host->scope);
    if (host->guard) {
        begin_handler(decision, scope, news);
    } else if (scope->process->nodes[news->node].attached_to == host->node) {
        fire_boundary(decision, host, scope, news);
    } else if (news->node == host->node) {
        emit_caught(decision, host->slot.id, news);
    } else {
        fire_arm(decision, host, scope, news);
    }
}

/* What else the event listens for, besides the definition that has come. */
static bool is_incomplete(const struct engine_execution *execution, const struct engine_token *host,
                          const struct engine_news *news)
{
    for (ENGINE_EACH(const struct engine_subscription, other, &execution->subscriptions,
                     &host->subscriptions, ENGINE_LINK_FIRST)) {
        if (other->node == news->node && other->definition != news->definition && !other->held) {
            return true;
        }
    }
    for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &host->timers,
                     ENGINE_LINK_FIRST)) {
        if (timer->node == news->node && timer->definition != news->definition) {
            return true;
        }
    }
    return false;
}

static void emit_turned(struct engine_decision *decision, const struct engine_token *host,
                        uint32_t node, uint32_t definition, bool held)
{
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_TURNED, host);
    event->node = node;
    event->other = definition;
    event->flags = held;
}

/* One of several has come; what it brings is merged now. */
static void note_part(struct engine_decision *decision, const struct engine_token *host,
                      const struct engine_node *event, const struct engine_news *news)
{
    enum engine_event_kind kind = event->events[news->definition].kind;
    if (kind == ENGINE_ON_MESSAGE || kind == ENGINE_ON_SIGNAL) {
        emit_turned(decision, host, news->node, news->definition, true);
    }
    merge(decision, host->scope, news->payload);
}

/* The event has happened and its host stays: its messages and signals can come again. */
static void reset_parts(struct engine_decision *decision, const struct engine_token *host,
                        uint32_t node)
{
    const struct engine_execution *execution = decision->execution;
    for (ENGINE_EACH(const struct engine_subscription, part, &execution->subscriptions,
                     &host->subscriptions, ENGINE_LINK_FIRST)) {
        if (part->node == node && part->kind != ENGINE_ON_CONDITION && part->held) {
            emit_turned(decision, host, node, part->definition, false);
        }
    }
}

void engine_listen_fire(struct engine_decision *decision, const struct engine_token *host,
                        const struct engine_news *news)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_scope *scope = engine_scope_find(execution, host->scope);
    const struct engine_node *event = &scope->process->nodes[news->node];
    if (needs_all(event) && is_incomplete(execution, host, news)) {
        note_part(decision, host, event, news);
        return;
    }
    bool stays = !event->interrupting && (event->attached_to == host->node || host->guard);
    if (needs_all(event) && stays) {
        reset_parts(decision, host, news->node);
    }
    engine_listen_happen(decision, host, news);
}

void engine_listen_finish(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span payload = engine_listen_came(visit) ? visit->token->answer.body : SPAN_EMPTY;
    if (payload.count > 0) {
        engine_emit_token(decision, ENGINE_EVENT_OUTPUT_SET, visit->token)->value =
            arena_copy(decision->arena, payload);
    }
    merge(decision, visit->token->scope, payload);
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.overlays[0] = wire_is(payload, WIRE_MAP) ? payload : SPAN_EMPTY;
    scene.output = payload.count > 0 ? payload : scene.output;
    if (engine_activity_outputs(decision, visit, &scene, ENGINE_TOKEN_ENTERED)) {
        engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token)->flags =
            visit->node->kind == ENGINE_RECEIVE_TASK;
    }
}

/* ---- conditions ---- */

static bool look_at(struct engine_decision *decision, const struct engine_token *token,
                    const struct engine_subscription *subscription)
{
    struct engine_visit visit = engine_visit_of(decision, token);
    const struct engine_node *event = &visit.scope->process->nodes[subscription->node];
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit.scope, token);
    bool holds = is_true(decision, event->events[subscription->definition].condition, &scene);
    if (holds == subscription->held) {
        return false;
    }
    emit_turned(decision, token, subscription->node, subscription->definition, holds);
    if (holds) {
        const struct engine_news news = {.node = subscription->node,
                                         .definition = subscription->definition};
        engine_listen_fire(decision, token, &news);
    }
    return true;
}

bool engine_listen_look(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_token *token = NULL;
    if (execution->condition_count == 0) {
        return false;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (subscription->kind == ENGINE_ON_CONDITION &&
                engine_listen_is_open(execution, token, subscription) &&
                look_at(decision, token, subscription)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- signals of its own ---- */

static void act_on_told(struct engine_decision *decision, const struct engine_token *token,
                        const struct engine_subscription *subscription)
{
    const struct engine_news news = {.node = subscription->node,
                                     .definition = subscription->definition,
                                     .payload = arena_copy(decision->arena, subscription->payload)};
    bool is_open = engine_listen_is_open(decision->execution, token, subscription);
    struct engine_event *heard = engine_emit_token(decision, ENGINE_EVENT_HEARD, token);
    heard->node = news.node;
    heard->other = news.definition;
    if (is_open) { /* another one may have come before it */
        engine_listen_fire(decision, token, &news);
    }
}

bool engine_listen_told(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    const struct engine_token *token = NULL;
    if (execution->told_count == 0) {
        return false;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (subscription->told) {
                act_on_told(decision, token, subscription);
                return true;
            }
        }
    }
    ASSERT_UNREACHABLE();
}

/* ---- listing ---- */

uint32_t engine_subscriptions(const struct engine_execution *execution, struct wire_writer *writer)
{
    const struct engine_token *token = NULL;
    uint32_t count = 0;
    if (execution->end != ENGINE_END_NONE || execution->subscription_count == 0) {
        return 0;
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        const struct engine_process *process = engine_scope_find(execution, token->scope)->process;
        for (ENGINE_EACH(const struct engine_subscription, subscription, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (subscription->kind == ENGINE_ON_CONDITION ||
                !engine_listen_is_open(execution, token, subscription)) {
                continue;
            }
            bool keyed = subscription->key.count > 0;
            wire_write_map(writer, 4u + keyed);
            ENGINE_PACK_UINT(writer, "token", token->slot.id);
            ENGINE_PACK_STRING(writer, "taskId", process->nodes[subscription->node].id);
            ENGINE_PACK_STRING(writer, "kind",
                               span_text(engine_event_kind_name(subscription->kind)));
            ENGINE_PACK_STRING(writer, "name", subscription->name);
            if (keyed) {
                ENGINE_PACK_STRING(writer, "correlationKey", subscription->key);
            }
            count++;
        }
    }
    return count;
}
