/*
 * link.c: from names to indexes.
 */
#include "engine/read/link.h"

#include "engine/read/activity.h"
#include "engine/read/reach.h"
#include "proto/base/assert.h"

/* ---- references ---- */

/* The node that one end of a flow names; ENGINE_NONE after a report. */
static uint32_t resolve_end(struct draft *draft, const struct draft_process *process,
                            struct xml_element *flow, const char *attribute)
{
    struct span reference = engine_xml_attribute(flow, XML_NONE, attribute);
    bool is_source = strcmp(attribute, "sourceRef") == 0;
    const char *verb = is_source ? "comes from" : "leads to";
    if (reference.count == 0) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", flow, "has no %s",
                             attribute);
        return ENGINE_NONE;
    }
    const struct id *id = engine_ids_find(&draft->ids, reference);
    if (id == NULL) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", flow,
                             "%s \"%.*s\", which does not exist", verb, SPAN_ARG(reference));
        return ENGINE_NONE;
    }
    if (id->kind != ID_NODE) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", flow,
                             "%s the %.*s \"%.*s\", which is no flow node", verb,
                             SPAN_ARG(id->element->name), SPAN_ARG(reference));
        return ENGINE_NONE;
    }
    if (id->process != process->index) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", flow,
                             "%s \"%.*s\" (line %u), which is in another process", verb,
                             SPAN_ARG(reference), id->element->line);
        return ENGINE_NONE;
    }
    return id->index;
}

/* BPMN 2.0.2 §8.3.13, §10.5.2, §10.5.3: where a flow may not begin or end. */
static bool check_ends(struct draft *draft, const struct draft_process *process,
                       struct xml_element *element, const struct engine_flow *flow)
{
    const struct engine_node *source = &process->nodes[flow->source];
    const struct engine_node *target = &process->nodes[flow->target];
    const char *why = NULL;
    if (source->scope != target->scope) {
        why = "crosses the border of a sub-process";
    } else if (source->kind == ENGINE_END_EVENT) {
        why = "leaves an end event";
    } else if (target->kind == ENGINE_START_EVENT) {
        why = "leads to a start event";
    } else if (target->kind == ENGINE_BOUNDARY_EVENT) {
        why = "leads to a boundary event";
    } else if (source->triggered_by_event || target->triggered_by_event) {
        why = "is connected to an event sub-process";
    }
    if (why != NULL) {
        engine_draft_problem(draft, ENGINE_ERROR, "illegal-flow", element,
                             "%s (from \"%.*s\" to \"%.*s\")", why, SPAN_ARG(source->id),
                             SPAN_ARG(target->id));
    }
    return why == NULL;
}

static void resolve_flows(struct draft *draft, struct draft_process *process)
{
    for (uint32_t i = 0; i < process->flow_count; i++) {
        struct engine_flow *flow = &process->flows[i];
        struct xml_element *element = process->flow_elements[i];
        flow->source = resolve_end(draft, process, element, "sourceRef");
        flow->target = resolve_end(draft, process, element, "targetRef");
        bool is_whole = flow->source != ENGINE_NONE && flow->target != ENGINE_NONE;
        if (!is_whole || !check_ends(draft, process, element, flow)) {
            flow->target = ENGINE_NONE;
        }
    }
}

static void resolve_default(struct draft *draft, struct draft_process *process,
                            struct engine_node *node)
{
    struct xml_element *element = process->node_elements[node->index];
    struct span reference = engine_xml_attribute(element, XML_NONE, "default");
    if (reference.count == 0) {
        return;
    }
    const struct id *id = engine_ids_find(&draft->ids, reference);
    bool is_own = id != NULL && id->kind == ID_FLOW && id->process == process->index &&
                  process->flows[id->index].source == node->index;
    if (!is_own) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", element,
                             "its default flow \"%.*s\" %s", SPAN_ARG(reference),
                             id == NULL ? "does not exist" : "does not leave it");
        return;
    }
    node->default_flow = id->index;
    process->flows[id->index].is_default = true;
}

