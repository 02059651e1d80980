/*
 * decision.c: see decision.h.
 */
#include "engine/decision.h"

#include "engine/apply.h"
#include "engine/element/element.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/writer.h"

enum { EVENTS_AT_FIRST = 16, EFFECTS_AT_FIRST = 4 };

void engine_output_init(struct engine_output *output, struct arena *arena)
{
    *output = (struct engine_output){.arena = arena};
}

void engine_decision_begin(struct engine_decision *decision,
                           const struct engine_execution *execution, struct engine_output *output)
{
    decision->execution = execution;
    decision->output = output;
    decision->arena = output->arena;
    decision->event_mark = output->event_count;
    decision->tokens_made = 0;
    decision->scopes_made = 0;
    decision->calls_made = 0;
    decision->step_due = false;
    if (output->event_count == 0) {
        output->first_event_sequence = execution->event_sequence + 1;
    }
}

const struct engine_modules *engine_decision_modules(const struct engine_decision *decision)
{
    const struct engine_catalog *catalog = decision->execution->catalog;
    const struct engine_modules *modules = catalog->modules(catalog, decision->execution->project);
    ASSERT(modules != NULL);
    return modules;
}

void engine_decision_rewind(struct engine_decision *decision)
{
    ASSERT(decision->output->event_count >= decision->event_mark);
    decision->output->event_count = decision->event_mark;
    decision->step_due = false;
}

struct engine_visit engine_visit_of(const struct engine_decision *decision,
                                    const struct engine_token *token)
{
    const struct engine_scope *scope = engine_scope_find(decision->execution, token->scope);
    ASSERT(scope != NULL && token->node < scope->process->node_count);
    const struct engine_node *node = &scope->process->nodes[token->node];
    return (struct engine_visit){token, scope, node, engine_element_in(scope, node)};
}

/* Doubles an array in the arena; the old one is left behind, since another allocation may have
 * followed it. */
static void *grown(struct arena *arena, void *old, uint32_t count, uint32_t *capacity,
                   size_t item_bytes, uint32_t first)
{
    uint32_t wanted = *capacity == 0 ? first : 2 * *capacity;
    void *items = arena_alloc(arena, wanted * item_bytes);
    if (items == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(items, old, count * item_bytes);
    }
    *capacity = wanted;
    return items;
}

struct engine_event *engine_emit(struct engine_decision *decision, enum engine_event_type type)
{
    struct engine_output *output = decision->output;
    struct engine_event *event = &decision->spare;
    if (output->event_count == output->event_capacity) {
        void *events = grown(decision->arena, output->events, output->event_count,
                             &output->event_capacity, sizeof(struct engine_event), EVENTS_AT_FIRST);
        output->events = events == NULL ? output->events : events;
    }
    if (output->event_count < output->event_capacity) {
        event = &output->events[output->event_count++];
    }
    memset(event, 0, sizeof *event);
    event->type = type;
    return event;
}

struct engine_event *engine_emit_token(struct engine_decision *decision,
                                       enum engine_event_type type,
                                       const struct engine_token *token)
{
    struct engine_event *event = engine_emit(decision, type);
    event->token = token->slot.id;
    event->scope = token->scope;
    event->node = token->node;
    return event;
}

void engine_emit_variables(struct engine_decision *decision, const struct engine_token *token,
                           struct span variables)
{
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_MERGED);
    event->token = token->slot.id;
    event->scope = token->scope;
    event->flags = ENGINE_PAYLOAD_EXECUTION;
    event->value = variables;
}

struct engine_effect *engine_emit_effect(struct engine_decision *decision,
                                         enum engine_effect_kind kind)
{
    struct engine_output *output = decision->output;
    if (output->effect_count == output->effect_capacity) {
        void *effects =
            grown(decision->arena, output->effects, output->effect_count, &output->effect_capacity,
                  sizeof(struct engine_effect), EFFECTS_AT_FIRST);
        if (effects == NULL) {
            return NULL;
        }
        output->effects = effects;
    }
    struct engine_effect *effect = &output->effects[output->effect_count++];
    memset(effect, 0, sizeof *effect);
    effect->kind = kind;
    return effect;
}

void engine_emit_log(struct engine_decision *decision, unsigned level,
                     const struct engine_visit *visit, struct span message)
{
    ASSERT(level < ENGINE_LEVEL_COUNT);
    struct engine_event *event = engine_emit(decision, ENGINE_EVENT_LOGGED);
    event->scope = visit == NULL ? 0 : visit->token->scope;
    event->node = visit == NULL ? ENGINE_NONE : visit->node->index;
    event->flags = level;
    event->text = message;
}

uint32_t engine_decision_token_id(struct engine_decision *decision)
{
    return decision->execution->token_next + decision->tokens_made++;
}

uint32_t engine_decision_scope_id(struct engine_decision *decision)
{
    return decision->execution->scope_next + decision->scopes_made++;
}

uint32_t engine_decision_call_number(struct engine_decision *decision)
{
    return decision->execution->call_last + ++decision->calls_made;
}

/* Of its collection, in the step blobs of one body. */
#define BODY_STEP_BYTES_MAX (4u << 20)

/*
 * A blob holds all payloads, the collection of a body among them. So that n instances over n
 * elements cost linear space, only the first LIMIT_HISTORY of a body have them in their blobs, and
 * of a large collection fewer (field report F143).
 */
static bool is_far_instance(const struct engine_execution *execution,
                            const struct engine_token *token)
{
    while (token != NULL) {
        const struct engine_scope *scope = engine_scope_find(execution, token->scope);
        uint64_t copied_bytes = (uint64_t)token->instance * scope->items.count;
        if (token->instance > LIMIT_HISTORY || copied_bytes > BODY_STEP_BYTES_MAX) {
            return true;
        }
        token = engine_token_find(execution, scope->host);
    }
    return false;
}

void engine_decision_step(struct engine_decision *decision, const struct engine_token *token,
                          bool waits)
{
    ASSERT(!decision->step_due);
    if (token->sequence == 0 || token->shown) {
        return;
    }
    decision->step_due = true;
    decision->step = (struct engine_step){.sequence = token->sequence,
                                          .node = token->node,
                                          .token = token->slot.id,
                                          .scope = token->scope,
                                          .wait = waits,
                                          .far = is_far_instance(decision->execution, token),
                                          .attempts = token->attempts,
                                          .retries = token->retries,
                                          .callbacks = token->callbacks,
                                          .instance = token->instance,
                                          .called_ms = token->called_ms,
                                          .answered_ms = token->answered_ms,
                                          .own = token->own,
                                          .output = token->output};
}

struct span engine_decision_string(struct engine_decision *decision, struct span text)
{
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, text.count + 8);
    wire_write_string(&writer, text);
    return wire_writer_span(&writer);
}
