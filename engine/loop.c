/*
 * loop.c: see loop.h.
 */
#include "engine/loop.h"

#include "engine/activity.h"
#include "engine/compensation.h"
#include "engine/element/element.h"
#include "engine/failure.h"
#include "engine/fields.h"
#include "engine/publish.h"
#include "engine/scope.h"
#include "engine/throwing.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/writer.h"

#define INSTANCES_UNKNOWN UINT32_MAX /* a standard loop without loopMaximum */

static bool collects(const struct engine_loop *loop)
{
    return loop->output_collection.count > 0;
}

static bool evaluate(struct engine_decision *decision, const struct engine_visit *visit,
                     struct engine_scene *scene, const char *what,
                     const struct engine_expression *expression, struct span *value)
{
    struct engine_evaluation evaluation = {0};
    if (engine_expression_evaluate(expression, &scene->names, decision->arena, &evaluation) !=
        RESULT_OK) {
        engine_fail_expression(decision, visit, (enum engine_token_state)visit->token->state,
                               span_text(what), evaluation.error.message);
        return false;
    }
    *value = evaluation.value;
    return true;
}

static bool evaluate_condition(struct engine_decision *decision, const struct engine_visit *visit,
                               struct engine_scene *scene, const char *what, bool *is_true)
{
    struct span value;
    if (!evaluate(decision, visit, scene, what, visit->node->loop.condition, &value)) {
        return false;
    }
    *is_true = wire_bool_or(value, false);
    return true;
}

/* ---- an instance's own variables ---- */

/*
 * The variable that an output element names, `=result`, `${task.result}` or `{{ result }}`: it
 * belongs to the instance, so that instances do not overwrite each other's. Empty when the
 * expression is more than a name.
 */
static struct span output_name(const struct engine_loop *loop)
{
    if (!collects(loop) || loop->output_element == NULL) {
        return SPAN_EMPTY;
    }
    struct span text = engine_expression_source(loop->output_element);
    size_t first = 0, last;
    while (text.count > 0 && strchr("} \t\n", text.bytes[text.count - 1]) != NULL) {
        text.count--;
    }
    while (first < text.count && strchr("=${# \t\n", text.bytes[first]) != NULL) {
        first++;
    }
    for (last = first; last < text.count; last++) {
        uint8_t byte = text.bytes[last];
        bool letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';
        bool digit = byte >= '0' && byte <= '9' && last > first;
        if (!letter && !digit && byte != '_') {
            break;
        }
    }
    for (size_t i = last; i < text.count; i++) {
        if (strchr("+-*/%<>=()[],?:\"'|&!", text.bytes[i]) != NULL || text.bytes[i] == ' ') {
            return SPAN_EMPTY;
        }
    }
    return span_of(text.bytes + first, last - first);
}

static struct span own_variables(struct engine_decision *decision, const struct engine_loop *loop,
                                 struct span item, uint32_t instance)
{
    struct wire_writer writer;
    struct span output = output_name(loop);
    bool has_element = item.count > 0 && loop->element_variable.count > 0;
    bool has_output = output.count > 0 && !span_is(output, "loopCounter") &&
                      !span_equal(output, loop->element_variable);
    wire_writer_init(&writer, decision->arena, 64 + item.count);
    wire_write_map(&writer, 1u + has_element + has_output);
    if (has_element) {
        wire_write_string(&writer, loop->element_variable);
        wire_write_value(&writer, item);
    }
    if (has_output) {
        wire_write_string(&writer, output);
        wire_write_nil(&writer);
    }
    wire_pair_int(&writer, "loopCounter", instance);
    return wire_writer_span(&writer);
}

/* Its event: valid until the next one. */
static struct engine_event *make_instance(struct engine_decision *decision, uint32_t scope,
                                          const struct engine_visit *visit, struct span item,
                                          uint32_t instance)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_INSTANCE_CREATED);
    event->token = engine_decision_token_id(decision);
    event->scope = scope;
    event->node = visit->node->index;
    event->count = instance;
    event->other = visit->token->slot.id;
    event->value = own_variables(decision, &visit->node->loop, item, instance);
    return event;
}

