/* read_type.c: the types that a model declares: those of FEEL, and item definitions made of them
 * (DMN 1.5 §7.3.3). */
#include "engine/dmn/reading.h"

static const struct {
    const char *name;
    struct dmn_type type;
} plain_types[] = {
    {"Any", {.form = DMN_TYPE_ANY}},
    {"string", {.form = DMN_TYPE_PLAIN, .plain = VALUE_STRING}},
    {"boolean", {.form = DMN_TYPE_PLAIN, .plain = VALUE_BOOLEAN}},
    {"number", {.form = DMN_TYPE_PLAIN, .plain = VALUE_NUMBER}},
    {"integer", {.form = DMN_TYPE_PLAIN, .plain = VALUE_NUMBER}},
    {"long", {.form = DMN_TYPE_PLAIN, .plain = VALUE_NUMBER}},
    {"double", {.form = DMN_TYPE_PLAIN, .plain = VALUE_NUMBER}},
    {"date", {.form = DMN_TYPE_PLAIN, .plain = VALUE_DATE, .maker = "date"}},
    {"time", {.form = DMN_TYPE_PLAIN, .plain = VALUE_TIME, .maker = "time"}},
    {"dateTime", {.form = DMN_TYPE_PLAIN, .plain = VALUE_DATE_TIME, .maker = "date and time"}},
    {"date and time", {.form = DMN_TYPE_PLAIN, .plain = VALUE_DATE_TIME, .maker = "date and time"}},
    {"duration", {.form = DMN_TYPE_DURATION, .plain = VALUE_DURATION, .maker = "duration"}},
    {"dayTimeDuration", {.form = DMN_TYPE_PLAIN, .plain = VALUE_DURATION, .maker = "duration"}},
    {"days and time duration",
     {.form = DMN_TYPE_PLAIN, .plain = VALUE_DURATION, .maker = "duration"}},
    {"yearMonthDuration", {.form = DMN_TYPE_PLAIN, .plain = VALUE_MONTHS, .maker = "duration"}},
    {"years and months duration",
     {.form = DMN_TYPE_PLAIN, .plain = VALUE_MONTHS, .maker = "duration"}},
    {"context", {.form = DMN_TYPE_PLAIN, .plain = VALUE_CONTEXT}},
    {"list", {.form = DMN_TYPE_PLAIN, .plain = VALUE_LIST}},
    {"function", {.form = DMN_TYPE_PLAIN, .plain = VALUE_FUNCTION}},
};

/* Behind the prefix of "feel:date" (DMN 1.1) or "tns:tOrder". */
static struct span local_name(struct span reference)
{
    const uint8_t *colon =
        reference.count == 0 ? NULL : memchr(reference.bytes, ':', reference.count);
    if (colon == NULL) {
        return reference;
    }
    size_t prefix = (size_t)(colon - reference.bytes) + 1;
    return span_of(reference.bytes + prefix, reference.count - prefix);
}

static const struct dmn_type *defined(const struct dmn_reading *reading, struct span name)
{
    for (uint32_t i = 0; i < reading->type_count; i++) {
        if (span_equal(reading->type_names[i], name)) {
            return &reading->types[i];
        }
    }
    return NULL;
}

const void *engine_dmn_find_type(const struct expression_declared_types *declared, struct span name)
{
    return defined((const struct dmn_reading *)(const void *)declared, name);
}

static const struct dmn_type *named(const struct dmn_reading *reading, struct span name)
{
    const struct dmn_type *type = defined(reading, name);
    for (size_t i = 0; type == NULL && i < sizeof plain_types / sizeof plain_types[0]; i++) {
        type = span_is(name, plain_types[i].name) ? &plain_types[i].type : NULL;
    }
    return type;
}

const struct dmn_type *engine_dmn_type(struct dmn_reading *reading,
                                       const struct xml_element *element, struct span reference)
{
    struct span name = local_name(reference);
    const struct dmn_type *type = name.count == 0 ? NULL : named(reading, name);
    if (name.count > 0 && type == NULL) {
        engine_report_add(reading->report, ENGINE_WARNING, "unknown-type", SPAN_EMPTY,
                          element->line, element->column,
                          "the type \"%.*s\" is not in the model: any value is of it",
                          SPAN_ARG(reference));
    }
    return type == NULL || type->form == DMN_TYPE_ANY ? NULL : type;
}

const struct dmn_type *engine_dmn_type_of(struct dmn_reading *reading, struct xml_element *element)
{
    return element == NULL ? NULL
                           : engine_dmn_type(reading, element,
                                             engine_xml_attribute(element, XML_NONE, "typeRef"));
}

const struct dmn_type *engine_dmn_result_type(const struct dmn_type *type)
{
    const struct dmn_type *inner = type;
    while (inner != NULL && inner->form == DMN_TYPE_NAMED) {
        inner = inner->element;
    }
    bool is_function =
        inner != NULL && inner->form == DMN_TYPE_PLAIN && inner->plain == VALUE_FUNCTION;
    return is_function ? inner->element : type;
}

