/*
 * event.c: one reader a kind of event definition, in a table by element name.
 */
#include "engine/read/event.h"

#include "engine/read/extension.h"
#include "proto/base/assert.h"

/* Everything a definition's reader may need: the event, and the definition's own element (not
 * always inside the event). */
struct reading {
    struct draft *draft;
    struct engine_node *node;
    struct xml_element *event;
    struct xml_element *definition;
};

typedef void (*definition_fn)(const struct reading *reading, struct engine_event_definition *out);

bool engine_event_is(enum engine_kind kind)
{
    return kind <= ENGINE_BOUNDARY_EVENT;
}

/* ---- references to root elements ---- */

/* The root element of that name that `reference` means; NULL after a report when it is none. */
static struct xml_element *find_root(struct draft *draft, struct xml_element *element,
                                     struct span reference, const char *name)
{
    const struct id *id = engine_ids_find(&draft->ids, reference);
    if (id == NULL || !engine_xml_is(id->element, XML_BPMN, name)) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", element,
                             "refers to the %s \"%.*s\", which does not exist", name,
                             SPAN_ARG(reference));
        return NULL;
    }
    return id->element;
}

static void read_name(struct draft *draft, struct xml_element *named,
                      struct engine_event_definition *out)
{
    struct span name = engine_xml_attribute(named, XML_NONE, "name");
    out->name = engine_draft_keep(draft, name);
    if (engine_draft_is_marked(name)) {
        out->name_value =
            engine_draft_attribute(draft, named, XML_NONE, "name", ENGINE_DIALECT_AUTO);
    }
}

void engine_event_read_message(struct draft *draft, struct xml_element *element,
                               struct span reference, struct engine_event_definition *out)
{
    struct xml_element *message = find_root(draft, element, reference, "message");
    if (message == NULL) {
        return;
    }
    read_name(draft, message, out);
    out->correlation_key =
        engine_draft_attribute(draft, message, XML_STRIDER, "correlationKey", ENGINE_DIALECT_AUTO);
    struct xml_element *subscription = engine_extension(message, NULL, XML_ZEEBE, "subscription");
    if (subscription != NULL) {
        out->correlation_key = engine_draft_attribute(draft, subscription, XML_NONE,
                                                      "correlationKey", ENGINE_DIALECT_AUTO);
    }
}

/* ---- definitions ---- */

static void read_message(const struct reading *reading, struct engine_event_definition *out)
{
    struct span reference = engine_xml_attribute(reading->definition, XML_NONE, "messageRef");
    if (reference.count > 0) {
        engine_event_read_message(reading->draft, reading->event, reference, out);
    }
}

static void read_signal(const struct reading *reading, struct engine_event_definition *out)
{
    struct span reference = engine_xml_attribute(reading->definition, XML_NONE, "signalRef");
    struct xml_element *signal =
        reference.count == 0 ? NULL
                             : find_root(reading->draft, reading->event, reference, "signal");
    if (signal != NULL) {
        read_name(reading->draft, signal, out);
    } else if (reference.count == 0) {
        engine_draft_problem(reading->draft, ENGINE_WARNING, "no-signal", reading->event,
                             "refers to no signal: its own id is taken as the signal's name");
    }
}

