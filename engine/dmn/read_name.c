/*
 * read_name.c: names of what values have inside them: components of types, outputs of tables,
 * columns of relations and entries of contexts. `order.unit-price` is a path where one of these is
 * called "unit-price", and a subtraction elsewhere.
 *
 * The whole model is one place: such a value is handed on from decision to decision.
 */
#include "engine/dmn/reading.h"
#include "engine/expression/lexer.h"

static const char *const holders[] = {"itemComponent", "output", "column", "variable"};

/* Is it one name only because the model says so? Names of several plain words need no telling. */
static bool needs_telling(struct span name)
{
    size_t word = 0; /* where the one that ends at `i` began */
    for (size_t i = 1; i <= name.count; i++) {
        bool ends = i == name.count || name.bytes[i] == ' ';
        if (ends && word > 0 &&
            expression_is_keyword(span_of(name.bytes + word, i - word), SYNTAX_FEEL)) {
            return true;
        }
        if (ends) {
            word = i + 1;
        } else if (name.bytes[i] != 0 && strchr("-+*/.", name.bytes[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_known(const struct dmn_reading *reading, struct span name)
{
    for (uint32_t i = 0; i < reading->name_count; i++) {
        if (span_equal(reading->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* The depth is that of the document. */
void engine_dmn_read_member_names(struct dmn_reading *reading, struct xml_element *element)
{
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
        if (span_is(element->name, holders[i]) && !reading->has_too_many_names) {
            struct span name = engine_xml_attribute(element, XML_NONE, "name");
            if (needs_telling(name) && !is_known(reading, name)) {
                engine_dmn_add_name(reading, name);
            }
        }
    }
    for (struct xml_element *child = element->first; child != NULL; child = child->next) {
        engine_dmn_read_member_names(reading, child);
    }
}
