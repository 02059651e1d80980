/* read_table.c: decision tables from XML. */
#include "engine/dmn/reading.h"
#include "engine/expression/node.h"

struct table_reading {
    struct dmn_reading *reading;
    struct xml_element *element;
    struct dmn_table *table;
    struct span decision;
    unsigned depth; /* of the deepest expression in it */
};

static const struct {
    const char *name;
    enum dmn_hit_policy policy;
} policies[] = {
    {"UNIQUE", DMN_UNIQUE},
    {"FIRST", DMN_FIRST},
    {"PRIORITY", DMN_PRIORITY},
    {"ANY", DMN_ANY},
    {"COLLECT", DMN_COLLECT},
    {"RULE ORDER", DMN_RULE_ORDER},
    {"OUTPUT ORDER", DMN_OUTPUT_ORDER},
};

static const struct {
    const char *name;
    const char *function;
} aggregations[] = {{"SUM", "sum"}, {"MIN", "min"}, {"MAX", "max"}, {"COUNT", "count"}};

static const struct expression_node *
compile(struct table_reading *table, struct xml_element *element, enum engine_dialect dialect)
{
    const struct expression_node *node =
        engine_dmn_compile(table->reading, element, table->decision, dialect);
    if (node != NULL && node->depth > table->depth) {
        table->depth = node->depth;
    }
    return node;
}

static bool read_policy(struct table_reading *table)
{
    struct span policy = engine_xml_attribute(table->element, XML_NONE, "hitPolicy");
    struct span aggregation = engine_xml_attribute(table->element, XML_NONE, "aggregation");
    bool known = policy.count == 0;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (span_is(policy, policies[i].name)) {
            table->table->policy = policies[i].policy;
            known = true;
        }
    }
    for (size_t i = 0; i < sizeof aggregations / sizeof *aggregations; i++) {
        if (span_is(aggregation, aggregations[i].name)) {
            table->table->aggregation = aggregations[i].function;
        }
    }
    if (!known || (aggregation.count > 0 && table->table->aggregation == NULL)) {
        engine_dmn_complain(table->reading, table->element, table->decision, "unknown-hit-policy",
                            "unknown hit policy \"%.*s\" with aggregation \"%.*s\"",
                            SPAN_ARG(policy), SPAN_ARG(aggregation));
        return false;
    }
    return true;
}

static void read_inputs(struct table_reading *table)
{
    struct xml_element *input = NULL;
    for (uint32_t i = 0; i < table->table->input_count; i++) {
        input = engine_dmn_child(table->element, input, "input");
        struct xml_element *expression = engine_dmn_child(input, NULL, "inputExpression");
        uint32_t errors = table->reading->report->errors;
        if (expression != NULL) {
            table->table->inputs[i].expression = compile(table, expression, ENGINE_DIALECT_FEEL);
            table->table->inputs[i].type = engine_dmn_type_of(table->reading, expression);
        }
        if (table->table->inputs[i].expression == NULL &&
            table->reading->report->errors == errors) {
            engine_dmn_complain(table->reading, input, table->decision, "no-logic",
                                "input %u of \"%.*s\" has no expression", i + 1,
                                SPAN_ARG(table->decision));
        }
    }
}

/* "a", "b": the values of an output as a list. */
static const struct expression_node *read_order(struct table_reading *table,
                                                struct xml_element *output)
{
    struct xml_element *values = engine_dmn_child(output, NULL, "outputValues");
    if (values == NULL) {
        return NULL;
    }
    struct xml_element *text = engine_dmn_child(values, NULL, "text");
    if (text == NULL) {
        return NULL;
    }
    struct span list = arena_format(table->reading->arena, "[%.*s]", SPAN_ARG(text->text));
    struct xml_element *bracketed = engine_dmn_room(table->reading, 2, sizeof *bracketed);
    if (bracketed == NULL) {
        return NULL;
    }
    bracketed[0] = *values;
    bracketed[1] = *text;
    bracketed[1].text = list;
    bracketed[1].parent = &bracketed[0];
    bracketed[1].next = NULL;
    bracketed[0].first = bracketed[0].last = &bracketed[1];
    return compile(table, &bracketed[0], ENGINE_DIALECT_FEEL);
}

/* The values that the type of an output allows, in their order, as a list; NULL: it does not count
 * them up. */
static const struct expression_node *order_of_type(struct table_reading *table,
                                                   const struct dmn_type *type)
{
    while (type != NULL && type->allowed == NULL && type->form == DMN_TYPE_NAMED) {
        type = type->element;
    }
    if (type == NULL || type->allowed == NULL || type->allowed->kind != NODE_FEEL_UNARY ||
        type->allowed->count < 2 || (type->allowed->flags & NODE_NEGATED) != 0) {
        return NULL;
    }
    for (uint32_t i = 1; i < type->allowed->count; i++) { /* behind the "?" */
        if (type->allowed->children[i]->kind != NODE_CONSTANT) {
            return NULL;
        }
    }
    struct expression_node *list = engine_dmn_room(table->reading, 1, sizeof *list);
    if (list != NULL) {
        list->kind = NODE_FEEL_LIST;
        list->depth = type->allowed->depth;
        list->children = type->allowed->children + 1;
        list->count = type->allowed->count - 1;
    }
    return list;
}

