/*
 * xml.c: Expat's events become a tree in an arena.
 */
#include "engine/read/xml.h"

#include <expat.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"

enum {
    ATTRIBUTES_MAX = 256,          /* of one element */
    ATTRIBUTE_BYTES_MAX = 1 << 20, /* of one value */
    URIS_MAX = 64,                 /* distinct namespaces that are kept once */
};

/* Cannot stand in a URI, so Expat's "uri<separator>local" is unambiguous. */
static const char separator = '\n';

static const struct {
    const char *uri;
    enum xml_namespace space;
} namespaces[] = {
    {"http://www.omg.org/spec/BPMN/20100524/MODEL", XML_BPMN},
    {"http://www.omg.org/spec/BPMN/20100524/DI", XML_DIAGRAM},
    {"http://camunda.org/schema/zeebe/1.0", XML_ZEEBE},
    {"http://camunda.org/schema/1.0/bpmn", XML_CAMUNDA},
    {"http://activiti.org/bpmn", XML_CAMUNDA},
    {"http://flowable.org/bpmn", XML_CAMUNDA},
    {"urn:strider:bpmn:1", XML_STRIDER},
};

static const struct {
    enum XML_Error code;
    const char *words;
} plain_words[] = {
    {XML_ERROR_SYNTAX, "this is not XML"},
    {XML_ERROR_NO_ELEMENTS, "the file holds no XML element, or ends before its root element does"},
    {XML_ERROR_INVALID_TOKEN, "a character that cannot stand here"},
    {XML_ERROR_UNCLOSED_TOKEN, "the file ends within a tag"},
    {XML_ERROR_PARTIAL_CHAR, "the file ends within a character"},
    {XML_ERROR_DUPLICATE_ATTRIBUTE, "an attribute is given twice"},
    {XML_ERROR_JUNK_AFTER_DOC_ELEMENT, "something stands behind the root element"},
    {XML_ERROR_UNDEFINED_ENTITY, "an entity that XML does not define"},
    {XML_ERROR_UNKNOWN_ENCODING, "the encoding is none of UTF-8, UTF-16, ISO-8859-1, US-ASCII"},
    {XML_ERROR_INCORRECT_ENCODING, "the declared encoding is not that of the bytes"},
    {XML_ERROR_UNCLOSED_CDATA_SECTION, "the file ends within a CDATA section"},
    {XML_ERROR_MISPLACED_XML_PI, "the XML declaration is not at the very beginning"},
    {XML_ERROR_BAD_CHAR_REF, "a character reference to no legal character"},
};

struct reading {
    XML_Parser parser;
    struct arena *arena;
    struct engine_report *report;
    struct xml_element *root;
    struct xml_element *open; /* innermost element that has not ended */
    struct span content;
    uint32_t depth;
    uint32_t element_count;
    struct span uris[URIS_MAX];
    enum xml_namespace spaces[URIS_MAX];
    uint32_t uri_count;
    enum result result; /* why we stopped it ourselves */
};

static uint32_t line_now(const struct reading *reading)
{
    return (uint32_t)XML_GetCurrentLineNumber(reading->parser);
}

static uint32_t column_now(const struct reading *reading)
{
    return (uint32_t)XML_GetCurrentColumnNumber(reading->parser) + 1;
}

static void refuse(struct reading *reading, enum result result, const char *rule, const char *why)
{
    if (reading->result != RESULT_OK) {
        return;
    }
    reading->result = result;
    engine_report_add(reading->report, ENGINE_ERROR, rule, SPAN_EMPTY, line_now(reading),
                      column_now(reading), "%s", why);
    (void)XML_StopParser(reading->parser, XML_FALSE);
}

static enum xml_namespace space_of(struct span uri)
{
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
        if (span_is(uri, namespaces[i].uri)) {
            return namespaces[i].space;
        }
    }
    return XML_UNKNOWN;
}

/* Splits Expat's name; each URI is kept and looked up once. */
static enum xml_namespace split_name(struct reading *reading, const char *full, struct span *uri,
                                     struct span *name)
{
    const char *cut = strchr(full, separator);
    if (cut == NULL) {
        *uri = SPAN_EMPTY;
        *name = arena_copy(reading->arena, span_text(full));
        return XML_NONE;
    }
    struct span seen = span_of(full, (size_t)(cut - full));
    *name = arena_copy(reading->arena, span_text(cut + 1));
    for (uint32_t i = 0; i < reading->uri_count; i++) {
        if (span_equal(reading->uris[i], seen)) {
            *uri = reading->uris[i];
            return reading->spaces[i];
        }
    }
    *uri = arena_copy(reading->arena, seen);
    enum xml_namespace space = space_of(seen);
    if (reading->uri_count < URIS_MAX) {
        reading->uris[reading->uri_count] = *uri;
        reading->spaces[reading->uri_count] = space;
        reading->uri_count++;
    }
    return space;
}

