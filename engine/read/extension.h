/*
 * extension.h: what modelers write beside BPMN: extension elements and foreign attributes, by
 * vendor.
 *
 * A reader takes what it understands and marks it used; engine_extension_list_unused then names the
 * rest, once a kind.
 */
#ifndef ENGINE_READ_EXTENSION_H
#define ENGINE_READ_EXTENSION_H

#include "engine/read/draft.h"

/*
 * The first child of <extensionElements> of that name, or the next one behind `after`; NULL when
 * there is none. Marks it as used.
 */
struct xml_element *engine_extension(struct xml_element *element, struct xml_element *after,
                                     enum xml_namespace space, const char *name);

/* Each reads its vendor's extensions of one flow node into the node; the BPMN attributes have been
 * read before. */
void engine_zeebe_read(struct draft *draft, struct engine_node *node, struct xml_element *element);
void engine_camunda_read(struct draft *draft, struct engine_node *node,
                         struct xml_element *element);
void engine_strider_read(struct draft *draft, struct engine_node *node,
                         struct xml_element *element);

/* Which decision the task is, whoever says so; behind the three above. */
void engine_rule_read(struct draft *draft, struct engine_node *node, struct xml_element *element);

/* Zeebe and Camunda write a multi-instance collection beside the BPMN loop marker: `loop` is that
 * marker's element. */
void engine_zeebe_read_loop(struct draft *draft, struct engine_node *node,
                            struct xml_element *loop);
void engine_camunda_read_loop(struct draft *draft, struct engine_node *node,
                              struct xml_element *loop);
void engine_strider_read_loop(struct draft *draft, struct engine_node *node,
                              struct xml_element *loop);

/* A row of a table that copies attributes into fields of a node. */
struct extension_attribute {
    const char *name;
    enum {
        EXTENSION_TEXT,       /* struct span */
        EXTENSION_EXPRESSION, /* const struct engine_expression *; text without a marker is a
                                 literal */
        EXTENSION_NUMBER,     /* the same, but "3" is the number three */
    } kind;
    size_t offset; /* in struct engine_node */
};
/* Attributes that are absent or empty leave their field as it is. */
void engine_extension_attributes(struct draft *draft, struct engine_node *node,
                                 struct xml_element *element, enum xml_namespace space,
                                 const struct extension_attribute *rows, size_t count);

/* <… source="expression" target="name"/> children of `list`, as mappings. */
void engine_extension_mappings(struct draft *draft, struct xml_element *list,
                               enum xml_namespace space, const char *name,
                               struct engine_mappings *mappings);
/* A static pair for the module's config. */
void engine_extension_header(struct draft *draft, struct engine_node *node,
                             struct xml_element *element, struct span key, struct span value);

/* An INFO for each kind of extension element, and of vendor attribute, that no reader asked for; a
 * WARNING for those that would be missed. */
void engine_extension_list_unused(struct draft *draft);

/* Extensions without which the process does something else than in the vendor's engine. */
struct extension_missed {
    const char *name;
    const char *what; /* it is there */
};
/* NULL behind the last. */
const struct extension_missed *engine_extension_missed(size_t index);

/* The explicit task type that an attribute gives, if it is there: a text, or an expression that
 * tells it when the task begins. */
void engine_extension_type(struct draft *draft, struct engine_node *node,
                           struct xml_element *element, enum xml_namespace space,
                           const char *attribute);

#endif
