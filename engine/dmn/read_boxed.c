/*
 * read_boxed.c: the logic of a decision, and the boxed expressions that it is made of (DMN 1.4
 * §7.3). Each form becomes the nodes of the FEEL that it is another way to write (§10.2.1), so that
 * it is evaluated, paid for and bounded like that. The depth of forms is that of the document.
 */
#include "engine/dmn/reading.h"
#include "engine/expression/node.h"

typedef const struct expression_node *(*form_fn)(struct dmn_reading *reading,
                                                 struct xml_element *element, struct span decision);

static const struct expression_node *read_form(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision);

static bool holds_form(const struct xml_element *element);

static struct xml_element *next_element(const struct xml_element *parent,
                                        const struct xml_element *after)
{
    return after == NULL ? parent->first : after->next;
}

/* ---- nodes ---- */

/* Children for a node; NULL in a full arena. */
static const struct expression_node **children_of(struct dmn_reading *reading, uint32_t count)
{
    const struct expression_node **children = engine_dmn_room(reading, count, sizeof(*children));
    return children;
}

/* NULL where a child could not be read: that was complained of. `may_lack`: the place of a child
 * that may be left out. */
static struct expression_node *make(struct dmn_reading *reading, enum expression_kind kind,
                                    const struct expression_node **children, uint32_t count,
                                    uint32_t may_lack)
{
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    uint16_t depth = 0;
    for (uint32_t i = 0; children != NULL && i < count; i++) {
        if (children[i] == NULL && i != may_lack) {
            return NULL;
        }
        depth = children[i] != NULL && children[i]->depth > depth ? children[i]->depth : depth;
    }
    if (node == NULL || children == NULL) {
        return NULL;
    }
    node->kind = kind;
    node->depth = (uint16_t)(depth + 1);
    node->count = count;
    node->children = children;
    return node;
}

#define NONE_LACKS UINT32_MAX

static const struct expression_node *make_keyed(struct dmn_reading *reading,
                                                enum expression_kind kind,
                                                const struct expression_node **children,
                                                uint32_t count, const struct span *keys)
{
    struct expression_node *node = make(reading, kind, children, count, NONE_LACKS);
    if (node != NULL) {
        node->as.keys.texts = keys;
        node->as.keys.count = count;
    }
    return node;
}

static const struct expression_node *make_null(struct dmn_reading *reading)
{
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    if (node != NULL) {
        node->kind = NODE_CONSTANT;
        node->depth = 1;
        node->as.constant = expression_null();
    }
    return node;
}

/* ---- forms ---- */

/* A cell that is left empty is null, as a cell of a table is; else its own type counts. */
static const struct expression_node *read_literal(struct dmn_reading *reading,
                                                  struct xml_element *element, struct span decision)
{
    if (engine_dmn_child(element, NULL, "importedValues") != NULL) {
        engine_dmn_complain(reading, element, decision, "unsupported-element",
                            "\"%.*s\" imports values: write them into this file",
                            SPAN_ARG(decision));
        return NULL;
    }
    if (engine_xml_child_text(element, XML_UNKNOWN, "text").count == 0) {
        return make_null(reading);
    }
    const struct expression_node *logic =
        engine_dmn_compile(reading, element, decision, ENGINE_DIALECT_FEEL);
    return engine_dmn_typed(reading, logic, NULL, 0, engine_dmn_type_of(reading, element));
}

static const struct expression_node *
read_boxed_function(struct dmn_reading *reading, struct xml_element *element, struct span decision)
{
    return engine_dmn_read_function(reading, element, NULL, decision);
}

/* Entries without a name are results: there may be one, at the end. */
static bool read_entry_name(struct dmn_reading *reading, struct xml_element *context,
                            struct xml_element *entry, struct span decision, struct span *name)
{
    struct xml_element *variable = engine_dmn_child(entry, NULL, "variable");
    *name = variable == NULL ? SPAN_EMPTY : engine_xml_attribute(variable, XML_NONE, "name");
    if (name->count > 0) {
        return true;
    }
    if (variable != NULL || engine_dmn_child(context, entry, "contextEntry") != NULL) {
        engine_dmn_complain(reading, entry, decision, "no-name",
                            "an entry of a context has no name, and is not its result");
        return false;
    }
    return true;
}

