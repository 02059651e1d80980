/*
 * publish.c: see publish.h.
 */
#include "engine/publish.h"

#include "engine/listen.h"

static void emit(struct engine_decision *decision, const struct engine_visit *visit,
                 enum engine_event_kind kind, uint32_t place, struct span name, struct span key,
                 struct span payload)
{
    struct engine_event *event = engine_emit_token(decision, ENGINE_EVENT_PUBLISHED, visit->token);
    event->flags = kind;
    event->other = place;
    event->count = kind == ENGINE_ON_SIGNAL;
    event->text = name;
    event->value = payload;
    event->more = key.count > 0 ? engine_decision_string(decision, key) : SPAN_EMPTY;
    struct engine_effect *effect = engine_emit_effect(decision, ENGINE_EFFECT_PUBLISH);
    if (effect != NULL) {
        char step_id[UUID_TEXT_BYTES + 1];
        uuid_format(engine_step_id(decision->execution, visit->token->sequence), step_id);
        effect->as.publish.is_signal = kind == ENGINE_ON_SIGNAL;
        effect->as.publish.id =
            kind == ENGINE_ON_SIGNAL
                ? ENGINE_TEXT(decision, "%s/%s/%u", decision->execution->id.text, step_id, place)
                : ENGINE_TEXT(decision, "%s/%u", step_id, place);
        effect->as.publish.name = arena_copy(decision->arena, name);
        effect->as.publish.correlation_key = key;
        effect->as.publish.payload = payload;
    }
}

bool engine_publish_one(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_event_definition *definition, uint32_t place,
                        struct span local)
{
    struct engine_scene scene;
    struct span name;
    struct span key = SPAN_EMPTY;
    engine_scene_init(&scene, decision, visit->scope, visit->token);
    scene.local = local;
    if (!engine_listen_name(decision, visit, visit->node, definition, &scene, &name) ||
        (definition->kind == ENGINE_ON_MESSAGE &&
         !engine_listen_key(decision, visit, visit->node, definition, &scene, &key))) {
        return false;
    }
    emit(decision, visit, definition->kind, place, name, key, arena_copy(decision->arena, local));
    return true;
}

bool engine_publish(struct engine_decision *decision, const struct engine_visit *visit,
                    struct span local)
{
    const struct engine_node *node = visit->node;
    if (node->kind == ENGINE_SEND_TASK) {
        const struct engine_event_definition message = {
            .kind = ENGINE_ON_MESSAGE, .name = node->message_name, .activity = ENGINE_NONE};
        return engine_publish_one(decision, visit, &message, 0, local);
    }
    for (uint32_t i = 0; i < node->event_count; i++) {
        enum engine_event_kind kind = node->events[i].kind;
        if ((kind == ENGINE_ON_MESSAGE || kind == ENGINE_ON_SIGNAL) &&
            !engine_publish_one(decision, visit, &node->events[i], i, local)) {
            return false;
        }
    }
    return true;
}
