/*
 * bpmn.h: BPMN 2.0 XML (formal/13-12-09) to a definition. One of the notations behind engine_read.
 */
#ifndef ENGINE_READ_BPMN_H
#define ENGINE_READ_BPMN_H

#include "engine/read/read.h"

/*
 * Fills `definition` (its arena is ready, the rest zero). RESULT_OK whenever the document could be
 * read, however much is wrong in it: the report says. RESULT_INVALID: it is not BPMN at all;
 * RESULT_LIMIT: too large. Both are reported.
 */
MUST_USE enum result engine_bpmn_read(struct span content, bool lenient,
                                      struct engine_report *report,
                                      struct engine_definition *definition);

struct draft;
struct xml_element;

/* A document that the reader of another notation has composed (compose.h). */
struct bpmn_tree {
    struct xml_element *root; /* <definitions> */
    struct arena *scratch;    /* that it lives in */
    /* Called when nodes and flows are linked: for what BPMN has no words for. */
    void (*finish)(struct draft *draft, void *context);
    void *context;
};

/* As engine_bpmn_read, from such a document. */
MUST_USE enum result engine_bpmn_compile(const struct bpmn_tree *tree, bool lenient,
                                         struct engine_report *report,
                                         struct engine_definition *definition);

#endif
