/*
 * draft.h: a BPMN file while it is being compiled: the document on one side, the growing definition
 * on the other.
 *
 * Passed by pointer through all readers of this folder. Whatever goes into the definition is copied
 * to its arena (engine_draft_keep); the document and the tables here are gone when the reader
 * returns.
 */
#ifndef ENGINE_READ_DRAFT_H
#define ENGINE_READ_DRAFT_H

#include "engine/read/ids.h"
#include "engine/read/read.h"
#include "engine/read/xml.h"

/* One process; nodes[i] was read from node_elements[i], flows likewise. */
struct draft_process {
    uint32_t index;
    struct xml_element *element;
    struct engine_process *model;
    struct engine_node *nodes;
    struct xml_element **node_elements;
    uint32_t node_count;
    struct engine_flow *flows;
    struct xml_element **flow_elements;
    uint32_t flow_count;
};

struct draft {
    struct arena *arena;   /* the definition's */
    struct arena *scratch; /* the document's */
    struct engine_report *report;
    struct xml_element *root;
    struct ids ids;
    struct draft_process *processes;
    uint32_t process_count;
    bool lenient;                        /* what cannot be executed is a warning */
    struct engine_declarations declared; /* names with signs in them */
};

/* A copy in the definition's arena; empty stays empty. */
struct span engine_draft_keep(struct draft *draft, struct span text);

/* Finds the names that the document declares; before the first expression is compiled. */
void engine_draft_declare(struct draft *draft);

/* A problem of an element: `userTask "Check": <message>`. */
void engine_draft_problem(struct draft *draft, enum engine_severity severity, const char *rule,
                          struct xml_element *element, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* ENGINE_ERROR, or a warning for a lenient reader: for what is sound but cannot be executed. */
enum engine_severity engine_draft_refusal(const struct draft *draft);

/* Where an expression stands, for messages: attribute `name` of the element, or the element's own
 * text (NULL). */
struct draft_place {
    struct xml_element *element; /* that holds the text */
    const char *attribute;
};

/*
 * Compiles; NULL for empty text and, after a report, for a malformed one. The problem names the
 * node or flow around it.
 */
const struct engine_expression *engine_draft_compile(struct draft *draft, struct draft_place place,
                                                     struct span text, enum engine_dialect dialect);
/* The same for the source of a mapping: empty text is null, so that the result is NULL only after a
 * report. */
const struct engine_expression *engine_draft_value(struct draft *draft, struct draft_place place,
                                                   struct span text);
/* The text as a string literal, also where it is empty or holds a marker such as "${". */
const struct engine_expression *engine_draft_literal(struct draft *draft, struct draft_place place,
                                                     struct span text);
/* Attribute of that name, compiled; NULL when absent. */
const struct engine_expression *engine_draft_attribute(struct draft *draft,
                                                       struct xml_element *element,
                                                       enum xml_namespace space, const char *name,
                                                       enum engine_dialect dialect);
/* Text of the first BPMN child of that name, compiled; NULL when absent. */
const struct engine_expression *engine_draft_child(struct draft *draft, struct xml_element *element,
                                                   const char *name, enum engine_dialect dialect);
/* A FEEL string literal of the text, in the document's arena. */
struct span engine_draft_quote(struct draft *draft, struct span text);
/* Does the text hold an expression's marker: a leading "=", or "${", "#{", "{{" anywhere? */
bool engine_draft_is_marked(struct span text);

/* Appends to mappings that are still being built (their room doubles in the definition's arena); a
 * NULL source is left out. */
void engine_draft_map(struct draft *draft, struct engine_mappings *mappings,
                      const struct engine_expression *source, struct span target, uint32_t line);

#endif
