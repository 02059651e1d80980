/* requirement.c: what decisions require of each other, and the order that this leaves. */
#include "engine/dmn/reading.h"

/* The id in "#id", or in "uri#id". */
static struct span behind_hash(struct span reference)
{
    const uint8_t *hash =
        reference.count == 0 ? NULL : memchr(reference.bytes, '#', reference.count);
    if (hash == NULL) {
        return reference;
    }
    size_t prefix = (size_t)(hash - reference.bytes) + 1;
    return span_of(reference.bytes + prefix, reference.count - prefix);
}

bool engine_dmn_find_place(const struct engine_dmn *dmn, struct span reference, uint32_t *place)
{
    reference = behind_hash(reference);
    for (*place = 0; *place < dmn->count; (*place)++) {
        if (span_equal(dmn->decisions[*place].id, reference)) {
            return true;
        }
    }
    return false;
}

static const struct {
    const char *requirement;
    const char *required;
} kinds[] = {
    {"informationRequirement", "requiredDecision"},
    {"knowledgeRequirement", "requiredKnowledge"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* Into `places`, or only counted where that is NULL. */
static uint32_t read_places(struct dmn_reading *reading, struct xml_element *element,
                            const struct dmn_decision *decision, uint32_t *places)
{
    uint32_t count = 0;
    for (size_t i = 0; i < KINDS; i++) {
        const char *name = kinds[i].requirement;
        for (struct xml_element *requirement = engine_dmn_child(element, NULL, name);
             requirement != NULL; requirement = engine_dmn_child(element, requirement, name)) {
            struct xml_element *required = engine_dmn_child(requirement, NULL, kinds[i].required);
            uint32_t place;
            if (required == NULL) {
                continue; /* input data */
            }
            struct span reference = engine_xml_attribute(required, XML_NONE, "href");
            if (engine_dmn_find_place(reading->dmn, reference, &place)) {
                if (decision->is_knowledge && &reading->dmn->decisions[place] == decision) {
                    continue; /* it may call itself, whether it says so or not */
                }
                if (places != NULL) {
                    places[count] = place;
                }
                count++;
            } else if (places != NULL) {
                engine_dmn_complain(reading, required, decision->id, "dangling-reference",
                                    "\"%.*s\" requires \"%.*s\", which does not exist",
                                    SPAN_ARG(decision->id), SPAN_ARG(reference));
            }
        }
    }
    return count;
}

struct xml_element *engine_dmn_find_data(struct dmn_reading *reading, struct span reference)
{
    struct span id = behind_hash(reference);
    struct xml_element *input = NULL;
    while ((input = engine_dmn_child(reading->root, input, "inputData")) != NULL) {
        if (span_equal(engine_xml_id(input), id)) {
            return input;
        }
    }
    return NULL;
}

/* Name and type of input data; false when it has none. */
static bool find_data(struct dmn_reading *reading, struct span reference, struct dmn_data *data)
{
    struct xml_element *input = engine_dmn_find_data(reading, reference);
    if (input == NULL) {
        return false;
    }
    data->name = engine_dmn_variable_name(input);
    data->type = engine_dmn_type_of(reading, engine_dmn_child(input, NULL, "variable"));
    return data->type != NULL;
}

/* Input data without a type are found by their names when they are asked for. */
static bool read_data(struct dmn_reading *reading, struct xml_element *element,
                      struct dmn_decision *decision)
{
    uint32_t capacity = engine_dmn_count(element, "informationRequirement");
    struct dmn_data *data = engine_dmn_room(reading, capacity, sizeof *data);
    struct xml_element *requirement = NULL;
    if (data == NULL) {
        return false;
    }
    while ((requirement = engine_dmn_child(element, requirement, "informationRequirement")) !=
           NULL) {
        struct xml_element *input = engine_dmn_child(requirement, NULL, "requiredInput");
        if (input != NULL && find_data(reading, engine_xml_attribute(input, XML_NONE, "href"),
                                       &data[decision->data_count])) {
            decision->data_count++;
        }
    }
    decision->data = data;
    return true;
}

/* Kahn's: a decision is placed when all that it requires is; what is left over is a circle. */
static bool put_in_order(struct dmn_reading *reading, struct xml_element *const *elements)
{
    struct engine_dmn *dmn = reading->dmn;
    uint32_t *order = engine_dmn_room(reading, dmn->count, sizeof *order);
    bool *placed = engine_dmn_room(reading, dmn->count, sizeof *placed);
    uint32_t count = 0;
    bool progress = order != NULL && placed != NULL;
    while (progress) {
        progress = false;
        for (uint32_t i = 0; i < dmn->count; i++) {
            const struct dmn_decision *decision = &dmn->decisions[i];
            uint32_t ready = 0;
            while (!placed[i] && ready < decision->required_count &&
                   placed[decision->required[ready]]) {
                ready++;
            }
            if (!placed[i] && ready == decision->required_count) {
                placed[i] = true;
                order[count++] = i;
                progress = true;
            }
        }
    }
    for (uint32_t i = 0; count < dmn->count && placed != NULL && i < dmn->count; i++) {
        if (!placed[i]) {
            engine_dmn_complain(reading, elements[i], dmn->decisions[i].id, "circular-requirement",
                                "\"%.*s\" requires itself, or stands behind a circle",
                                SPAN_ARG(dmn->decisions[i].id));
        }
    }
    dmn->order = order;
    return count == dmn->count;
}

bool engine_dmn_read_requirements(struct dmn_reading *reading, struct xml_element *const *elements)
{
    struct engine_dmn *dmn = reading->dmn;
    for (uint32_t i = 0; i < dmn->count; i++) {
        struct dmn_decision *decision = &dmn->decisions[i];
        if (decision->service != NULL) {
            if (!engine_dmn_read_service(reading, elements[i], decision)) {
                return false;
            }
            continue;
        }
        uint32_t count = read_places(reading, elements[i], decision, NULL);
        uint32_t *places = engine_dmn_room(reading, count, sizeof *places);
        if (places == NULL) {
            return false;
        }
        decision->required_count = read_places(reading, elements[i], decision, places);
        decision->required = places;
        if (!read_data(reading, elements[i], decision)) {
            return false;
        }
    }
    return put_in_order(reading, elements);
}
