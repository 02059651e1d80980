/*
 * compose.c: see compose.h.
 */
#include "engine/read/compose.h"

static void append(struct xml_element *parent, struct xml_element *element)
{
    element->parent = parent;
    if (parent->last == NULL) {
        parent->first = element;
    } else {
        parent->last->next = element;
    }
    parent->last = element;
}

struct xml_element *engine_compose(struct arena *arena, struct xml_element *parent,
                                   enum xml_namespace space, const char *name,
                                   struct compose_place place)
{
    struct xml_element *element = arena->overflowed ? NULL : arena_alloc(arena, sizeof *element);
    if (element == NULL) {
        return NULL;
    }
    *element = (struct xml_element){.space = space,
                                    .name = span_text(name),
                                    .line = place.line,
                                    .column = place.column,
                                    .text_line = place.line,
                                    .text_column = place.column};
    if (parent != NULL) {
        append(parent, element);
    }
    return element;
}

struct xml_element *engine_compose_extension(struct arena *arena, struct xml_element *element,
                                             const char *name)
{
    if (element == NULL) {
        return NULL;
    }
    struct compose_place place = {element->line, element->column};
    struct xml_element *list = engine_xml_child(element, NULL, XML_BPMN, "extensionElements");
    if (list == NULL) {
        list = engine_compose(arena, element, XML_BPMN, "extensionElements", place);
    }
    return engine_compose(arena, list, XML_STRIDER, name, place);
}

void engine_compose_set(struct arena *arena, struct xml_element *element, enum xml_namespace space,
                        const char *name, struct span value)
{
    struct xml_attribute *attribute =
        element == NULL || value.count == 0 ? NULL : arena_alloc(arena, sizeof *attribute);
    if (attribute == NULL) {
        return;
    }
    *attribute = (struct xml_attribute){
        .next = element->attributes, .space = space, .name = span_text(name), .value = value};
    element->attributes = attribute;
}

void engine_compose_text(struct xml_element *element, struct span text)
{
    if (element != NULL) {
        element->text = text;
    }
}
