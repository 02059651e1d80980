/*
 * xml.h: an XML document from outside as a small tree, by Expat.
 *
 * Names are matched by namespace URI, never by prefix. Refused, with line and column: DTDs (so
 * there are no entities to expand), undeclared prefixes, depth over LIMIT_XML_DEPTH, more than
 * LIMIT_XML_ELEMENTS elements, oversized attributes. UTF-8, UTF-16 (either order, with a BOM),
 * ISO-8859-1 and US-ASCII come out as UTF-8. Any thread.
 */
#ifndef ENGINE_READ_XML_H
#define ENGINE_READ_XML_H

#include "engine/read/read.h"

enum xml_namespace {
    XML_UNKNOWN, /* a namespace that means nothing to us */
    XML_NONE,    /* no namespace: ordinary attributes */
    XML_BPMN,
    XML_DIAGRAM, /* BPMN DI: shapes and edges */
    XML_ZEEBE,
    XML_CAMUNDA, /* Camunda 7, and the engines it shares its extensions with: Activiti, Flowable */
    XML_STRIDER,
};

struct xml_attribute {
    struct xml_attribute *next;
    enum xml_namespace space;
    struct span name; /* local part */
    struct span value;
    bool used; /* somebody asked for it */
};

struct xml_element {
    struct xml_element *parent;
    struct xml_element *first;
    struct xml_element *last;
    struct xml_element *next;
    struct xml_attribute *attributes;
    enum xml_namespace space;
    struct span uri;
    struct span name; /* local part */
    struct span text; /* character data directly inside, without leading white space */
    uint32_t line;    /* of the start tag */
    uint32_t column;
    uint32_t text_line; /* of the first character of text */
    uint32_t text_column;
    bool used; /* extension elements: some reader understood it */
};

/*
 * Parses `content` into `arena` (all spans live there). RESULT_INVALID: not well-formed or refused,
 * the reason is in the report as an error; RESULT_LIMIT: too large, reported too.
 */
MUST_USE enum result engine_xml_parse(struct span content, struct arena *arena,
                                      struct engine_report *report, struct xml_element **root);

/* Value of an attribute, trimmed; an empty span when absent. Marks it as used. */
struct span engine_xml_attribute(struct xml_element *element, enum xml_namespace space,
                                 const char *name);
bool engine_xml_has_attribute(const struct xml_element *element, enum xml_namespace space,
                              const char *name);
/* "true" and "1" are true; absent or empty: the fallback. */
bool engine_xml_bool(struct xml_element *element, enum xml_namespace space, const char *name,
                     bool fallback);
/* Attribute `id`, or an empty span. */
struct span engine_xml_id(struct xml_element *element);

bool engine_xml_is(const struct xml_element *element, enum xml_namespace space, const char *name);
/* First child of that name; NULL when absent. `after`: look behind that child (NULL: from the first
 * one). */
struct xml_element *engine_xml_child(const struct xml_element *element,
                                     const struct xml_element *after, enum xml_namespace space,
                                     const char *name);
/* Trimmed text of the first child of that name; an empty span when absent. */
struct span engine_xml_child_text(const struct xml_element *element, enum xml_namespace space,
                                  const char *name);
/* The next element of the tree below `top` in document order; NULL behind the last. Begin with
 * element == top. */
struct xml_element *engine_xml_walk(const struct xml_element *top,
                                    const struct xml_element *element);
/* The same, but not into `element`'s own children. */
struct xml_element *engine_xml_walk_over(const struct xml_element *top,
                                         const struct xml_element *element);

#endif
