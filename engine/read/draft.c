/*
 * draft.c: copying, reporting and compiling on behalf of the readers.
 */
#include "engine/read/draft.h"

#include <stdarg.h>
#include <stdio.h>

#include "proto/base/assert.h"

enum { MESSAGE_BYTES_MAX = 1024, SOURCE_BYTES_SHOWN = 120 };

struct span engine_draft_keep(struct draft *draft, struct span text)
{
    return text.count == 0 ? SPAN_EMPTY : arena_copy(draft->arena, text);
}

void engine_draft_problem(struct draft *draft, enum engine_severity severity, const char *rule,
                          struct xml_element *element, const char *format, ...)
{
    char message[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0);
    struct span id = engine_xml_id(element);
    if (id.count > 0) {
        engine_report_add(draft->report, severity, rule, id, element->line, element->column,
                          "%.*s \"%.*s\": %s", SPAN_ARG(element->name), SPAN_ARG(id), message);
    } else {
        engine_report_add(draft->report, severity, rule, id, element->line, element->column,
                          "%.*s: %s", SPAN_ARG(element->name), message);
    }
}

enum engine_severity engine_draft_refusal(const struct draft *draft)
{
    return draft->lenient ? ENGINE_WARNING : ENGINE_ERROR;
}

bool engine_draft_is_marked(struct span text)
{
    text = span_trim(text);
    if (text.count > 0 && text.bytes[0] == '=') {
        return true;
    }
    for (size_t i = 0; i + 1 < text.count; i++) {
        bool opens = text.bytes[i + 1] == '{';
        if (opens && (text.bytes[i] == '$' || text.bytes[i] == '#' || text.bytes[i] == '{')) {
            return true;
        }
    }
    return false;
}

static bool holds_parts(const struct xml_element *element)
{
    static const char *const names[] = {"definitions", "process", "subProcess", "transaction",
                                        "adHocSubProcess"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (engine_xml_is(element, XML_BPMN, names[i])) {
            return true;
        }
    }
    return false;
}

/* The node, flow or root element that it belongs to: what a reader of the report sees in the
 * drawing. */
static struct xml_element *part_around(struct xml_element *element)
{
    while (element->parent != NULL && !holds_parts(element->parent)) {
        element = element->parent;
    }
    return element;
}

struct point {
    uint32_t line;
    uint32_t column;
};

/* Text knows where it begins; attributes only where their element does. */
static struct point point_of(struct draft_place place, uint32_t offset)
{
    const struct xml_element *element = place.element;
    if (place.attribute != NULL) {
        return (struct point){element->line, element->column};
    }
    struct point point = {element->text_line, element->text_column};
    for (size_t i = 0; i < offset && i < element->text.count; i++) {
        bool ends_line = element->text.bytes[i] == '\n';
        point.line += ends_line;
        point.column = ends_line ? 1 : point.column + 1;
    }
    return point;
}

static void report_expression(struct draft *draft, struct draft_place place, struct span text,
                              enum result result, const struct engine_expression_error *error)
{
    struct xml_element *named = part_around(place.element);
    struct point point = point_of(place, error->offset);
    const char *what = place.attribute;
    struct span where = what != NULL ? span_text(what) : place.element->name;
    struct span shown = engine_report_excerpt(text, SOURCE_BYTES_SHOWN);
    const char *rule =
        result == RESULT_UNSUPPORTED ? "unsupported-expression" : "malformed-expression";
    engine_report_add(draft->report, engine_draft_refusal(draft), rule, engine_xml_id(named),
                      point.line, point.column, "%.*s \"%.*s\": %.*s `%.*s%s`: %s, at character %u",
                      SPAN_ARG(named->name), SPAN_ARG(engine_xml_id(named)), SPAN_ARG(where),
                      SPAN_ARG(shown), shown.count < text.count ? "…" : "",
                      error->message == NULL ? "it is too large" : error->message,
                      error->offset + 1);
}

const struct engine_expression *engine_draft_compile(struct draft *draft, struct draft_place place,
                                                     struct span text, enum engine_dialect dialect)
{
    text = span_trim(text);
    if (text.count == 0) {
        return NULL;
    }
    const struct engine_expression *expression = NULL;
    struct engine_expression_error error = {0};
    enum result result =
        engine_expression_compile_declared(engine_draft_keep(draft, text), dialect,
                                           &draft->declared, draft->arena, &expression, &error);
    if (result == RESULT_OK) {
        return expression;
    }
    report_expression(draft, place, text, result, &error);
    return NULL;
}

const struct engine_expression *engine_draft_value(struct draft *draft, struct draft_place place,
                                                   struct span text)
{
    if (span_trim(text).count == 0) {
        return engine_draft_compile(draft, place, span_text("null"), ENGINE_DIALECT_FEEL);
    }
    return engine_draft_compile(draft, place, text, ENGINE_DIALECT_AUTO);
}

/* DMN 1.4 grammar rule 35. */
struct span engine_draft_quote(struct draft *draft, struct span text)
{
    uint8_t *quoted = arena_alloc(draft->scratch, text.count * 2 + 2);
    if (quoted == NULL) {
        return SPAN_EMPTY;
    }
    size_t count = 0;
    quoted[count++] = '"';
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] == '"' || text.bytes[i] == '\\') {
            quoted[count++] = '\\';
        }
        quoted[count++] = text.bytes[i];
    }
    quoted[count++] = '"';
    return span_of(quoted, count);
}

const struct engine_expression *engine_draft_literal(struct draft *draft, struct draft_place place,
                                                     struct span text)
{
    if (text.count > 0 && !engine_draft_is_marked(text)) {
        return engine_draft_compile(draft, place, text, ENGINE_DIALECT_AUTO);
    }
    return engine_draft_compile(draft, place, engine_draft_quote(draft, text), ENGINE_DIALECT_FEEL);
}

const struct engine_expression *engine_draft_attribute(struct draft *draft,
                                                       struct xml_element *element,
                                                       enum xml_namespace space, const char *name,
                                                       enum engine_dialect dialect)
{
    struct span text = engine_xml_attribute(element, space, name);
    return engine_draft_compile(draft, (struct draft_place){element, name}, text, dialect);
}

const struct engine_expression *engine_draft_child(struct draft *draft, struct xml_element *element,
                                                   const char *name, enum engine_dialect dialect)
{
    struct xml_element *child = engine_xml_child(element, NULL, XML_BPMN, name);
    if (child == NULL) {
        return NULL;
    }
    return engine_draft_compile(draft, (struct draft_place){child, NULL}, child->text, dialect);
}

void engine_draft_map(struct draft *draft, struct engine_mappings *mappings,
                      const struct engine_expression *source, struct span target, uint32_t line)
{
    if (source == NULL) {
        return;
    }
    /* Room is always the next power of two, so a count that is one means that it is used up. */
    uint32_t count = mappings->count;
    struct engine_mapping *at = (void *)(uintptr_t)mappings->at;
    if ((count & (count - 1)) == 0) {
        uint32_t room = count == 0 ? 1 : count * 2;
        at = arena_grow(draft->arena, at, count * sizeof *at, room * sizeof *at);
        if (at == NULL) {
            return; /* latched in the arena; the definition is refused */
        }
        mappings->at = at;
    }
    at[count] = (struct engine_mapping){
        .source = source, .target = engine_draft_keep(draft, target), .line = line};
    mappings->count = count + 1;
}
