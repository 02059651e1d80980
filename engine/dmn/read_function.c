/* read_function.c: functions from XML: those of knowledge models and those that are boxed in a
 * context or a list. */
#include "engine/dmn/reading.h"
#include "engine/expression/closure.h"
#include "engine/expression/node.h"

struct parameters {
    struct span names[EXPRESSION_LITERAL_PARAMETERS_MAX];
    struct dmn_data data[EXPRESSION_LITERAL_PARAMETERS_MAX];
    uint32_t count;
};

const struct expression_node *engine_dmn_typed(struct dmn_reading *reading,
                                               const struct expression_node *logic,
                                               const struct dmn_data *parameters, uint32_t count,
                                               const struct dmn_type *type)
{
    bool any = type != NULL;
    for (uint32_t i = 0; i < count; i++) {
        any = any || parameters[i].type != NULL;
    }
    if (!any || logic == NULL) {
        return logic;
    }
    struct dmn_body *body = engine_dmn_room(reading, 1, sizeof *body);
    struct dmn_data *kept = engine_dmn_room(reading, count, sizeof *kept);
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    if (body == NULL || kept == NULL || node == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(kept, parameters, count * sizeof *kept);
    }
    *body = (struct dmn_body){logic, kept, count, type};
    node->kind = NODE_CUSTOM;
    node->depth = (uint16_t)(logic->depth + 1);
    node->as.custom.evaluate = engine_dmn_body;
    node->as.custom.about = body;
    return node;
}

const struct expression_node *engine_dmn_literal(struct dmn_reading *reading,
                                                 const struct expression_node *body,
                                                 const struct span *names, uint32_t count)
{
    struct expression_node *literal = engine_dmn_room(reading, 1, sizeof *literal);
    const struct expression_node **children = engine_dmn_room(reading, 1, sizeof(*children));
    struct span *kept = engine_dmn_room(reading, count, sizeof *kept);
    const struct expression_type_tree **types = engine_dmn_room(reading, count, sizeof(*types));
    if (body == NULL || literal == NULL || children == NULL || kept == NULL || types == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(kept, names, count * sizeof *names);
    }
    children[0] = body;
    literal->kind = NODE_FEEL_FUNCTION;
    literal->depth = (uint16_t)(body->depth + 1);
    literal->count = 1;
    literal->children = children;
    literal->as.keys.texts = kept;
    literal->as.keys.types = types;
    literal->as.keys.count = count;
    return literal;
}

static bool read_parameters(struct dmn_reading *reading, struct xml_element *function,
                            struct span decision, struct parameters *parameters)
{
    for (struct xml_element *parameter = engine_dmn_child(function, NULL, "formalParameter");
         parameter != NULL; parameter = engine_dmn_child(function, parameter, "formalParameter")) {
        if (parameters->count == EXPRESSION_LITERAL_PARAMETERS_MAX) {
            engine_dmn_complain(reading, parameter, decision, "too-many", "more than %u parameters",
                                EXPRESSION_LITERAL_PARAMETERS_MAX);
            return false;
        }
        struct span name = engine_xml_attribute(parameter, XML_NONE, "name");
        parameters->names[parameters->count] = name;
        parameters->data[parameters->count++] =
            (struct dmn_data){name, engine_dmn_type_of(reading, parameter)};
        engine_dmn_add_name(reading, name);
    }
    return true;
}

/* Of the result. */
static const struct dmn_type *result_type(struct dmn_reading *reading, struct xml_element *function,
                                          struct xml_element *variable)
{
    const struct dmn_type *type = engine_dmn_type_of(reading, function);
    if (type == NULL) {
        type = engine_dmn_type_of(reading, variable);
    }
    return engine_dmn_result_type(type);
}

const struct expression_node *engine_dmn_read_function(struct dmn_reading *reading,
                                                       struct xml_element *function,
                                                       struct xml_element *variable,
                                                       struct span decision)
{
    struct parameters parameters = {.count = 0};
    struct span kind = engine_xml_attribute(function, XML_NONE, "kind");
    uint32_t outer_names = reading->name_count;
    if (kind.count > 0 && !span_is(kind, "FEEL")) {
        engine_dmn_complain(reading, function, decision, "unsupported-element",
                            "functions of kind \"%.*s\" are not called from here", SPAN_ARG(kind));
        return NULL;
    }
    if (!read_parameters(reading, function, decision, &parameters)) {
        return NULL;
    }
    const struct expression_node *logic = engine_dmn_read_logic(reading, function, decision);
    reading->name_count = outer_names;
    const struct expression_node *body =
        engine_dmn_typed(reading, logic, parameters.data, parameters.count,
                         result_type(reading, function, variable));
    return engine_dmn_literal(reading, body, parameters.names, parameters.count);
}