static void read_outputs(struct table_reading *table)
{
    bool ordered = table->table->policy == DMN_PRIORITY || table->table->policy == DMN_OUTPUT_ORDER;
    struct xml_element *element = NULL;
    for (uint32_t i = 0; i < table->table->output_count; i++) {
        struct dmn_output *output = &table->table->outputs[i];
        element = engine_dmn_child(table->element, element, "output");
        struct xml_element *fallback = engine_dmn_child(element, NULL, "defaultOutputEntry");
        output->name = engine_xml_attribute(element, XML_NONE, "name");
        output->type = engine_dmn_type_of(table->reading, element);
        output->fallback = fallback == NULL ? NULL : compile(table, fallback, ENGINE_DIALECT_FEEL);
        output->order = ordered ? read_order(table, element) : NULL;
        if (ordered && output->order == NULL) {
            output->order = order_of_type(table, output->type);
        }
        if (output->name.count == 0 && table->table->output_count > 1) {
            engine_dmn_complain(table->reading, element, table->decision, "no-name",
                                "output %u of \"%.*s\" has no name", i + 1,
                                SPAN_ARG(table->decision));
        }
    }
}

/* The cells of a rule, one a column; false when there are fewer or more. */
static bool read_cells(struct table_reading *table, struct xml_element *rule, const char *name,
                       enum engine_dialect dialect, const struct expression_node **cells,
                       uint32_t count)
{
    struct xml_element *cell = engine_dmn_child(rule, NULL, name);
    if (engine_dmn_count(rule, name) != count) {
        engine_dmn_complain(table->reading, rule, table->decision, "malformed-table",
                            "a rule of \"%.*s\" has not as many of \"%s\" as there are columns",
                            SPAN_ARG(table->decision), name);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = compile(table, cell, dialect);
        if (cells[i] != NULL && dialect == ENGINE_DIALECT_UNARY_TESTS &&
            cells[i]->kind == NODE_CONSTANT) {
            cells[i] = NULL; /* "-": any value */
        }
        cell = engine_dmn_child(rule, cell, name);
    }
    return true;
}

static void read_rules(struct table_reading *table)
{
    struct xml_element *element = NULL;
    for (uint32_t i = 0; i < table->table->rule_count; i++) {
        struct dmn_rule *rule = &table->table->rules[i];
        element = engine_dmn_child(table->element, element, "rule");
        rule->id = engine_xml_id(element);
        rule->tests =
            engine_dmn_room(table->reading, table->table->input_count, sizeof(*rule->tests));
        rule->outputs =
            engine_dmn_room(table->reading, table->table->output_count, sizeof(*rule->outputs));
        if (rule->tests == NULL || rule->outputs == NULL ||
            !read_cells(table, element, "inputEntry", ENGINE_DIALECT_UNARY_TESTS, rule->tests,
                        table->table->input_count) ||
            !read_cells(table, element, "outputEntry", ENGINE_DIALECT_FEEL, rule->outputs,
                        table->table->output_count)) {
            return;
        }
    }
}

static bool counts_fit(struct table_reading *table)
{
    struct dmn_table *counted = table->table;
    counted->input_count = engine_dmn_count(table->element, "input");
    counted->output_count = engine_dmn_count(table->element, "output");
    counted->rule_count = engine_dmn_count(table->element, "rule");
    if (counted->output_count == 0 || counted->output_count > DMN_CLAUSES_MAX ||
        counted->input_count > DMN_CLAUSES_MAX || counted->rule_count > DMN_RULES_MAX ||
        (counted->aggregation != NULL && counted->output_count > 1)) {
        engine_dmn_complain(table->reading, table->element, table->decision, "malformed-table",
                            "\"%.*s\" has %u inputs, %u outputs and %u rules%s",
                            SPAN_ARG(table->decision), counted->input_count, counted->output_count,
                            counted->rule_count,
                            counted->aggregation != NULL ? ", and an aggregation" : "");
        return false;
    }
    return true;
}

const struct expression_node *engine_dmn_read_table(struct dmn_reading *reading,
                                                    struct xml_element *element,
                                                    struct span decision)
{
    struct table_reading table = {.reading = reading, .element = element, .decision = decision};
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    table.table = engine_dmn_room(reading, 1, sizeof *table.table);
    if (node == NULL || table.table == NULL || !read_policy(&table) || !counts_fit(&table)) {
        return NULL;
    }
    table.table->id = decision;
    table.table->inputs =
        engine_dmn_room(reading, table.table->input_count, sizeof *table.table->inputs);
    table.table->outputs =
        engine_dmn_room(reading, table.table->output_count, sizeof *table.table->outputs);
    table.table->rules =
        engine_dmn_room(reading, table.table->rule_count, sizeof *table.table->rules);
    if (table.table->inputs == NULL || table.table->outputs == NULL || table.table->rules == NULL) {
        return NULL;
    }
    read_inputs(&table);
    read_outputs(&table);
    read_rules(&table);
    node->kind = NODE_CUSTOM;
    node->depth = (uint16_t)(table.depth + 1);
    node->as.custom.evaluate = engine_dmn_table;
    node->as.custom.about = table.table;
    return node;
}
