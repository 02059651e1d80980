/*
 * model.c: names of kinds, and finding things in a compiled definition.
 */
#include "engine/model.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"

const struct engine_node *engine_compensation_handler(const struct engine_process *process,
                                                      const struct engine_node *node)
{
    if (node->kind != ENGINE_BOUNDARY_EVENT || node->attached_to == ENGINE_NONE ||
        node->event_count == 0 || node->events[0].kind != ENGINE_ON_COMPENSATION) {
        return NULL;
    }
    uint32_t handler = process->nodes[node->attached_to].compensation;
    return handler == ENGINE_NONE ? NULL : &process->nodes[handler];
}

const char *engine_kind_xml_name(enum engine_kind kind)
{
    static const char *const names[ENGINE_KIND_COUNT] = {
#define ENGINE_KIND(symbol, xml, trace, ops) [ENGINE_##symbol] = xml,
#include "engine/element/kinds.def"
#undef ENGINE_KIND
    };
    ASSERT(kind < ENGINE_KIND_COUNT);
    return names[kind];
}

const char *engine_kind_trace_name(enum engine_kind kind)
{
    static const char *const names[ENGINE_KIND_COUNT] = {
#define ENGINE_KIND(symbol, xml, trace, ops) [ENGINE_##symbol] = trace,
#include "engine/element/kinds.def"
#undef ENGINE_KIND
    };
    ASSERT(kind < ENGINE_KIND_COUNT);
    return names[kind];
}

const char *engine_kind_global_name(enum engine_kind kind)
{
    static const char *const names[ENGINE_KIND_COUNT] = {
        [ENGINE_TASK] = "globalTask",
        [ENGINE_USER_TASK] = "globalUserTask",
        [ENGINE_MANUAL_TASK] = "globalManualTask",
        [ENGINE_SCRIPT_TASK] = "globalScriptTask",
        [ENGINE_BUSINESS_RULE_TASK] = "globalBusinessRuleTask",
    };
    ASSERT(kind < ENGINE_KIND_COUNT);
    return names[kind];
}

const char *engine_rule_shape_name(enum engine_rule_shape shape)
{
    static const char *const names[ENGINE_RULE_SHAPE_COUNT] = {
        [ENGINE_RULE_VALUE] = "value",
        [ENGINE_RULE_RESULT_LIST] = "resultList",
        [ENGINE_RULE_SINGLE_ENTRY] = "singleEntry",
        [ENGINE_RULE_SINGLE_RESULT] = "singleResult",
        [ENGINE_RULE_COLLECT_ENTRIES] = "collectEntries",
        [ENGINE_RULE_VARIABLES] = "variables",
    };
    ASSERT(shape < ENGINE_RULE_SHAPE_COUNT);
    return names[shape];
}

const char *engine_event_kind_name(enum engine_event_kind kind)
{
    static const char *const names[ENGINE_EVENT_KIND_COUNT] = {
        [ENGINE_ON_NONE] = "none",
        [ENGINE_ON_MESSAGE] = "message",
        [ENGINE_ON_TIMER] = "timer",
        [ENGINE_ON_SIGNAL] = "signal",
        [ENGINE_ON_ERROR] = "error",
        [ENGINE_ON_ESCALATION] = "escalation",
        [ENGINE_ON_COMPENSATION] = "compensation",
        [ENGINE_ON_CONDITION] = "conditional",
        [ENGINE_ON_LINK] = "link",
        [ENGINE_ON_CANCEL] = "cancel",
        [ENGINE_ON_TERMINATE] = "terminate",
    };
    ASSERT(kind < ENGINE_EVENT_KIND_COUNT);
    return names[kind];
}

void engine_definition_free(struct engine_definition *definition)
{
    if (definition != NULL) {
        arena_release(&definition->arena);
        free(definition);
    }
}