/* The element of the instance that comes next; empty when there is no collection. */
static struct span next_item(const struct engine_scope *body)
{
    struct span item = SPAN_EMPTY;
    struct wire_map_walk walk = wire_array_begin(body->items);
    if (body->item_offset > 0) {
        walk.cursor.next = body->items.bytes + body->item_offset;
    }
    if (body->items.count > 0) {
        enum result result = wire_take(&walk.cursor, &item);
        ASSERT(result == RESULT_OK); /* as many as it has were promised */
    }
    return item;
}

static void make_next(struct engine_decision *decision, const struct engine_visit *visit)
{
    (void)make_instance(decision, visit->scope->slot.id, visit, next_item(visit->scope),
                        visit->scope->begun + 1);
}

/* ---- the body opens ---- */

static void open_body(struct engine_decision *decision, const struct engine_visit *visit,
                      uint32_t total, struct span items, bool is_step)
{
    struct engine_event *event =
        engine_emit_token(decision, ENGINE_EVENT_SCOPE_OPENED, visit->token);
    uint32_t scope = engine_decision_scope_id(decision);
    event->scope = scope;
    event->flags = ENGINE_SCOPE_BODY;
    event->count = total;
    event->value = items;
    make_instance(decision, scope, visit, wire_at(items, 0), 1)->flags = is_step;
}

static void merge_collection(struct engine_decision *decision, const struct engine_visit *visit,
                             struct span values)
{
    engine_emit_variables(
        decision, visit->token,
        engine_fields_single(decision->arena, visit->node->loop.output_collection, values));
}

/* Nothing to do: done at once. */
static void pass(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (collects(&visit->node->loop)) {
        struct wire_writer writer;
        wire_writer_init(&writer, decision->arena, 8);
        wire_write_array(&writer, 0);
        merge_collection(decision, visit, wire_writer_span(&writer));
    }
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
}

/* traps.md 12: none is legal, less than none is an error. */
static bool count_instances(struct engine_decision *decision, const struct engine_visit *visit,
                            struct engine_scene *scene, int64_t *total, struct span *items)
{
    const struct engine_loop *loop = &visit->node->loop;
    const char *what = loop->collection != NULL ? "collection" : "cardinality";
    const struct engine_expression *expression =
        loop->collection != NULL ? loop->collection : loop->cardinality;
    const char *reason = "it says neither how many instances nor a collection";
    struct span value = SPAN_EMPTY;
    if (expression != NULL && !evaluate(decision, visit, scene, what, expression, &value)) {
        return false;
    }
    *items = SPAN_EMPTY;
    *total = -1;
    if (loop->collection != NULL) {
        reason = "it is no list";
        *items = arena_copy(decision->arena, value);
        *total = wire_is(value, WIRE_ARRAY) ? (int64_t)wire_count(value) : -1;
    } else if (expression != NULL) {
        reason = "it is no whole number from 0 on";
        *total = wire_int_or(value, -1);
    }
    if (*total < 0) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text(what), reason);
    }
    return *total >= 0;
}

static void open_instances(struct engine_decision *decision, const struct engine_visit *visit,
                           struct engine_scene *scene)
{
    int64_t total;
    struct span items;
    if (!count_instances(decision, visit, scene, &total, &items)) {
        return;
    }
    if (total == 0) {
        pass(decision, visit);
    } else if (total > LIMIT_TOKENS - decision->execution->token_count) {
        engine_fail(decision, visit, ENGINE_TOKEN_ENTERED, span_text("StepLimitExceeded"),
                    ENGINE_TEXT(decision, "\"%.*s\" has %lld instances; more than %u tokens",
                                SPAN_ARG(visit->node->id), (long long)total, LIMIT_TOKENS));
    } else {
        engine_decision_step(decision, visit->token, false);
        open_body(decision, visit, (uint32_t)total, items, false);
    }
}

static bool read_maximum(struct engine_decision *decision, const struct engine_visit *visit,
                         struct engine_scene *scene, uint32_t *maximum)
{
    struct span value;
    *maximum = INSTANCES_UNKNOWN;
    if (visit->node->loop.maximum == NULL) {
        return true;
    }
    if (!evaluate(decision, visit, scene, "loopMaximum", visit->node->loop.maximum, &value)) {
        return false;
    }
    int64_t number = wire_int_or(value, -1);
    if (number < 0) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text("loopMaximum"),
                               "it is no whole number from 0 on");
        return false;
    }
    *maximum = number < INSTANCES_UNKNOWN ? (uint32_t)number : INSTANCES_UNKNOWN;
    return true;
}