/* {a: …, b: …}, or {a: …, b: …, "": result}."" where there is a result. */
static const struct expression_node *read_context(struct dmn_reading *reading,
                                                  struct xml_element *element, struct span decision)
{
    uint32_t count = engine_dmn_count(element, "contextEntry");
    const struct expression_node **children = children_of(reading, count);
    struct span *keys = engine_dmn_room(reading, count, sizeof *keys);
    struct xml_element *entry = NULL;
    uint32_t outer_names = reading->name_count;
    for (uint32_t i = 0; children != NULL && keys != NULL && i < count; i++) {
        entry = engine_dmn_child(element, entry, "contextEntry");
        if (!read_entry_name(reading, element, entry, decision, &keys[i])) {
            return NULL;
        }
        struct xml_element *variable = engine_dmn_child(entry, NULL, "variable");
        if (engine_dmn_child(entry, NULL, "functionDefinition") != NULL) {
            engine_dmn_add_name(reading, keys[i]); /* it may call itself */
        }
        children[i] = engine_dmn_typed(reading, read_form(reading, entry, decision), NULL, 0,
                                       engine_dmn_type_of(reading, variable));
        engine_dmn_add_name(reading, keys[i]);
    }
    reading->name_count = outer_names;
    const struct expression_node *context =
        make_keyed(reading, NODE_FEEL_CONTEXT, children, count, keys);
    if (context == NULL || count == 0 || keys[count - 1].count > 0) {
        return context;
    }
    const struct expression_node **base = children_of(reading, 1);
    if (base != NULL) {
        base[0] = context;
    }
    struct expression_node *result = make(reading, NODE_FEEL_PATH, base, 1, NONE_LACKS);
    if (result != NULL) {
        result->as.name.text = SPAN_EMPTY;
        result->as.name.slot = EXPRESSION_NO_SLOT;
    }
    return result;
}

/* Expressions that stand side by side below an element, all but what bears another name. */
static const struct expression_node **read_row(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision,
                                               uint32_t *count);

static const struct expression_node *read_list(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision)
{
    uint32_t count;
    const struct expression_node **items = read_row(reading, element, decision, &count);
    return make(reading, NODE_FEEL_LIST, items, count, NONE_LACKS);
}

/* A list of contexts, one for each row, whose keys are the columns. */
static const struct expression_node *
read_relation(struct dmn_reading *reading, struct xml_element *element, struct span decision)
{
    uint32_t width = engine_dmn_count(element, "column");
    uint32_t height = engine_dmn_count(element, "row");
    struct span *keys = engine_dmn_room(reading, width, sizeof *keys);
    const struct expression_node **rows = children_of(reading, height);
    struct xml_element *column = NULL;
    struct xml_element *row = NULL;
    for (uint32_t i = 0; keys != NULL && i < width; i++) {
        column = engine_dmn_child(element, column, "column");
        keys[i] = engine_xml_attribute(column, XML_NONE, "name");
    }
    for (uint32_t i = 0; keys != NULL && rows != NULL && i < height; i++) {
        uint32_t count;
        row = engine_dmn_child(element, row, "row");
        const struct expression_node **cells = read_row(reading, row, decision, &count);
        if (count != width) {
            engine_dmn_complain(reading, row, decision, "malformed-relation",
                                "a row of \"%.*s\" has %u cells for %u columns", SPAN_ARG(decision),
                                count, width);
            return NULL;
        }
        rows[i] = make_keyed(reading, NODE_FEEL_CONTEXT, cells, width, keys);
    }
    return make(reading, NODE_FEEL_LIST, rows, height, NONE_LACKS);
}

/* What is invoked; a type that its literal names is that of the invocation's value. */
static const struct expression_node *read_callee(struct dmn_reading *reading,
                                                 struct xml_element *element, struct span decision)
{
    struct xml_element *literal = engine_dmn_child(element, NULL, "literalExpression");
    bool is_text = literal != NULL && engine_xml_child_text(literal, XML_UNKNOWN, "text").count > 0;
    return is_text ? engine_dmn_compile(reading, literal, decision, ENGINE_DIALECT_FEEL)
                   : read_form(reading, element, decision);
}

