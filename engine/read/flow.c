/*
 * flow.c: conditionExpression, in whatever language a modeler declared.
 */
#include "engine/read/flow.h"

#include "engine/read/activity.h"

/* Known only to be other languages: their text might parse as FEEL and mean something else. */
static bool is_foreign_script(struct span language)
{
    static const char *const names[] = {"javascript", "ecmascript", "groovy", "python",
                                        "jython",     "ruby",       "jruby",  "java"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t count = strlen(names[i]);
        if (language.count == count &&
            strncasecmp((const char *)language.bytes, names[i], count) == 0) {
            return true;
        }
    }
    return false;
}

/* Why a condition here has no effect, or NULL. */
static const char *ignored_because(const struct draft_process *process,
                                   const struct engine_flow *flow)
{
    if (flow->is_default) {
        return "a default flow is taken when no other is: its condition is ignored";
    }
    if (flow->source != ENGINE_NONE &&
        process->nodes[flow->source].kind == ENGINE_PARALLEL_GATEWAY) {
        return "a parallel gateway takes all flows: this condition is ignored";
    }
    return NULL;
}

static void read_condition(struct draft *draft, struct draft_process *process,
                           struct engine_flow *flow)
{
    struct xml_element *element = process->flow_elements[flow->index];
    struct xml_element *condition =
        engine_xml_child(element, NULL, XML_BPMN, "conditionExpression");
    if (condition == NULL || condition->text.count == 0) {
        return;
    }
    const char *ignored = ignored_because(process, flow);
    if (ignored != NULL) {
        engine_draft_problem(draft, ENGINE_WARNING, "ignored-condition", element, "%s", ignored);
        return;
    }
    /* BPMN's default language is XPath, which modelers write without meaning it: the text decides,
     * unless it is a script. */
    struct span language = engine_xml_attribute(condition, XML_NONE, "language");
    if (is_foreign_script(language)) {
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-expression", element,
                             "a condition in %.*s is not executed", SPAN_ARG(language));
        return;
    }
    flow->condition = engine_draft_compile(draft, (struct draft_place){condition, NULL},
                                           condition->text, ENGINE_DIALECT_CONDITION);
}

void engine_flow_read_conditions(struct draft *draft, struct draft_process *process)
{
    for (uint32_t i = 0; i < process->flow_count; i++) {
        read_condition(draft, process, &process->flows[i]);
    }
}