static void read_timer(const struct reading *reading, struct engine_event_definition *out)
{
    static const struct {
        const char *name;
        enum engine_timer_kind kind;
    } rows[] = {{"timeDate", ENGINE_TIMER_DATE},
                {"timeDuration", ENGINE_TIMER_DURATION},
                {"timeCycle", ENGINE_TIMER_CYCLE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (engine_xml_child(reading->definition, NULL, XML_BPMN, rows[i].name) == NULL) {
            continue;
        }
        if (out->timer != ENGINE_TIMER_NONE) {
            engine_draft_problem(reading->draft, ENGINE_ERROR, "timer", reading->event,
                                 "has more than one time");
            return;
        }
        out->timer = rows[i].kind;
        out->timer_value = engine_draft_child(reading->draft, reading->definition, rows[i].name,
                                              ENGINE_DIALECT_AUTO);
    }
}

static bool catches(const struct engine_node *node)
{
    return node->kind == ENGINE_START_EVENT || node->kind == ENGINE_BOUNDARY_EVENT ||
           node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT;
}

/* The code of the <error> or <escalation> that an attribute refers to. */
static void read_code(const struct reading *reading, const char *attribute, const char *root,
                      const char *code_name, struct engine_event_definition *out)
{
    struct draft *draft = reading->draft;
    struct span reference = engine_xml_attribute(reading->definition, XML_NONE, attribute);
    if (reference.count == 0) {
        return;
    }
    const struct id *id = engine_ids_find(&draft->ids, reference);
    if (id == NULL) {
        /* As Activiti and Camunda 7 do. */
        engine_draft_problem(draft, ENGINE_WARNING, "no-such-code", reading->event,
                             "there is no %s \"%.*s\": that text is taken as the code itself", root,
                             SPAN_ARG(reference));
        out->code = engine_draft_keep(draft, reference);
        return;
    }
    struct xml_element *element = find_root(draft, reading->event, reference, root);
    if (element == NULL) {
        return;
    }
    out->code = engine_draft_keep(draft, engine_xml_attribute(element, XML_NONE, code_name));
    if (!span_starts_with(out->code, "=")) {
        return;
    }
    if (catches(reading->node)) {
        engine_draft_problem(
            draft, engine_draft_refusal(draft), "unsupported-element", reading->event,
            "what is caught cannot have a code by expression (%.*s)", SPAN_ARG(out->code));
    } else {
        out->code_value =
            engine_draft_attribute(draft, element, XML_NONE, code_name, ENGINE_DIALECT_AUTO);
    }
}

static void read_error(const struct reading *reading, struct engine_event_definition *out)
{
    read_code(reading, "errorRef", "error", "errorCode", out);
    struct span code = engine_xml_attribute(reading->definition, XML_CAMUNDA, "errorCodeVariable");
    struct span message =
        engine_xml_attribute(reading->definition, XML_CAMUNDA, "errorMessageVariable");
    out->code_variable = engine_draft_keep(reading->draft, code);
    out->message_variable = engine_draft_keep(reading->draft, message);
    bool throws = reading->node->kind == ENGINE_END_EVENT;
    if (throws && out->code.count == 0) {
        engine_draft_problem(reading->draft, ENGINE_WARNING, "no-code", reading->event,
                             "throws an error without a code: only a catch-all takes it");
    }
}

static void read_escalation(const struct reading *reading, struct engine_event_definition *out)
{
    read_code(reading, "escalationRef", "escalation", "escalationCode", out);
    out->code_variable =
        engine_draft_keep(reading->draft, engine_xml_attribute(reading->definition, XML_CAMUNDA,
                                                               "escalationCodeVariable"));
}

static void read_compensation(const struct reading *reading, struct engine_event_definition *out)
{
    struct span reference = engine_xml_attribute(reading->definition, XML_NONE, "activityRef");
    if (reference.count == 0) {
        return;
    }
    const struct id *id = engine_ids_find(&reading->draft->ids, reference);
    if (id == NULL || id->kind != ID_NODE) {
        engine_draft_problem(reading->draft, ENGINE_ERROR, "dangling-reference", reading->event,
                             "compensates \"%.*s\", which does not exist", SPAN_ARG(reference));
        return;
    }
    out->activity = id->index;
}

static void read_condition(const struct reading *reading, struct engine_event_definition *out)
{
    out->condition = engine_draft_child(reading->draft, reading->definition, "condition",
                                        ENGINE_DIALECT_CONDITION);
}

static void read_link(const struct reading *reading, struct engine_event_definition *out)
{
    out->name = engine_draft_keep(reading->draft,
                                  engine_xml_attribute(reading->definition, XML_NONE, "name"));
}

static void read_nothing(const struct reading *reading, struct engine_event_definition *out)
{
    (void)reading, (void)out;
}

static const struct {
    const char *name;
    enum engine_event_kind kind;
    definition_fn read;
} definitions[] = {
    {"messageEventDefinition", ENGINE_ON_MESSAGE, read_message},
    {"timerEventDefinition", ENGINE_ON_TIMER, read_timer},
    {"signalEventDefinition", ENGINE_ON_SIGNAL, read_signal},
    {"errorEventDefinition", ENGINE_ON_ERROR, read_error},
    {"escalationEventDefinition", ENGINE_ON_ESCALATION, read_escalation},
    {"compensateEventDefinition", ENGINE_ON_COMPENSATION, read_compensation},
    {"conditionalEventDefinition", ENGINE_ON_CONDITION, read_condition},
    {"linkEventDefinition", ENGINE_ON_LINK, read_link},
    {"cancelEventDefinition", ENGINE_ON_CANCEL, read_nothing},
    {"terminateEventDefinition", ENGINE_ON_TERMINATE, read_nothing},
};
enum { DEFINITION_COUNT = sizeof definitions / sizeof definitions[0] };

/* Row of an element that is an event definition, else DEFINITION_COUNT. */
static size_t row_of(const struct xml_element *element)
{
    size_t row = 0;
    while (row < DEFINITION_COUNT && !engine_xml_is(element, XML_BPMN, definitions[row].name)) {
        row++;
    }
    return row;
}

struct xml_element *engine_event_find(struct draft *draft, struct xml_element *element,
                                      struct span reference)
{
    const struct id *id = engine_ids_find(&draft->ids, reference);
    if (id == NULL || row_of(id->element) == DEFINITION_COUNT) {
        engine_draft_problem(draft, ENGINE_ERROR, "dangling-reference", element,
                             "refers to the event definition \"%.*s\", which does not exist",
                             SPAN_ARG(reference));
        return NULL;
    }
    return id->element;
}

struct xml_element *engine_event_of(struct draft *draft, struct xml_element *event,
                                    struct xml_element *child)
{
    if (engine_xml_is(child, XML_BPMN, "eventDefinitionRef")) {
        return engine_event_find(draft, event, span_trim(child->text));
    }
    return row_of(child) < DEFINITION_COUNT ? child : NULL;
}

static void read_definitions(struct draft *draft, struct engine_node *node,
                             struct xml_element *element)
{
    uint32_t room = 0;
    for (struct xml_element *child = element->first; child != NULL; child = child->next) {
        room += row_of(child) < DEFINITION_COUNT ||
                engine_xml_is(child, XML_BPMN, "eventDefinitionRef");
    }
    struct engine_event_definition *events = arena_zero(draft->arena, room * sizeof *events);
    if (room == 0 || events == NULL) {
        return;
    }
    for (struct xml_element *child = element->first; child != NULL; child = child->next) {
        struct xml_element *definition = engine_event_of(draft, element, child);
        if (definition != NULL) {
            ASSERT(node->event_count < room);
            engine_event_read_one(draft, node, element, definition, &events[node->event_count++]);
        }
    }
    node->events = events;
}

void engine_event_read_one(struct draft *draft, struct engine_node *node,
                           struct xml_element *element, struct xml_element *definition,
                           struct engine_event_definition *out)
{
    size_t row = row_of(definition);
    ASSERT(row < DEFINITION_COUNT);
    *out = (struct engine_event_definition){.kind = definitions[row].kind, .activity = ENGINE_NONE};
    const struct reading reading = {draft, node, element, definition};
    definitions[row].read(&reading, out);
}

/* BPMN 2.0.2 table 10.90: an error always interrupts, whatever the file says. */
static void read_interrupting(struct draft *draft, struct engine_node *node,
                              struct xml_element *element)
{
    const char *attribute =
        node->kind == ENGINE_BOUNDARY_EVENT ? "cancelActivity" : "isInterrupting";
    node->interrupting = engine_xml_bool(element, XML_NONE, attribute, true);
    if (engine_node_bears(node, ENGINE_ON_ERROR) && !node->interrupting) {
        engine_draft_problem(draft, ENGINE_WARNING, "error-interrupts", element,
                             "an error event always interrupts: %s is ignored", attribute);
        node->interrupting = true;
    }
}

void engine_event_read(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    read_definitions(draft, node, element);
    node->parallel_multiple = engine_xml_bool(element, XML_NONE, "parallelMultiple", false);
    read_interrupting(draft, node, element);
}
