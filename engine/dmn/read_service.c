/* read_service.c: decision services as functions (DMN 1.4 §10.4): their parameters are the input
 * data, then the input decisions, in the order of the file. */
#include "engine/dmn/reading.h"
#include "engine/expression/closure.h"
#include "engine/expression/node.h"

/* The decisions that children of that name lead to; false after a complaint. */
static bool read_places(struct dmn_reading *reading, struct xml_element *element,
                        const struct dmn_decision *row, const char *name, const uint32_t **out,
                        uint32_t *count)
{
    uint32_t *places = engine_dmn_room(reading, engine_dmn_count(element, name), sizeof *places);
    struct xml_element *child = NULL;
    *count = 0;
    while (places != NULL && (child = engine_dmn_child(element, child, name)) != NULL) {
        struct span reference = engine_xml_attribute(child, XML_NONE, "href");
        uint32_t place;
        if (!engine_dmn_find_place(reading->dmn, reference, &place) ||
            reading->dmn->decisions[place].is_knowledge) {
            engine_dmn_complain(reading, child, row->id, "dangling-reference",
                                "\"%.*s\" names the decision \"%.*s\", which does not exist",
                                SPAN_ARG(row->id), SPAN_ARG(reference));
            return false;
        }
        places[(*count)++] = place;
    }
    *out = places;
    return places != NULL;
}

/* Names of the input data, then of the input decisions; false after a complaint. */
static bool read_parameters(struct dmn_reading *reading, struct xml_element *element,
                            struct dmn_decision *row)
{
    struct dmn_service *service = row->service;
    uint32_t data_count = engine_dmn_count(element, "inputData");
    uint32_t count = data_count + service->input_count;
    struct xml_element *child = NULL;
    if (count > EXPRESSION_LITERAL_PARAMETERS_MAX) {
        engine_dmn_complain(reading, element, row->id, "too-many", "more than %u inputs",
                            EXPRESSION_LITERAL_PARAMETERS_MAX);
        return false;
    }
    struct span *names = engine_dmn_room(reading, count, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < data_count; i++) {
        child = engine_dmn_child(element, child, "inputData");
        struct span reference = engine_xml_attribute(child, XML_NONE, "href");
        struct xml_element *data = engine_dmn_find_data(reading, reference);
        if (data == NULL) {
            engine_dmn_complain(reading, child, row->id, "dangling-reference",
                                "\"%.*s\" names the input data \"%.*s\", which does not exist",
                                SPAN_ARG(row->id), SPAN_ARG(reference));
            return false;
        }
        names[i] = engine_dmn_variable_name(data);
    }
    for (uint32_t i = data_count; names != NULL && i < count; i++) {
        names[i] = reading->dmn->decisions[service->inputs[i - data_count]].variable;
    }
    service->parameters = names;
    service->parameter_count = count;
    return names != NULL;
}

bool engine_dmn_read_service(struct dmn_reading *reading, struct xml_element *element,
                             struct dmn_decision *row)
{
    struct dmn_service *service = row->service;
    service->dmn = reading->dmn;
    service->type = engine_dmn_result_type(
        engine_dmn_type_of(reading, engine_dmn_child(element, NULL, "variable")));
    if (!read_places(reading, element, row, "outputDecision", &service->outputs,
                     &service->output_count) ||
        !read_places(reading, element, row, "inputDecision", &service->inputs,
                     &service->input_count) ||
        !read_parameters(reading, element, row)) {
        return false;
    }
    if (service->output_count == 0) {
        engine_dmn_complain(reading, element, row->id, "no-logic",
                            "\"%.*s\" has no output decision", SPAN_ARG(row->id));
        return false;
    }
    row->required = service->outputs; /* in whose order it comes behind them */
    row->required_count = service->output_count;
    return true;
}

/* What the outputs rest on, and how deep the deepest of it is; false in a full arena. */
static bool mark(struct dmn_reading *reading, struct dmn_service *service, uint16_t *depth)
{
    const struct engine_dmn *dmn = reading->dmn;
    bool *given = engine_dmn_room(reading, dmn->count, sizeof *given);
    bool *needed = engine_dmn_room(reading, dmn->count, sizeof *needed);
    *depth = 0;
    if (given == NULL || needed == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < service->input_count; i++) {
        given[service->inputs[i]] = true;
    }
    for (uint32_t i = 0; i < service->output_count; i++) {
        needed[service->outputs[i]] = true;
    }
    engine_dmn_mark_needed(dmn, given, needed);
    for (uint32_t i = 0; i < dmn->count; i++) {
        const struct expression_node *logic = dmn->decisions[i].logic;
        *depth = needed[i] && logic != NULL && logic->depth > *depth ? logic->depth : *depth;
    }
    service->given = given;
    service->needed = needed;
    return true;
}

const struct expression_node *engine_dmn_service_function(struct dmn_reading *reading,
                                                          const struct dmn_decision *row)
{
    struct dmn_service *service = row->service;
    struct expression_node *body = engine_dmn_room(reading, 1, sizeof *body);
    uint16_t depth;
    if (body == NULL || !mark(reading, service, &depth)) {
        return NULL;
    }
    body->kind = NODE_CUSTOM;
    body->depth = (uint16_t)(depth + 1);
    body->as.custom.evaluate = engine_dmn_serve;
    body->as.custom.about = service;
    return engine_dmn_literal(reading, body, service->parameters, service->parameter_count);
}