static void resolve_host(struct draft *draft, struct draft_process *process,
                         struct engine_node *node)
{
    struct xml_element *element = process->node_elements[node->index];
    struct span reference = engine_xml_attribute(element, XML_NONE, "attachedToRef");
    const struct id *id = reference.count == 0 ? NULL : engine_ids_find(&draft->ids, reference);
    const char *why = NULL;
    if (reference.count == 0) {
        why = "has no attachedToRef";
    } else if (id == NULL) {
        why = "is attached to something that does not exist";
    } else if (id->kind != ID_NODE || id->process != process->index ||
               !engine_activity_is(process->nodes[id->index].kind)) {
        why = "is attached to something that is no activity of its process";
    } else if (process->nodes[id->index].scope != node->scope) {
        why = "is attached to an activity of another sub-process";
    }
    if (why != NULL) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", element, "%s (\"%.*s\")",
                             why, SPAN_ARG(reference));
        return;
    }
    node->attached_to = id->index;
}

/* The node of this process that an attribute names; NULL: something else. */
static struct engine_node *named(const struct draft *draft, const struct draft_process *process,
                                 struct xml_element *element, enum xml_namespace space,
                                 const char *attribute)
{
    struct span reference = engine_xml_attribute(element, space, attribute);
    const struct id *id = reference.count == 0 ? NULL : engine_ids_find(&draft->ids, reference);
    bool is_ours = id != NULL && id->kind == ID_NODE && id->process == process->index;
    return is_ours ? &process->nodes[id->index] : NULL;
}

/* If it is a compensation boundary event and an activity. */
static void set_handler(const struct draft_process *process, const struct engine_node *boundary,
                        const struct engine_node *handler)
{
    if (boundary != NULL && handler != NULL && boundary->kind == ENGINE_BOUNDARY_EVENT &&
        boundary->attached_to != ENGINE_NONE && boundary->event_count > 0 &&
        boundary->events[0].kind == ENGINE_ON_COMPENSATION && engine_activity_is(handler->kind)) {
        process->nodes[boundary->attached_to].compensation = handler->index;
    }
}

/* BPMN 2.0.2 §10.7: an association leads from a compensation boundary event to its handler; or the
 * event names it (strider:handler, as a JSON graph does). */
static void resolve_compensations(const struct draft *draft, const struct draft_process *process)
{
    const struct xml_element *top = process->element;
    struct xml_element *element = process->element;
    while ((element = engine_xml_walk(top, element)) != NULL) {
        if (engine_xml_is(element, XML_BPMN, "association")) {
            set_handler(process, named(draft, process, element, XML_NONE, "sourceRef"),
                        named(draft, process, element, XML_NONE, "targetRef"));
        } else if (engine_xml_is(element, XML_BPMN, "boundaryEvent")) {
            set_handler(process, named(draft, process, element, XML_NONE, "id"),
                        named(draft, process, element, XML_STRIDER, "handler"));
        }
    }
}

void engine_link_references(struct draft *draft, struct draft_process *process)
{
    resolve_flows(draft, process);
    for (uint32_t i = 0; i < process->node_count; i++) {
        resolve_default(draft, process, &process->nodes[i]);
        if (process->nodes[i].kind == ENGINE_BOUNDARY_EVENT) {
            resolve_host(draft, process, &process->nodes[i]);
        }
    }
    resolve_compensations(draft, process);
}

/* ---- lists ---- */

/*
 * Items by owner, in order, as one list an owner: a counting sort. owner[i] == ENGINE_NONE: item i
 * is in no list. NULL when the arena is full.
 */