/* ---- item definitions ---- */

static const struct expression_node *read_allowed(struct dmn_reading *reading,
                                                  struct xml_element *element, const char *name)
{
    struct xml_element *allowed = engine_dmn_child(element, NULL, name);
    return allowed == NULL
               ? NULL
               : engine_dmn_compile(reading, allowed, SPAN_EMPTY, ENGINE_DIALECT_UNARY_TESTS);
}

static void read_definition(struct dmn_reading *reading, struct xml_element *element,
                            struct dmn_type *type);

static void read_components(struct dmn_reading *reading, struct xml_element *element,
                            struct dmn_type *type)
{
    uint32_t count = engine_dmn_count(element, "itemComponent");
    struct span *names = engine_dmn_room(reading, count, sizeof *names);
    const struct dmn_type **members = engine_dmn_room(reading, count, sizeof(*members));
    struct dmn_type *types = engine_dmn_room(reading, count, sizeof *types);
    struct xml_element *component = NULL;
    if (names == NULL || members == NULL || types == NULL) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        component = engine_dmn_child(element, component, "itemComponent");
        names[i] = engine_xml_attribute(component, XML_NONE, "name");
        read_definition(reading, component, &types[i]);
        members[i] = &types[i];
    }
    type->form = DMN_TYPE_CONTEXT;
    type->names = names;
    type->members = members;
    type->member_count = count;
}

/* What the definition says but for being a collection. The depth is that of the document. */
static void read_item(struct dmn_reading *reading, struct xml_element *element,
                      struct dmn_type *type)
{
    struct xml_element *reference = engine_dmn_child(element, NULL, "typeRef");
    struct xml_element *function = engine_dmn_child(element, NULL, "functionItem");
    if (engine_dmn_child(element, NULL, "itemComponent") != NULL) {
        read_components(reading, element, type);
    } else if (function != NULL) {
        type->form = DMN_TYPE_PLAIN;
        type->plain = VALUE_FUNCTION;
        type->element = engine_dmn_type(reading, function,
                                        engine_xml_attribute(function, XML_NONE, "outputTypeRef"));
    } else if (reference != NULL) {
        type->element = engine_dmn_type(reading, reference, span_trim(reference->text));
        type->form = type->element == NULL ? DMN_TYPE_ANY : DMN_TYPE_NAMED;
    }
    type->allowed = read_allowed(reading, element, "allowedValues");
}

/* Allowed values are those of the items, a constraint is the collection's (DMN 1.5 table 32). */
static void read_definition(struct dmn_reading *reading, struct xml_element *element,
                            struct dmn_type *type)
{
    const struct expression_node *constraint = read_allowed(reading, element, "typeConstraint");
    struct dmn_type *item = engine_dmn_room(reading, 1, sizeof *item);
    if (item == NULL) {
        return;
    }
    read_item(reading, element, item);
    bool is_list = engine_xml_bool(element, XML_NONE, "isCollection", false);
    *type = (struct dmn_type){
        .form = is_list ? DMN_TYPE_LIST : DMN_TYPE_NAMED, .element = item, .allowed = constraint};
}

/* A type that is only another name for itself would never be left again. */
static void refuse_circles(struct dmn_reading *reading, struct xml_element *const *elements)
{
    for (uint32_t i = 0; i < reading->type_count; i++) {
        const struct dmn_type *type = &reading->types[i];
        uint32_t steps = 0;
        while (type->form == DMN_TYPE_NAMED && steps <= 2 * reading->type_count) {
            type = type->element;
            steps++;
        }
        if (steps > 2 * reading->type_count) {
            engine_dmn_complain(reading, elements[i], SPAN_EMPTY, "circular-type",
                                "the type \"%.*s\" is made of itself",
                                SPAN_ARG(reading->type_names[i]));
        }
    }
}

bool engine_dmn_read_types(struct dmn_reading *reading)
{
    uint32_t errors = reading->report->errors;
    uint32_t count = engine_dmn_count(reading->root, "itemDefinition");
    struct xml_element **elements = engine_dmn_room(reading, count, sizeof(*elements));
    struct xml_element *element = NULL;
    reading->types = engine_dmn_room(reading, count, sizeof *reading->types);
    reading->type_names = engine_dmn_room(reading, count, sizeof *reading->type_names);
    if (elements == NULL || reading->types == NULL || reading->type_names == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        element = engine_dmn_child(reading->root, element, "itemDefinition");
        elements[i] = element;
        reading->type_names[i] = engine_xml_attribute(element, XML_NONE, "name");
        reading->types[i] = (struct dmn_type){.form = DMN_TYPE_NAMED}; /* named before it is read */
    }
    reading->type_count = count;
    for (uint32_t i = 0; i < count; i++) {
        read_definition(reading, elements[i], &reading->types[i]);
    }
    if (!reading->arena->overflowed) {
        refuse_circles(reading, elements);
    }
    return reading->report->errors == errors && !reading->arena->overflowed;
}