/* f(a: …, b: …): the function, then the bindings of its parameters. */
static const struct expression_node *
read_invocation(struct dmn_reading *reading, struct xml_element *element, struct span decision)
{
    uint32_t count = engine_dmn_count(element, "binding");
    const struct expression_node **children = children_of(reading, count + 1);
    struct span *keys = engine_dmn_room(reading, count, sizeof *keys);
    struct xml_element *binding = NULL;
    if (children == NULL || keys == NULL) {
        return NULL;
    }
    children[0] = read_callee(reading, element, decision);
    for (uint32_t i = 0; i < count; i++) {
        binding = engine_dmn_child(element, binding, "binding");
        struct xml_element *parameter = engine_dmn_child(binding, NULL, "parameter");
        keys[i] =
            parameter == NULL ? SPAN_EMPTY : engine_xml_attribute(parameter, XML_NONE, "name");
        if (keys[i].count == 0) {
            engine_dmn_complain(reading, binding, decision, "no-name",
                                "a binding of an invocation names no parameter");
            return NULL;
        }
        children[i + 1] = holds_form(binding) ? read_form(reading, binding, decision)
                                              : make_null(reading); /* DMN 1.5 table 47 */
    }
    struct expression_node *node = make(reading, NODE_FEEL_INVOKE, children, count + 1, NONE_LACKS);
    if (node != NULL) {
        node->as.keys.texts = keys;
        node->as.keys.count = count;
    }
    return node;
}

/* The expression in a part of that name; NULL after a complaint. */
static const struct expression_node *read_part(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision,
                                               const char *name)
{
    struct xml_element *part = engine_dmn_child(element, NULL, name);
    if (part == NULL) {
        engine_dmn_complain(reading, element, decision, "no-logic",
                            "a boxed \"%.*s\" of \"%.*s\" has no \"%s\"", SPAN_ARG(element->name),
                            SPAN_ARG(decision), name);
        return NULL;
    }
    return read_form(reading, part, decision);
}

static const struct expression_node *
read_conditional(struct dmn_reading *reading, struct xml_element *element, struct span decision)
{
    static const char *const parts[] = {"if", "then", "else"};
    const struct expression_node **children = children_of(reading, 3);
    for (unsigned i = 0; children != NULL && i < 3; i++) {
        children[i] = read_part(reading, element, decision, parts[i]);
    }
    return make(reading, NODE_FEEL_IF, children, 3, NONE_LACKS);
}

static const struct expression_node *read_filter(struct dmn_reading *reading,
                                                 struct xml_element *element, struct span decision)
{
    const struct expression_node **children = children_of(reading, 2);
    if (children != NULL) {
        children[0] = read_part(reading, element, decision, "in");
        children[1] = read_part(reading, element, decision, "match");
    }
    return make(reading, NODE_FEEL_FILTER, children, 2, NONE_LACKS);
}

/* Children of a loop: from, to, body; a list has no other end. */
static const struct expression_node *read_iterator(struct dmn_reading *reading,
                                                   struct xml_element *element,
                                                   struct span decision, enum expression_kind kind,
                                                   const char *body)
{
    struct span *keys = engine_dmn_room(reading, 1, sizeof *keys);
    const struct expression_node **children = children_of(reading, 3);
    uint32_t outer_names = reading->name_count;
    if (keys == NULL || children == NULL) {
        return NULL;
    }
    keys[0] = engine_xml_attribute(element, XML_NONE, "iteratorVariable");
    if (keys[0].count == 0) {
        engine_dmn_complain(reading, element, decision, "no-name",
                            "a boxed \"%.*s\" of \"%.*s\" has no iterator variable",
                            SPAN_ARG(element->name), SPAN_ARG(decision));
        return NULL;
    }
    children[0] = read_part(reading, element, decision, "in");
    engine_dmn_add_name(reading, keys[0]);
    children[2] = read_part(reading, element, decision, body);
    reading->name_count = outer_names;
    struct expression_node *node = make(reading, kind, children, 3, 1);
    if (node != NULL) {
        node->as.keys.texts = keys;
        node->as.keys.count = 1;
    }
    return node;
}

static const struct expression_node *read_for(struct dmn_reading *reading,
                                              struct xml_element *element, struct span decision)
{
    return read_iterator(reading, element, decision, NODE_FEEL_FOR, "return");
}

static const struct expression_node *read_some(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision)
{
    return read_iterator(reading, element, decision, NODE_FEEL_SOME, "satisfies");
}

