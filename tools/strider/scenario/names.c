/*
 * names.c: whom the replies of a scenario are for. Those under a name that no task of its
 * definitions has would be left out of the test without a word, so the name is refused.
 */
#include "proto/wire/reader.h"
#include "tools/strider/scenario/scenario.h"

static bool is_named(const struct engine_node *node, struct span name)
{
    return node->task_type.count > 0 &&
           (span_equal(node->id, name) || span_equal(node->task_type, name));
}

bool scenario_names_task(const struct scenario *scenario, struct span name, bool *computed)
{
    bool is_found = span_is(name, "*");
    *computed = false;
    for (uint32_t d = 0; d < scenario->definition_count; d++) {
        const struct engine_definition *definition = scenario->definitions[d];
        for (uint32_t p = 0; p < definition->process_count; p++) {
            for (uint32_t n = 0; n < definition->processes[p].node_count; n++) {
                const struct engine_node *node = &definition->processes[p].nodes[n];
                is_found |= is_named(node, name);
                *computed |= node->task_type_value != NULL;
            }
        }
    }
    return is_found;
}

enum result scenario_check_names(const char *place, const struct scenario *scenario,
                                 struct arena *arena, struct span *problem)
{
    struct wire_map_walk walk = wire_map_begin(scenario->modules);
    struct span name;
    struct span replies;
    bool computed;
    while (wire_map_next(&walk, &name, &replies)) {
        if (!scenario_names_task(scenario, name, &computed) && !computed) {
            *problem = arena_format(
                arena, "%s: modules: \"%.*s\" is neither the id nor the type of a task", place,
                SPAN_ARG(name));
            return RESULT_INVALID;
        }
    }
    return RESULT_OK;
}