/* The only executable process; with none or several of them, the first of the file. */
static const struct engine_process *default_process(const struct engine_definition *definition)
{
    const struct engine_process *executable = NULL;
    for (uint32_t i = 0; i < definition->process_count; i++) {
        if (definition->processes[i].executable) {
            if (executable != NULL) {
                return &definition->processes[0];
            }
            executable = &definition->processes[i];
        }
    }
    return executable != NULL               ? executable
           : definition->process_count == 0 ? NULL
                                            : &definition->processes[0];
}

const struct engine_process *engine_definition_find(const struct engine_definition *definition,
                                                    struct span process_id)
{
    if (process_id.count == 0) {
        return default_process(definition);
    }
    for (uint32_t i = 0; i < definition->process_count; i++) {
        if (span_equal(definition->processes[i].id, process_id)) {
            return &definition->processes[i];
        }
    }
    return NULL;
}

/* ---- nodes by id: open addressing, a slot holds index + 1 ---- */

void engine_process_index(struct engine_process *process, struct arena *arena)
{
    uint32_t slots = 8;
    while (slots < process->node_count * 2) {
        slots *= 2;
    }
    uint32_t *table = arena_zero(arena, slots * sizeof *table);
    if (table == NULL) {
        return; /* latched in the arena; and a process without a table is searched node by node */
    }
    for (uint32_t i = 0; i < process->node_count; i++) {
        uint32_t at = (uint32_t)base_hash(process->nodes[i].id, 0) & (slots - 1);
        while (table[at] != 0) {
            at = (at + 1) & (slots - 1);
        }
        table[at] = i + 1;
    }
    process->slots = table;
    process->slot_count = slots;
}

bool engine_node_joins(const struct engine_process *process, const struct engine_node *node)
{
    uint32_t forward = 0;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        forward += !process->flows[node->incoming.at[i]].is_back;
    }
    return node->join == ENGINE_JOIN_ALL && forward > 1;
}

const struct engine_node *engine_process_node(const struct engine_process *process, struct span id)
{
    if (process->slots == NULL) {
        for (uint32_t i = 0; i < process->node_count; i++) {
            if (span_equal(process->nodes[i].id, id)) {
                return &process->nodes[i];
            }
        }
        return NULL;
    }
    uint32_t mask = process->slot_count - 1;
    uint32_t at = (uint32_t)base_hash(id, 0) & mask;
    for (; process->slots[at] != 0; at = (at + 1) & mask) {
        const struct engine_node *node = &process->nodes[process->slots[at] - 1];
        if (span_equal(node->id, id)) {
            return node;
        }
    }
    return NULL;
}

static bool names(const struct engine_node *node, enum engine_event_kind kind, struct span name)
{
    if (node->kind == ENGINE_RECEIVE_TASK) {
        return kind == ENGINE_ON_MESSAGE &&
               span_equal(node->message_name.count > 0 ? node->message_name : node->id, name);
    }
    for (uint32_t i = 0; i < node->event_count; i++) {
        const struct engine_event_definition *definition = &node->events[i];
        if (definition->kind == kind &&
            span_equal(definition->name.count > 0 ? definition->name : node->id, name)) {
            return true;
        }
    }
    return false;
}

bool engine_node_bears(const struct engine_node *node, enum engine_event_kind kind)
{
    for (uint32_t i = 0; i < node->event_count; i++) {
        if (node->events[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* A node that no flow leads to but one from an instantiating event gateway. */
static bool is_instantiating_arm(const struct engine_process *process,
                                 const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        const struct engine_node *source =
            &process->nodes[process->flows[node->incoming.at[i]].source];
        if (source->kind == ENGINE_EVENT_GATEWAY && source->instantiate) {
            return true;
        }
    }
    return false;
}

const struct engine_node *engine_process_started_by(const struct engine_process *process,
                                                    enum engine_event_kind kind, struct span name)
{
    for (uint32_t i = 0; i < process->children.count; i++) {
        const struct engine_node *node = &process->nodes[process->children.at[i]];
        bool starts = node->kind == ENGINE_START_EVENT ||
                      (node->kind == ENGINE_RECEIVE_TASK && node->instantiate) ||
                      is_instantiating_arm(process, node);
        if (starts && names(node, kind, name)) {
            return node;
        }
    }
    return NULL;
}
