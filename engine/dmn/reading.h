/* reading.h: what the readers of a decision model share. Private to engine/dmn. */
#ifndef ENGINE_DMN_READING_H
#define ENGINE_DMN_READING_H

#include "engine/dmn/model.h"
#include "engine/expression/type.h"
#include "engine/read/xml.h"

struct dmn_reading {
    struct expression_declared_types types_declared; /* the item definitions, for expressions */
    struct arena *arena;
    struct engine_report *report;
    struct engine_dmn *dmn;
    struct xml_element *root;
    struct span *names; /* of decisions, knowledge models, input data, then parameters */
    uint32_t name_count;
    uint32_t name_capacity;
    bool has_too_many_names; /* and that was said */
    struct dmn_type *types;  /* item definitions, by the names below */
    struct span *type_names;
    uint32_t type_count;
};

/* An error at an element, of the decision that holds it; latches memory in the arena. */
void engine_dmn_complain(struct dmn_reading *reading, const struct xml_element *element,
                         struct span decision, const char *rule, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A child of that name in the DMN namespace. */
struct xml_element *engine_dmn_child(const struct xml_element *element,
                                     const struct xml_element *after, const char *name);
/* Room for `count` of `bytes` each, zeroed; NULL (latched) in a full arena. */
void *engine_dmn_room(struct dmn_reading *reading, size_t count, size_t bytes);

/* The "text" below an element, compiled; NULL when it is empty, or after a complaint. */
const struct expression_node *engine_dmn_compile(struct dmn_reading *reading,
                                                 struct xml_element *element, struct span decision,
                                                 enum engine_dialect dialect);
/* Children of that name in the DMN namespace. */
uint32_t engine_dmn_count(const struct xml_element *element, const char *name);
/* The item definitions, before anything that names them. False after a complaint. */
bool engine_dmn_read_types(struct dmn_reading *reading);
/* The type of that name, which stands at an element; NULL: any, or none is named. */
const struct dmn_type *engine_dmn_type(struct dmn_reading *reading,
                                       const struct xml_element *element, struct span reference);
/* For `types_declared`: an item definition of that name. */
const void *engine_dmn_find_type(const struct expression_declared_types *declared,
                                 struct span name);
/* By the element's typeRef; the element may be NULL. */
const struct dmn_type *engine_dmn_type_of(struct dmn_reading *reading, struct xml_element *element);
/* Is this the namespace of an edition of DMN? */
bool engine_dmn_is_namespace(struct span uri);
/* A name that expressions read from now on may hold, whatever signs are in it; who counts names
 * back takes it away again. */
void engine_dmn_add_name(struct dmn_reading *reading, struct span name);
/* The same for the names of what values have inside them, below an element, for the whole model. */
void engine_dmn_read_member_names(struct dmn_reading *reading, struct xml_element *element);
/* By its variable, else its own. */
struct span engine_dmn_variable_name(struct xml_element *element);
/* What a function gives that is declared to be of this type: some name the type of the function
 * (DMN 1.5 §7.3.4), some that of its result. NULL: anything. */
const struct dmn_type *engine_dmn_result_type(const struct dmn_type *type);
/* A "decisionTable" as a node; NULL after a complaint. */
const struct expression_node *engine_dmn_read_table(struct dmn_reading *reading,
                                                    struct xml_element *element,
                                                    struct span decision);
/* The one expression below an element, of whatever form; NULL after a complaint. */
const struct expression_node *engine_dmn_read_logic(struct dmn_reading *reading,
                                                    struct xml_element *element,
                                                    struct span decision);
/* The literal of a function: parameters and a body below `function`, whose result may have the type
 * of `variable` (or NULL). NULL after a complaint. */
const struct expression_node *engine_dmn_read_function(struct dmn_reading *reading,
                                                       struct xml_element *function,
                                                       struct xml_element *variable,
                                                       struct span decision);
/* Logic between parameters and a result of declared types; itself where none is declared. */
const struct expression_node *engine_dmn_typed(struct dmn_reading *reading,
                                               const struct expression_node *logic,
                                               const struct dmn_data *parameters, uint32_t count,
                                               const struct dmn_type *type);
/* The literal of a function of these parameters, EXPRESSION_LITERAL_PARAMETERS_MAX at most. */
const struct expression_node *engine_dmn_literal(struct dmn_reading *reading,
                                                 const struct expression_node *body,
                                                 const struct span *names, uint32_t count);
/* What a decision service requires, into its row; its function once all logic is read. False after
 * a complaint. */
bool engine_dmn_read_service(struct dmn_reading *reading, struct xml_element *element,
                             struct dmn_decision *row);
const struct expression_node *engine_dmn_service_function(struct dmn_reading *reading,
                                                          const struct dmn_decision *row);
/* The place of the decision, knowledge model or service that a reference leads to; false: none. */
bool engine_dmn_find_place(const struct engine_dmn *dmn, struct span reference, uint32_t *place);
/* The input data that a reference leads to; NULL: none. */
struct xml_element *engine_dmn_find_data(struct dmn_reading *reading, struct span reference);
/* The requirements of all decisions, and an order that keeps them. False after a complaint. */
bool engine_dmn_read_requirements(struct dmn_reading *reading, struct xml_element *const *elements);

#endif