static struct engine_indexes *group(struct arena *arena, const uint32_t *owner, uint32_t item_count,
                                    uint32_t owner_count)
{
    struct engine_indexes *lists = arena_zero(arena, owner_count * sizeof *lists);
    uint32_t *items = arena_alloc(arena, item_count * sizeof *items);
    if (lists == NULL || items == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < item_count; i++) {
        if (owner[i] != ENGINE_NONE) {
            ASSERT(owner[i] < owner_count);
            lists[owner[i]].count++;
        }
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < owner_count; i++) {
        lists[i].at = items + begin;
        begin += lists[i].count;
        lists[i].count = 0;
    }
    for (uint32_t i = 0; i < item_count; i++) {
        if (owner[i] != ENGINE_NONE) {
            struct engine_indexes *list = &lists[owner[i]];
            items[(size_t)(list->at - items) + list->count++] = i;
        }
    }
    return lists;
}

static bool waits_for_link(const struct engine_node *node)
{
    return node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT && node->event_count > 0 &&
           node->events[0].kind == ENGINE_ON_LINK;
}

/* Engine.md 3: "every node without incoming flow gets a token" but these. */
static bool starts_without_event(const struct engine_node *node)
{
    return node->incoming.count == 0 && node->kind != ENGINE_BOUNDARY_EVENT &&
           !node->for_compensation && !node->triggered_by_event && !waits_for_link(node);
}

static bool is_none_start(const struct engine_node *node)
{
    return node->kind == ENGINE_START_EVENT && node->event_count == 0;
}

static bool is_start(const struct engine_node *node)
{
    return node->kind == ENGINE_START_EVENT;
}

static bool is_handler(const struct engine_node *node)
{
    return node->triggered_by_event;
}

static struct engine_indexes select_nodes(struct arena *arena, const struct engine_node *nodes,
                                          struct engine_indexes children,
                                          bool (*wanted)(const struct engine_node *node))
{
    uint32_t *at = arena_alloc(arena, children.count * sizeof *at);
    struct engine_indexes chosen = {at, 0};
    for (uint32_t i = 0; at != NULL && i < children.count; i++) {
        if (wanted(&nodes[children.at[i]])) {
            at[chosen.count++] = children.at[i];
        }
    }
    return chosen;
}

/* The rule that model.h gives for engine_process.starts; it holds for every scope. */
static struct engine_indexes find_starts(struct arena *arena, const struct engine_node *nodes,
                                         struct engine_indexes children)
{
    struct engine_indexes starts = select_nodes(arena, nodes, children, is_none_start);
    if (starts.count > 0) {
        return starts;
    }
    starts = select_nodes(arena, nodes, children, is_start);
    if (starts.count > 0) {
        starts.count = 1;
        return starts;
    }
    return select_nodes(arena, nodes, children, starts_without_event);
}

static bool group_flows(struct arena *arena, struct engine_process *model,
                        struct engine_node *nodes, uint32_t *owner)
{
    for (uint32_t i = 0; i < model->flow_count; i++) {
        bool is_whole = model->flows[i].target != ENGINE_NONE;
        owner[i] = is_whole ? model->flows[i].source : ENGINE_NONE;
    }
    struct engine_indexes *outgoing = group(arena, owner, model->flow_count, model->node_count);
    for (uint32_t i = 0; i < model->flow_count; i++) {
        bool is_whole = model->flows[i].source != ENGINE_NONE;
        owner[i] = is_whole ? model->flows[i].target : ENGINE_NONE;
    }
    struct engine_indexes *incoming = group(arena, owner, model->flow_count, model->node_count);
    for (uint32_t i = 0; outgoing != NULL && incoming != NULL && i < model->node_count; i++) {
        nodes[i].outgoing = outgoing[i];
        nodes[i].incoming = incoming[i];
    }
    return outgoing != NULL && incoming != NULL;
}