static bool add_attributes(struct reading *reading, struct xml_element *element, const char **pairs)
{
    struct xml_attribute **tail = &element->attributes;
    uint32_t count = 0;
    for (; pairs[0] != NULL; pairs += 2) {
        struct span value = span_text(pairs[1]);
        struct xml_attribute *attribute = arena_zero(reading->arena, sizeof *attribute);
        if (++count > ATTRIBUTES_MAX || value.count > ATTRIBUTE_BYTES_MAX) {
            refuse(reading, RESULT_LIMIT, "limit",
                   "an element has too many or too long attributes");
            return false;
        }
        if (attribute == NULL) {
            return false;
        }
        struct span uri;
        attribute->space = split_name(reading, pairs[0], &uri, &attribute->name);
        attribute->value = arena_copy(reading->arena, value);
        *tail = attribute;
        tail = &attribute->next;
    }
    return true;
}

static void append_child(struct xml_element *parent, struct xml_element *child)
{
    if (parent->last == NULL) {
        parent->first = child;
    } else {
        parent->last->next = child;
    }
    parent->last = child;
}

static void XMLCALL on_start(void *context, const char *full, const char **pairs)
{
    struct reading *reading = context;
    if (reading->result != RESULT_OK) {
        return;
    }
    if (++reading->depth > LIMIT_XML_DEPTH) {
        refuse(reading, RESULT_LIMIT, "limit", "elements are nested too deeply");
        return;
    }
    if (++reading->element_count > LIMIT_XML_ELEMENTS) {
        refuse(reading, RESULT_LIMIT, "limit", "the file has too many elements");
        return;
    }
    struct xml_element *element = arena_zero(reading->arena, sizeof *element);
    if (element == NULL) {
        refuse(reading, RESULT_LIMIT, "limit", "the file takes too much memory");
        return;
    }
    element->parent = reading->open;
    element->line = line_now(reading);
    element->column = column_now(reading);
    element->space = split_name(reading, full, &element->uri, &element->name);
    if (!add_attributes(reading, element, pairs)) {
        return;
    }
    if (element->parent == NULL) {
        reading->root = element;
    } else {
        append_child(element->parent, element);
    }
    reading->open = element;
}

static void XMLCALL on_end(void *context, const char *full)
{
    (void)full;
    struct reading *reading = context;
    if (reading->result == RESULT_OK) {
        ASSERT(reading->open != NULL && reading->depth > 0);
        reading->open = reading->open->parent;
        reading->depth--;
    }
}

static void XMLCALL on_text(void *context, const char *bytes, int count)
{
    struct reading *reading = context;
    struct xml_element *element = reading->open;
    struct span chunk = span_of(bytes, (size_t)count);
    if (reading->result != RESULT_OK || element == NULL) {
        return;
    }
    if (element->text.count == 0) {
        if (span_trim(chunk).count == 0) {
            return;
        }
        element->text_line = line_now(reading);
        element->text_column = column_now(reading);
    }
    size_t total = element->text.count + chunk.count;
    uint8_t *text = arena_grow(reading->arena, (void *)(uintptr_t)element->text.bytes,
                               element->text.count, total);
    if (text == NULL) {
        refuse(reading, RESULT_LIMIT, "limit", "the file takes too much memory");
        return;
    }
    memcpy(text + element->text.count, chunk.bytes, chunk.count);
    element->text = span_of(text, total);
}

static void XMLCALL on_doctype(void *context, const char *name, const char *system,
                               const char *public, int has_internal)
{
    (void)name, (void)system, (void)public, (void)has_internal;
    refuse(context, RESULT_INVALID, "dtd", "a document type declaration (DTD) is not allowed");
}

/* The tag at the byte where Expat stopped, for encodings that extend ASCII; empty otherwise. */
static struct span tag_at(struct span content, int64_t offset)
{
    if (offset < 0 || (size_t)offset >= content.count || content.bytes[offset] != '<') {
        return SPAN_EMPTY;
    }
    enum { TAG_BYTES_MAX = 80 };
    struct span tag = span_of(content.bytes + offset + 1, 0);
    size_t left = content.count - (size_t)offset - 1;
    while (tag.count < left && tag.count < TAG_BYTES_MAX &&
           memchr(" \t\r\n/>", tag.bytes[tag.count], 6) == NULL) {
        tag.count++;
    }
    return tag;
}

