/*
 * type.h: the types of FEEL as expressions write them: `list<number>`, `context<a: string>`,
 * `function<number>->Any` (DMN 1.5 grammar rules 54 to 55). Lives in the definition's arena.
 */
#ifndef ENGINE_EXPRESSION_TYPE_H
#define ENGINE_EXPRESSION_TYPE_H

#include "engine/expression/evaluate.h"
#include "engine/expression/parser.h"

enum expression_type_form {
    TYPE_ANY,
    TYPE_PLAIN,    /* of `plain` */
    TYPE_LIST,     /* of `element` */
    TYPE_RANGE,    /* of `element` */
    TYPE_CONTEXT,  /* of the members, at least */
    TYPE_FUNCTION, /* from members (without names) to `element` */
    TYPE_DECLARED, /* by a decision model: `conforms` knows, asked about `about` */
};

/* Is the value, read and not null, of a type that is declared outside of expressions? */
typedef bool (*expression_conforms_fn)(struct expression_evaluation *evaluation,
                                       struct expression_value value, const void *about);

/* The types that a decision model defines, for expressions that name them. */
struct expression_declared_types {
    /* What `conforms` is to be asked about, which lives as long as the expression; NULL: there is
     * no type of that name. */
    const void *(*find)(const struct expression_declared_types *self, struct span name);
    expression_conforms_fn conforms;
};

struct expression_type_tree {
    enum expression_type_form form;
    enum expression_type plain;
    const struct expression_type_tree *element;
    const struct span *names; /* of members */
    const struct expression_type_tree *const *members;
    uint32_t member_count;
    expression_conforms_fn conforms;
    const void *about;
};

/* The type at the parser's place; NULL after an error. */
const struct expression_type_tree *expression_parse_type(struct expression_parser *parser);
/* Is the value, read, of the type? Null inside of lists and contexts is of any type, null alone
 * only of Null. */
bool expression_conforms(struct expression_evaluation *evaluation, struct expression_value value,
                         const struct expression_type_tree *type);

#endif