static const struct expression_node *read_every(struct dmn_reading *reading,
                                                struct xml_element *element, struct span decision)
{
    return read_iterator(reading, element, decision, NODE_FEEL_EVERY, "satisfies");
}

static const struct {
    const char *name;
    form_fn read;
} forms[] = {
    {"literalExpression", read_literal},
    {"decisionTable", engine_dmn_read_table},
    {"context", read_context},
    {"invocation", read_invocation},
    {"relation", read_relation},
    {"list", read_list},
    {"functionDefinition", read_boxed_function},
    {"conditional", read_conditional},
    {"filter", read_filter},
    {"for", read_for},
    {"some", read_some},
    {"every", read_every},
};

/* How an element is read; NULL when it is no expression. */
static form_fn form_of(const struct xml_element *element, const struct xml_element *parent)
{
    if (!span_equal(element->uri, parent->uri)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (span_is(element->name, forms[i].name)) {
            return forms[i].read;
        }
    }
    return NULL;
}

static bool holds_form(const struct xml_element *element)
{
    const struct xml_element *child = NULL;
    while ((child = next_element(element, child)) != NULL) {
        if (form_of(child, element) != NULL) {
            return true;
        }
    }
    return false;
}

/* The one expression below an element; NULL after a complaint. */
static const struct expression_node *read_form(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision)
{
    struct xml_element *child = NULL;
    while ((child = next_element(element, child)) != NULL) {
        form_fn read = form_of(child, element);
        if (read != NULL) {
            return read(reading, child, decision);
        }
    }
    engine_dmn_complain(reading, element, decision, "no-logic",
                        "a \"%.*s\" of \"%.*s\" holds no expression", SPAN_ARG(element->name),
                        SPAN_ARG(decision));
    return NULL;
}

static const struct expression_node **read_row(struct dmn_reading *reading,
                                               struct xml_element *element, struct span decision,
                                               uint32_t *count)
{
    struct xml_element *child = NULL;
    *count = 0;
    while ((child = next_element(element, child)) != NULL) {
        *count += form_of(child, element) != NULL;
    }
    const struct expression_node **items = children_of(reading, *count);
    uint32_t at = 0;
    while (items != NULL && (child = next_element(element, child)) != NULL) {
        form_fn read = form_of(child, element);
        if (read != NULL) {
            items[at++] = read(reading, child, decision);
        }
    }
    return items;
}

static struct expression_value undecided(struct expression_evaluation *evaluation, const void *id)
{
    const struct span *decision = id;
    return expression_warn(evaluation, 0, "\"%.*s\" has no logic yet", SPAN_ARG(*decision));
}

/* DMN 1.5 §7.3.1: how a decision is made may be left open. It is null and says why. */
static const struct expression_node *
read_undecided(struct dmn_reading *reading, const struct xml_element *element, struct span decision)
{
    struct expression_node *node = engine_dmn_room(reading, 1, sizeof *node);
    struct span *id = engine_dmn_room(reading, 1, sizeof *id);
    engine_report_add(
        reading->report, ENGINE_WARNING, "no-logic", decision, element->line, element->column,
        "\"%.*s\" has neither a table nor an expression: its value is null", SPAN_ARG(decision));
    if (node != NULL && id != NULL) {
        *id = decision;
        node->kind = NODE_CUSTOM;
        node->depth = 1;
        node->as.custom.evaluate = undecided;
        node->as.custom.about = id;
    }
    return id == NULL ? NULL : node;
}

const struct expression_node *engine_dmn_read_logic(struct dmn_reading *reading,
                                                    struct xml_element *element,
                                                    struct span decision)
{
    struct xml_element *literal = engine_dmn_child(element, NULL, "literalExpression");
    bool any = holds_form(element);
    bool is_empty =
        literal != NULL && engine_xml_child_text(literal, XML_UNKNOWN, "text").count == 0;
    if ((!any || is_empty) && span_is(element->name, "decision")) {
        return read_undecided(reading, element, decision);
    }
    if (!any || is_empty) {
        engine_dmn_complain(reading, element, decision, "no-logic",
                            "a function of \"%.*s\" has no body", SPAN_ARG(decision));
        return NULL;
    }
    return read_form(reading, element, decision);
}