static void report_failure(struct reading *reading)
{
    enum XML_Error code = XML_GetErrorCode(reading->parser);
    const struct xml_element *open = reading->open;
    uint32_t line = line_now(reading);
    uint32_t column = column_now(reading);
    if (code == XML_ERROR_UNBOUND_PREFIX) {
        struct span tag = tag_at(reading->content, (int64_t)XML_GetErrorByteIndex(reading->parser));
        engine_report_add(
            reading->report, ENGINE_ERROR, "xml", SPAN_EMPTY, line, column,
            "the tag <%.*s> or one of its attributes has a prefix that no xmlns declares",
            SPAN_ARG(tag));
        return;
    }
    if (code == XML_ERROR_TAG_MISMATCH && open != NULL) {
        engine_report_add(reading->report, ENGINE_ERROR, "xml", SPAN_EMPTY, line, column,
                          "this end tag does not close <%.*s> of line %u", SPAN_ARG(open->name),
                          open->line);
        return;
    }
    const char *words = XML_ErrorString(code);
    for (size_t i = 0; i < sizeof plain_words / sizeof plain_words[0]; i++) {
        words = plain_words[i].code == code ? plain_words[i].words : words;
    }
    if (code == XML_ERROR_NO_ELEMENTS && open != NULL) {
        engine_report_add(reading->report, ENGINE_ERROR, "xml", SPAN_EMPTY, line, column,
                          "the file ends before <%.*s> of line %u is closed", SPAN_ARG(open->name),
                          open->line);
        return;
    }
    engine_report_add(reading->report, ENGINE_ERROR, "xml", SPAN_EMPTY, line, column, "%s",
                      words == NULL ? "this is not XML" : words);
}

enum result engine_xml_parse(struct span content, struct arena *arena, struct engine_report *report,
                             struct xml_element **root)
{
    if (content.count > LIMIT_DEFINITION_BYTES) {
        engine_report_add(report, ENGINE_ERROR, "limit", SPAN_EMPTY, 0, 0,
                          "the file is larger than %u bytes", LIMIT_DEFINITION_BYTES);
        return RESULT_LIMIT;
    }
    struct reading reading = {.arena = arena, .report = report, .content = content};
    reading.parser = XML_ParserCreateNS(NULL, separator);
    if (reading.parser == NULL) {
        return RESULT_LIMIT;
    }
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, on_start, on_end);
    XML_SetCharacterDataHandler(reading.parser, on_text);
    XML_SetStartDoctypeDeclHandler(reading.parser, on_doctype);
    enum XML_Status status =
        XML_Parse(reading.parser, (const char *)content.bytes, (int)content.count, XML_TRUE);
    if (reading.result == RESULT_OK && arena->overflowed) {
        refuse(&reading, RESULT_LIMIT, "limit", "the file takes too much memory");
    }
    if (reading.result == RESULT_OK && status != XML_STATUS_OK) {
        report_failure(&reading);
        reading.result = RESULT_INVALID;
    }
    XML_ParserFree(reading.parser);
    *root = reading.result == RESULT_OK ? reading.root : NULL;
    ASSERT(reading.result != RESULT_OK || reading.root != NULL);
    return reading.result;
}

static struct xml_attribute *find_attribute(const struct xml_element *element,
                                            enum xml_namespace space, const char *name)
{
    struct xml_attribute *attribute = element->attributes;
    while (attribute != NULL && (attribute->space != space || !span_is(attribute->name, name))) {
        attribute = attribute->next;
    }
    return attribute;
}

struct span engine_xml_attribute(struct xml_element *element, enum xml_namespace space,
                                 const char *name)
{
    struct xml_attribute *attribute = find_attribute(element, space, name);
    if (attribute == NULL) {
        return SPAN_EMPTY;
    }
    attribute->used = true;
    return span_trim(attribute->value);
}

bool engine_xml_has_attribute(const struct xml_element *element, enum xml_namespace space,
                              const char *name)
{
    return find_attribute(element, space, name) != NULL;
}

bool engine_xml_bool(struct xml_element *element, enum xml_namespace space, const char *name,
                     bool fallback)
{
    struct span value = engine_xml_attribute(element, space, name);
    return value.count == 0 ? fallback : span_is(value, "true") || span_is(value, "1");
}

struct span engine_xml_id(struct xml_element *element)
{
    return engine_xml_attribute(element, XML_NONE, "id");
}

bool engine_xml_is(const struct xml_element *element, enum xml_namespace space, const char *name)
{
    return element->space == space && span_is(element->name, name);
}

struct xml_element *engine_xml_child(const struct xml_element *element,
                                     const struct xml_element *after, enum xml_namespace space,
                                     const char *name)
{
    struct xml_element *child = after == NULL ? element->first : after->next;
    while (child != NULL && !engine_xml_is(child, space, name)) {
        child = child->next;
    }
    return child;
}

struct span engine_xml_child_text(const struct xml_element *element, enum xml_namespace space,
                                  const char *name)
{
    const struct xml_element *child = engine_xml_child(element, NULL, space, name);
    return child == NULL ? SPAN_EMPTY : span_trim(child->text);
}

struct xml_element *engine_xml_walk(const struct xml_element *top,
                                    const struct xml_element *element)
{
    return element->first != NULL ? element->first : engine_xml_walk_over(top, element);
}

struct xml_element *engine_xml_walk_over(const struct xml_element *top,
                                         const struct xml_element *element)
{
    while (element != top && element->next == NULL) {
        element = element->parent;
    }
    return element == top ? NULL : element->next;
}
