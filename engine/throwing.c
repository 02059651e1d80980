/*
 * throwing.c: see throwing.h.
 */
#include "engine/throwing.h"

#include "engine/activity.h"
#include "engine/compensation.h"
#include "engine/failure.h"
#include "engine/publish.h"

static bool send(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct span local;
    bool sends = engine_node_bears(visit->node, ENGINE_ON_MESSAGE) ||
                 engine_node_bears(visit->node, ENGINE_ON_SIGNAL);
    return !sends || (engine_activity_begin(decision, visit, &local) &&
                      engine_publish(decision, visit, local));
}

static bool escalate(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (node->events[i].kind == ENGINE_ON_ESCALATION &&
            !engine_escalate(decision, visit, node->events[i].code)) {
            return false;
        }
    }
    return true;
}

static bool compensate(struct engine_decision *decision, const struct engine_visit *visit)
{
    const struct engine_node *node = visit->node;
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (node->events[i].kind == ENGINE_ON_COMPENSATION) { /* support.c: one of them at most */
            return !engine_compensation_begin(decision, visit, node->events[i].activity);
        }
    }
    return true;
}

bool engine_throwing_begin(struct engine_decision *decision, const struct engine_visit *visit)
{
    return send(decision, visit) && escalate(decision, visit) && compensate(decision, visit);
}
