/*
 * declared.c: which names with signs in them a file declares (engine.md 7): `order-id` is one name
 * in its expressions where a mapping, a result or a loop of the file makes a variable of that name,
 * and a subtraction elsewhere.
 *
 * The whole file is one place: a name is declared for all its expressions, whichever comes first.
 */
#include "engine/read/draft.h"

enum { NAMES_MAX = 256 };

/* Attributes that name a variable, and the element that must hold them; NULL: any. */
static const struct {
    const char *element;
    const char *attribute;
} places[] = {
    {"input", "target"},
    {"output", "target"},
    {"in", "target"},
    {"out", "target"},
    {"inputParameter", "name"},
    {"outputParameter", "name"},
    {"formField", "id"},
    {"inputDataItem", "name"},
    {"dataObject", "name"},
    {"dataObjectReference", "name"},
    {NULL, "resultVariable"},
    {NULL, "resultVariableName"},
    {NULL, "elementVariable"},
    {NULL, "inputElement"},
    {NULL, "outputCollection"},
    {NULL, "errorCodeVariable"},
    {NULL, "errorMessageVariable"},
};

static bool names_a_variable(const struct xml_element *element, struct span attribute)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (span_is(attribute, places[i].attribute) &&
            (places[i].element == NULL || span_is(element->name, places[i].element))) {
            return true;
        }
    }
    return false;
}

/* Signs that would end a name otherwise. Names with spaces need no declaration. */
static bool has_sign(struct span name)
{
    for (size_t i = 0; i < name.count; i++) {
        if (strchr("-+*/'", name.bytes[i]) != NULL && name.bytes[i] != 0) {
            return i > 0; /* it begins with a letter */
        }
    }
    return false;
}

static void declare(struct draft *draft, struct span *names, struct span name)
{
    struct engine_declarations *declared = &draft->declared;
    if (!has_sign(name) || declared->count == NAMES_MAX) {
        return;
    }
    for (size_t i = 0; i < declared->count; i++) {
        if (span_equal(names[i], name)) {
            return;
        }
    }
    names[declared->count++] = engine_draft_keep(draft, name);
}

/* Each member of a dotted target is a name of its own. */
static void declare_path(struct draft *draft, struct span *names, struct span path)
{
    size_t begin = 0;
    for (size_t at = 0; at <= path.count; at++) {
        if (at == path.count || path.bytes[at] == '.') {
            declare(draft, names, span_of(path.bytes + begin, at - begin));
            begin = at + 1;
        }
    }
}

/* The element behind this one, in the document's order. */
static struct xml_element *next_of(const struct xml_element *element)
{
    if (element->first != NULL) {
        return element->first;
    }
    while (element != NULL && element->next == NULL) {
        element = element->parent;
    }
    return element == NULL ? NULL : element->next;
}

void engine_draft_declare(struct draft *draft)
{
    struct span *names = arena_alloc(draft->arena, NAMES_MAX * sizeof *names);
    draft->declared = (struct engine_declarations){.names = names};
    if (names == NULL) {
        return; /* latched in the arena */
    }
    for (const struct xml_element *element = draft->root; element != NULL;
         element = next_of(element)) {
        for (const struct xml_attribute *attribute = element->attributes; attribute != NULL;
             attribute = attribute->next) {
            if (attribute->value.count > 0 && names_a_variable(element, attribute->name)) {
                declare_path(draft, names, attribute->value);
            }
        }
    }
    if (draft->declared.count == NAMES_MAX) {
        engine_report_add(draft->report, ENGINE_WARNING, "too-many-names", SPAN_EMPTY, 0, 0,
                          "more than %d variables have signs in their names: those behind are "
                          "read as subtractions",
                          NAMES_MAX - 1);
    }
}