static bool group_nodes(struct arena *arena, struct engine_process *model,
                        struct engine_node *nodes, uint32_t *owner)
{
    uint32_t count = model->node_count;
    for (uint32_t i = 0; i < count; i++) {
        owner[i] = nodes[i].attached_to;
    }
    struct engine_indexes *boundaries = group(arena, owner, count, count);
    for (uint32_t i = 0; i < count; i++) {
        owner[i] = nodes[i].scope == ENGINE_NONE ? count : nodes[i].scope;
    }
    struct engine_indexes *children = group(arena, owner, count, count + 1);
    for (uint32_t i = 0; boundaries != NULL && children != NULL && i < count; i++) {
        nodes[i].boundaries = boundaries[i];
        nodes[i].children = children[i];
    }
    if (children != NULL) {
        model->children = children[count];
    }
    return boundaries != NULL && children != NULL;
}

void engine_link_lists(struct arena *arena, struct engine_process *model, struct engine_node *nodes)
{
    uint32_t items = model->flow_count > model->node_count ? model->flow_count : model->node_count;
    uint32_t *owner = arena_alloc(arena, items * sizeof *owner);
    if (owner == NULL || !group_flows(arena, model, nodes, owner) ||
        !group_nodes(arena, model, nodes, owner)) {
        return; /* latched in the arena; the definition is refused */
    }
    engine_reach_build(arena, model, nodes);
    model->starts = find_starts(arena, nodes, model->children);
    model->handlers = select_nodes(arena, nodes, model->children, is_handler);
    for (uint32_t i = 0; i < model->node_count; i++) {
        if (engine_activity_is_scope(nodes[i].kind)) {
            nodes[i].starts = find_starts(arena, nodes, nodes[i].children);
            nodes[i].handlers = select_nodes(arena, nodes, nodes[i].children, is_handler);
        }
    }
}

/* ---- <incoming> and <outgoing> ---- */

static uint32_t count_children(const struct xml_element *element, const char *name)
{
    uint32_t count = 0;
    struct xml_element *child = NULL;
    while ((child = engine_xml_child(element, child, XML_BPMN, name)) != NULL) {
        count++;
    }
    return count;
}

static void compare_list(struct draft *draft, struct draft_process *process,
                         const struct engine_node *node, const char *name)
{
    struct xml_element *element = process->node_elements[node->index];
    bool is_incoming = strcmp(name, "incoming") == 0;
    struct xml_element *child = NULL;
    uint32_t agreed = 0;
    while ((child = engine_xml_child(element, child, XML_BPMN, name)) != NULL) {
        struct span reference = span_trim(child->text);
        const struct id *id = engine_ids_find(&draft->ids, reference);
        if (id == NULL || id->kind != ID_FLOW || id->process != process->index) {
            engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", element,
                                 "names the %s flow \"%.*s\", which does not exist", name,
                                 SPAN_ARG(reference));
            continue;
        }
        const struct engine_flow *flow = &process->flows[id->index];
        if ((is_incoming ? flow->target : flow->source) == node->index) {
            agreed++;
        } else if (flow->source != ENGINE_NONE && flow->target != ENGINE_NONE) {
            engine_draft_problem(draft, ENGINE_WARNING, "mismatched-lists", element,
                                 "lists \"%.*s\" as %s, but that flow does not %s it",
                                 SPAN_ARG(reference), name, is_incoming ? "lead to" : "leave");
        }
    }
    uint32_t flows = is_incoming ? node->incoming.count : node->outgoing.count;
    /* Many tools write no lists at all; a list with some missing is a sign of an edit gone wrong.
     */
    if (agreed < flows && count_children(element, name) > 0) {
        engine_draft_problem(draft, ENGINE_WARNING, "mismatched-lists", element,
                             "lists %u %s flows, but %u flows %s it", agreed, name, flows,
                             is_incoming ? "lead to" : "leave");
    }
}

void engine_link_compare_lists(struct draft *draft, struct draft_process *process)
{
    for (uint32_t i = 0; i < process->node_count; i++) {
        compare_list(draft, process, &process->nodes[i], "incoming");
        compare_list(draft, process, &process->nodes[i], "outgoing");
    }
}