/* traps.md 12: tested after each pass, and before the first one only where it says so. */
static void open_loop(struct engine_decision *decision, const struct engine_visit *visit,
                      struct engine_scene *scene)
{
    const struct engine_loop *loop = &visit->node->loop;
    uint32_t maximum;
    bool goes_on = true;
    if (!read_maximum(decision, visit, scene, &maximum)) {
        return;
    }
    scene->own = own_variables(decision, loop, SPAN_EMPTY, 0);
    if (loop->test_before && loop->condition != NULL &&
        !evaluate_condition(decision, visit, scene, "loopCondition", &goes_on)) {
        return;
    }
    if (!goes_on || maximum == 0) {
        pass(decision, visit);
    } else {
        open_body(decision, visit, maximum, SPAN_EMPTY, true);
    }
}

static void work(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (!engine_activity_listen(decision, visit, &scene)) {
        return;
    }
    if (visit->node->loop.kind == ENGINE_LOOP_STANDARD) {
        open_loop(decision, visit, &scene);
    } else {
        open_instances(decision, visit, &scene);
    }
}

/* ---- instances come and go ---- */

void engine_loop_arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_scope *body = visit->scope;
    bool is_newest = visit->token->instance == body->begun;
    if (visit->node->loop.kind == ENGINE_LOOP_PARALLEL && is_newest && body->begun < body->total) {
        make_next(decision, visit);
    }
}

/* What the instance adds to the output collection: by default its work's `output`. */
static bool find_result(struct engine_decision *decision, const struct engine_visit *visit,
                        struct engine_scene *scene, struct span *value)
{
    const struct engine_loop *loop = &visit->node->loop;
    *value = SPAN_EMPTY;
    if (!collects(loop)) {
        return true; /* field report F28 */
    }
    if (loop->output_element == NULL) {
        *value = arena_copy(decision->arena, visit->token->output);
        return true;
    }
    if (!evaluate(decision, visit, scene, "output element", loop->output_element, value)) {
        return false;
    }
    *value = arena_copy(decision->arena, *value);
    return true;
}

enum next { NEXT_WAIT, NEXT_INSTANCE, NEXT_END };

/* What its end means for the body. False: a condition failed, which was decided on. */
static bool find_next(struct engine_decision *decision, const struct engine_visit *visit,
                      struct engine_scene *scene, enum next *next)
{
    const struct engine_scope *body = visit->scope;
    bool is_loop = visit->node->loop.kind == ENGINE_LOOP_STANDARD;
    bool is_true = is_loop;
    bool has_more = body->begun < body->total;
    if (visit->node->loop.condition != NULL && (has_more || !is_loop)) {
        const char *what = is_loop ? "loopCondition" : "completionCondition";
        if (!evaluate_condition(decision, visit, scene, what, &is_true)) {
            return false;
        }
    }
    *next = is_true != is_loop ? NEXT_END : NEXT_INSTANCE;
    if (*next == NEXT_INSTANCE && visit->node->loop.kind == ENGINE_LOOP_PARALLEL) {
        *next = body->live == 1 ? NEXT_END : NEXT_WAIT;
    } else if (*next == NEXT_INSTANCE && !has_more) {
        *next = NEXT_END;
    }
    return true;
}

/* The others are not needed any more. */
static void cancel_others(struct engine_decision *decision, const struct engine_visit *visit)
{
    if (visit->scope->live > 1) {
        engine_scope_cancel_others(decision, visit->scope, visit->token);
        engine_emit(decision, ENGINE_EVENT_SCOPE_CLEARED)->scope = visit->scope->slot.id;
    }
}

