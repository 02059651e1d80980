/*
 * activity.c: see activity.h.
 */
#include "engine/activity.h"

#include "engine/failure.h"
#include "engine/listen.h"
#include "engine/mapping.h"

static bool set_inputs(struct engine_decision *decision, const struct engine_visit *visit,
                       struct engine_scene *scene)
{
    const struct engine_mapping *failed;
    const char *reason;
    struct span made;
    scene->local = SPAN_EMPTY; /* a retry evaluates them anew */
    if (!engine_mapping_evaluate(decision, scene, &visit->node->inputs, false, &made, &failed,
                                 &reason)) {
        engine_fail_expression(decision, visit, ENGINE_TOKEN_ENTERED,
                               ENGINE_TEXT(decision, "input \"%.*s\"", SPAN_ARG(failed->target)),
                               reason);
        return false;
    }
    engine_emit_token(decision, ENGINE_EVENT_LOCALS_SET, visit->token)->value = made;
    scene->local = made;
    return true;
}

/* traps.md 7 and 13: subscribed at the host's start; a condition that is true already happens
 * before the work begins, and may end it. What is thrown finds its boundary event itself. */
static bool arm_boundaries(struct engine_decision *decision, const struct engine_visit *visit,
                           struct engine_scene *scene)
{
    uint32_t interrupting = ENGINE_NONE;
    for (uint32_t i = 0; i < visit->node->boundaries.count; i++) {
        const struct engine_node *boundary =
            &visit->scope->process->nodes[visit->node->boundaries.at[i]];
        bool met = false;
        if (!engine_listen_arm(decision, visit, boundary, scene, &met)) {
            return false;
        }
        if (met && boundary->interrupting) {
            interrupting = interrupting == ENGINE_NONE ? boundary->index : interrupting;
        } else if (met) {
            const struct engine_news news = {.node = boundary->index};
            engine_listen_happen(decision, visit->token, &news);
        }
    }
    if (interrupting == ENGINE_NONE) {
        return true;
    }
    const struct engine_news news = {.node = interrupting};
    engine_decision_step(decision, visit->token, false);
    engine_listen_happen(decision, visit->token, &news);
    return false;
}

/* traps.md 7: subscribed at the host's start; around a body, not around each of its instances. */
bool engine_activity_listen(struct engine_decision *decision, const struct engine_visit *visit,
                            struct engine_scene *scene)
{
    return visit->token->armed || visit->scope->kind == ENGINE_SCOPE_BODY ||
           arm_boundaries(decision, visit, scene);
}

bool engine_activity_begin(struct engine_decision *decision, const struct engine_visit *visit,
                           struct span *local)
{
    *local = SPAN_EMPTY;
    if (visit->node->inputs.count == 0 && visit->node->boundaries.count == 0) {
        return true;
    }
    struct engine_scene scene;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    if (visit->node->inputs.count > 0 && !set_inputs(decision, visit, &scene)) {
        return false;
    }
    *local = scene.local;
    return engine_activity_listen(decision, visit, &scene);
}

bool engine_activity_outputs(struct engine_decision *decision, const struct engine_visit *visit,
                             struct engine_scene *scene, enum engine_token_state resume)
{
    const struct engine_mapping *failed;
    const char *reason;
    struct span made;
    if (visit->node->outputs.count == 0) {
        return true;
    }
    if (!engine_mapping_evaluate(decision, scene, &visit->node->outputs, true, &made, &failed,
                                 &reason)) {
        engine_decision_rewind(
            decision); /* what the reply brought is merged when all of it can be */
        engine_fail_expression(decision, visit, resume,
                               ENGINE_TEXT(decision, "output \"%.*s\"", SPAN_ARG(failed->target)),
                               reason);
        return false;
    }
    engine_emit_variables(decision, visit->token, made);
    return true;
}
