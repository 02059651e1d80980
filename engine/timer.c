/*
 * timer.c: see timer.h.
 */
#include "engine/timer.h"

#include "engine/apply.h"
#include "engine/failure.h"
#include "engine/listen.h"
#include "engine/time/iso8601.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

/* A timer's first due time. `cycle`: its text when it repeats, else empty. */
struct moment {
    int64_t due_ms;
    struct span cycle;
    const char *reason; /* why there is none */
    bool in_past;
    bool is_never; /* a cycle of no times, or one whose end has passed */
};

static bool read_moment(enum engine_timer_kind kind, struct span text, int64_t now_ms,
                        struct moment *moment)
{
    struct engine_duration duration;
    struct engine_cycle cycle;
    switch (kind) {
    case ENGINE_TIMER_DATE:
        return engine_instant_parse(text, &moment->due_ms, &moment->reason) == RESULT_OK;
    case ENGINE_TIMER_DURATION:
        if (engine_duration_parse(text, &duration, &moment->reason) != RESULT_OK) {
            return false;
        }
        moment->due_ms = engine_duration_after(now_ms, duration);
        moment->in_past = moment->due_ms < now_ms;
        return true;
    case ENGINE_TIMER_CYCLE:
        if (engine_cycle_parse(text, &cycle, &moment->reason) != RESULT_OK) {
            return false;
        }
        moment->cycle = text;
        moment->reason = "the cycle never fires";
        moment->is_never = !engine_cycle_due(&cycle, now_ms, 0, now_ms, &moment->due_ms);
        return true;
    case ENGINE_TIMER_NONE:
        break;
    }
    moment->reason = "it says neither a date nor a duration nor a cycle";
    return false;
}

/* Field report F59: a negative duration counts as now, once, with a warning. */
static void warn_of_past(struct engine_decision *decision, const struct engine_visit *visit,
                         const struct engine_node *node, struct span text)
{
    engine_emit_log(decision, ENGINE_LEVEL_WARN, visit,
                    ENGINE_TEXT(decision,
                                "timer \"%.*s\": the duration %.*s is negative and counts as now",
                                SPAN_ARG(node->id), SPAN_ARG(text)));
}

/* What waits for nothing but the timer would wait for ever, and of several triggers that are all
 * needed one would be missing; a host, a scope or a gateway does without. */
static bool needs_to_fire(const struct engine_visit *visit, const struct engine_node *event)
{
    return event->index == visit->node->index ? event->event_count == 1 || event->parallel_multiple
                                              : event->event_count > 1 && event->parallel_multiple;
}

static bool find_moment(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_node *node, uint32_t place, struct engine_scene *scene,
                        struct moment *moment)
{
    const struct engine_event_definition *definition = &node->events[place];
    struct engine_evaluation evaluation = {0};
    enum engine_token_state resume = (enum engine_token_state)visit->token->state;
    struct span what = ENGINE_TEXT(decision, "timer \"%.*s\"", SPAN_ARG(node->id));
    *moment = (struct moment){.due_ms = ENGINE_NO_DUE};
    if (definition->timer_value != NULL &&
        engine_expression_evaluate(definition->timer_value, &scene->names, decision->arena,
                                   &evaluation) != RESULT_OK) {
        engine_fail_expression(decision, visit, resume, what, evaluation.error.message);
        return false;
    }
    struct span text = wire_string_or(evaluation.value, "");
    int64_t now_ms = decision->execution->now_ms;
    bool is_text = definition->timer_value == NULL || wire_is(evaluation.value, WIRE_STRING);
    bool is_read = is_text && read_moment(definition->timer, text, now_ms, moment);
    if (!is_read || (moment->is_never && needs_to_fire(visit, node))) {
        struct span reason =
            is_text ? ENGINE_TEXT(decision, "\"%.*s\": %s", SPAN_ARG(text), moment->reason)
                    : ENGINE_TEXT(decision, "it is %s, and no time",
                                  wire_is(evaluation.value, WIRE_NIL) ? "null" : "no text");
        engine_fail_expression(decision, visit, resume, what, (const char *)reason.bytes);
        return false;
    }
    if (moment->is_never) {
        engine_emit_log(decision, ENGINE_LEVEL_INFO, visit,
                        ENGINE_TEXT(decision, "timer \"%.*s\": the cycle %.*s never fires",
                                    SPAN_ARG(node->id), SPAN_ARG(text)));
    }
    if (moment->in_past) {
        warn_of_past(decision, visit, node, text);
        moment->due_ms = now_ms;
    }
    return true;
}

bool engine_timer_arm(struct engine_decision *decision, const struct engine_visit *visit,
                      const struct engine_node *event, uint32_t place, struct engine_scene *scene)
{
    struct moment moment;
    if (!find_moment(decision, visit, event, place, scene, &moment)) {
        return false;
    }
    if (moment.is_never) {
        return true;
    }
    struct engine_event *armed =
        engine_emit_token(decision, ENGINE_EVENT_TIMER_ARMED, visit->token);
    armed->node = event->index;
    armed->other = place;
    armed->at_ms = moment.due_ms;
    armed->text = moment.cycle;
    return true;
}

bool engine_timer_due(struct engine_decision *decision, const struct engine_visit *visit,
                      int64_t *due_ms)
{
    struct moment moment;
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    bool found = find_moment(decision, visit, visit->node, 0, &scene, &moment);
    *due_ms = moment.due_ms;
    return found;
}

/* Field report F55: a cycle that slept through several ticks fires once, and its next due time lies
 * in the future. */
static int64_t next_due(const struct engine_decision *decision, const struct engine_timer *timer)
{
    struct engine_cycle cycle;
    const char *reason;
    int64_t due_ms;
    int64_t now_ms = decision->execution->now_ms;
    int64_t after_ms = timer->due_ms > now_ms ? timer->due_ms : now_ms;
    if (timer->cycle.count == 0 || engine_cycle_parse(timer->cycle, &cycle, &reason) != RESULT_OK ||
        !engine_cycle_due(&cycle, timer->armed_ms, timer->fired + 1u, after_ms, &due_ms)) {
        return ENGINE_NO_DUE;
    }
    return due_ms;
}

void engine_timer_fire(struct engine_decision *decision, const struct engine_token *host,
                       const struct engine_timer *timer)
{
    const struct engine_scope *scope = engine_scope_find(decision->execution, host->scope);
    ASSERT(scope != NULL && timer->node < scope->process->node_count);
    const struct engine_node *event = &scope->process->nodes[timer->node];
    bool stays = !event->interrupting && (event->attached_to == host->node || host->guard);
    struct engine_event *fired = engine_emit_token(decision, ENGINE_EVENT_TIMER_FIRED, host);
    fired->node = timer->node;
    fired->other = timer->definition;
    fired->at_ms = stays ? next_due(decision, timer) : ENGINE_NO_DUE;
    const struct engine_news news = {.node = timer->node, .definition = timer->definition};
    engine_listen_fire(decision, host, &news);
}