/* False: the instance is gone, or something failed; that was decided on. */
static bool throw_one(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_event_definition *event, uint32_t place)
{
    struct span code;
    if (event->kind == ENGINE_ON_MESSAGE || event->kind == ENGINE_ON_SIGNAL) {
        return engine_publish_one(decision, visit, event, place, SPAN_EMPTY);
    }
    if (!engine_throwing_code(decision, visit, event, &code)) {
        return false;
    }
    if (event->kind == ENGINE_ON_ESCALATION) {
        return engine_escalate(decision, visit, code);
    }
    engine_throw(
        decision, visit, ENGINE_TOKEN_LEAVING, code,
        ENGINE_TEXT(decision, "an instance of \"%.*s\" has completed", SPAN_ARG(visit->node->id)));
    return false;
}

/* BPMN 2.0.2 table 10.29, behavior: an instance that has completed may throw events, which the
 * boundary events around all instances catch. False as above. */
static bool throw_all(struct engine_decision *decision, const struct engine_visit *visit,
                      struct engine_scene *scene)
{
    const struct engine_loop *loop = &visit->node->loop;
    for (uint32_t i = 0; i < loop->throw_count; i++) {
        const struct engine_loop_throw *rule = &loop->throws[i];
        struct span value = SPAN_EMPTY;
        if (rule->condition != NULL &&
            !evaluate(decision, visit, scene, "complexBehaviorDefinition", rule->condition,
                      &value)) {
            return false;
        }
        bool is_met = rule->condition == NULL || wire_bool_or(value, false);
        if (is_met && !throw_one(decision, visit, &rule->event, i)) {
            return false;
        }
    }
    return true;
}

void engine_loop_leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_scene scene;
    struct span value;
    enum next next;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.done_too = 1;
    if (!find_result(decision, visit, &scene, &value) ||
        !find_next(decision, visit, &scene, &next) || !throw_all(decision, visit, &scene)) {
        return;
    }
    engine_decision_step(decision, visit->token, false);
    if (next == NEXT_INSTANCE) { /* before this one goes: it goes on on its path */
        make_next(decision, visit);
    }
    engine_emit_token(decision, ENGINE_EVENT_INSTANCE_DONE, visit->token)->value = value;
    if (next == NEXT_END) {
        cancel_others(decision, visit);
        engine_scope_spend(decision, visit->scope);
    }
}

/* ---- the body is done ---- */

/* In order of the collection; nil for an instance that did not complete. */
static struct span collection_of(struct engine_decision *decision, const struct engine_scope *body,
                                 bool is_loop)
{
    const struct engine_execution *execution = decision->execution;
    uint32_t count = is_loop ? body->begun : body->total;
    struct span *values = arena_zero(decision->arena, count * sizeof *values);
    struct wire_writer writer;
    if (values == NULL) {
        return SPAN_EMPTY;
    }
    for (ENGINE_EACH(const struct engine_instance_result, result, &execution->results,
                     &body->results, ENGINE_LINK_FIRST)) {
        ASSERT(result->instance > 0 && result->instance <= count);
        values[result->instance - 1] = result->value;
    }
    wire_writer_init(&writer, decision->arena, 64 + 16 * (size_t)count);
    wire_write_array(&writer, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_write_value(&writer, values[i]);
    }
    return wire_writer_span(&writer);
}

static void back(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_loop *loop = &visit->node->loop;
    const struct engine_scope *body = engine_scope_find(decision->execution, visit->token->child);
    if (collects(loop)) {
        struct span values = collection_of(decision, body, loop->kind == ENGINE_LOOP_STANDARD);
        size_t offset;
        const char *reason;
        if (wire_validate(values, LIMIT_DEPTH, &offset, &reason) != RESULT_OK) {
            engine_fail_expression(decision, visit, ENGINE_TOKEN_RETURNING,
                                   span_text("output collection"), "nested too deep");
            return;
        }
        merge_collection(decision, visit, values);
    }
    engine_compensation_close(decision, visit);
    engine_emit_token(decision, ENGINE_EVENT_COMPLETED, visit->token);
}

/* How it comes and goes is its kind's. */
static void arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_element_of(visit->node->kind)->arrive(decision, visit);
}

static void leave(struct engine_decision *decision, const struct engine_visit *visit)
{
    engine_element_of(visit->node->kind)->leave(decision, visit);
}

const struct engine_element_ops engine_element_loop = {
    .name = "loop",
    .arrive = arrive,
    .work = work,
    .answer = engine_never,
    .back = back,
    .leave = leave,
    .cancel = engine_cancel_nothing,
};
