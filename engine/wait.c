/*
 * wait.c: see wait.h.
 */
#include "engine/wait.h"

#include "engine/failure.h"
#include "engine/names.h"
#include "engine/scope.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static const char *const wait_names[ENGINE_WAIT_COUNT] = {
    [ENGINE_WAIT_NONE] = "none",       [ENGINE_WAIT_CALLBACK] = "callback",
    [ENGINE_WAIT_HUMAN] = "human",     [ENGINE_WAIT_TIMER] = "timer",
    [ENGINE_WAIT_MESSAGE] = "message", [ENGINE_WAIT_SIGNAL] = "signal",
    [ENGINE_WAIT_RETRY] = "retry",     [ENGINE_WAIT_EVENT] = "event",
};

const char *engine_wait_name(uint8_t wait)
{
    ASSERT(wait < ENGINE_WAIT_COUNT);
    return wait_names[wait];
}

uint8_t engine_wait_parse(struct span name)
{
    for (uint8_t wait = ENGINE_WAIT_CALLBACK; wait < ENGINE_WAIT_COUNT; wait++) {
        if (span_is(name, wait_names[wait])) {
            return wait;
        }
    }
    return ENGINE_WAIT_NONE;
}

void engine_wait_open(struct engine_decision *decision, const struct engine_visit *visit,
                      enum engine_wait wait, struct span detail, int64_t due_ms)
{
    if (wait != ENGINE_WAIT_RETRY) { /* the step of a retry is not over */
        engine_decision_step(decision, visit->token, true);
    }
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_WAITED, visit->token);
    event->flags = wait;
    event->value = detail;
    event->at_ms = due_ms;
}

/* ---- human tasks ---- */

/* A list, or a text of names with commas between, as an ARRAY of texts. */
static void write_names(struct wire_writer *writer, struct span value)
{
    if (wire_is(value, WIRE_ARRAY)) {
        wire_write_raw(writer, value);
        return;
    }
    struct span text = wire_string_or(value, "");
    size_t mark = wire_open_array(writer);
    uint32_t count = 0;
    while (text.count > 0) {
        const uint8_t *comma = memchr(text.bytes, ',', text.count);
        size_t length = comma == NULL ? text.count : (size_t)(comma - text.bytes);
        struct span name = span_trim(span_of(text.bytes, length));
        if (name.count > 0) {
            wire_write_string(writer, name);
            count++;
        }
        size_t used = length + (comma != NULL);
        text = span_of(text.bytes + used, text.count - used);
    }
    wire_close_array(writer, mark, count);
}

/* Evaluates one part of the assignment; an absent or null one is left out. */
static bool write_part(struct engine_decision *decision, const struct engine_visit *visit,
                       struct engine_scene *scene, struct wire_writer *writer, const char *key,
                       const struct engine_expression *expression, bool list, uint32_t *count)
{
    struct engine_evaluation evaluation;
    if (expression == NULL) {
        return true;
    }
    if (engine_expression_evaluate(expression, &scene->names, decision->arena, &evaluation) !=
        RESULT_OK) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED, span_text(key),
                               evaluation.error.message);
        return false;
    }
    if (wire_head(evaluation.value).type == WIRE_NIL) {
        return true;
    }
    wire_write_text(writer, key);
    if (list) {
        write_names(writer, evaluation.value);
    } else {
        wire_write_value(writer, evaluation.value);
    }
    (*count)++;
    return true;
}

void engine_wait_human(struct engine_decision *decision, const struct engine_visit *visit,
                       struct span local)
{
    const struct engine_assignment *assignment = &visit->node->assignment;
    struct engine_scene scene;
    struct wire_writer writer;
    uint32_t count = 0;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    wire_writer_init(&writer, decision->arena, 128 + local.count);
    size_t mark = wire_open_map(&writer);
    if (!write_part(decision, visit, &scene, &writer, "assignee", assignment->assignee, false,
                    &count) ||
        !write_part(decision, visit, &scene, &writer, "candidateGroups",
                    assignment->candidate_groups, true, &count) ||
        !write_part(decision, visit, &scene, &writer, "candidateUsers", assignment->candidate_users,
                    true, &count) ||
        !write_part(decision, visit, &scene, &writer, "dueAt", assignment->due_date, false,
                    &count)) {
        return;
    }
    if (assignment->form_key.count > 0) {
        wire_pair_string(&writer, "formKey", assignment->form_key);
        count++;
    }
    wire_close_map(&writer, mark, count);
    engine_wait_open(decision, visit, ENGINE_WAIT_HUMAN,
                     count == 0 ? SPAN_EMPTY : wire_writer_span(&writer), ENGINE_NO_DUE);
}

/* ---- callbacks ---- */

bool engine_wait_is_named(const struct engine_execution *execution,
                          const struct engine_token *token, struct span task_id)
{
    char step_id[UUID_TEXT_BYTES + 1];
    if (span_equal(engine_token_node(execution, token)->id, task_id)) {
        return true;
    }
    if (task_id.count != UUID_TEXT_BYTES || token->sequence == 0) {
        return false;
    }
    uuid_format(engine_step_id(execution, token->sequence), step_id);
    return span_equal(span_of(step_id, UUID_TEXT_BYTES), task_id);
}

/* A receive task that waits for its message takes a callback that names it, too. */
static bool takes_callback(const struct engine_execution *execution,
                           const struct engine_token *token, struct span task_id)
{
    if (token->state != ENGINE_TOKEN_WAITING) {
        return false;
    }
    const struct engine_node *node = engine_token_node(execution, token);
    if (token->wait == ENGINE_WAIT_MESSAGE) {
        return node->kind == ENGINE_RECEIVE_TASK && engine_wait_is_named(execution, token, task_id);
    }
    return (token->wait == ENGINE_WAIT_CALLBACK || token->wait == ENGINE_WAIT_HUMAN) &&
           (task_id.count == 0 || engine_wait_is_named(execution, token, task_id));
}

const struct engine_token *engine_wait_next(const struct engine_execution *execution,
                                            struct span task_id, const struct engine_token *after)
{
    uint32_t slot =
        after == NULL ? execution->parked.first : after->slot.links[ENGINE_LINK_QUEUE].next;
    const struct engine_token *token = engine_token_at(execution, slot);
    while (token != NULL && !takes_callback(execution, token, task_id)) {
        token = engine_token_at(execution, token->slot.links[ENGINE_LINK_QUEUE].next);
    }
    return token;
}

struct span engine_wait_content(struct engine_decision *decision, struct span payload,
                                struct span output, struct span error)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, payload.count + output.count + error.count + 16);
    wire_write_array(&writer, 3);
    wire_write_value(&writer, payload);
    wire_write_value(&writer, output);
    wire_write_value(&writer, error);
    return wire_writer_span(&writer);
}

bool engine_wait_take_kept(struct engine_decision *decision)
{
    const struct engine_execution *execution = decision->execution;
    for (uint32_t i = 0; i < execution->inbox_count; i++) {
        const struct engine_token *token =
            engine_wait_next(execution, execution->inbox[i].task_id, NULL);
        if (token != NULL) {
            struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_CALLBACK, token);
            event->value = arena_copy(decision->arena, execution->inbox[i].content);
            event->other = i + 1;
            return true;
        }
    }
    return false;
}
