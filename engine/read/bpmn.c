/*
 * bpmn.c: from the document to nodes and flows, in three passes: ids of the whole file; then what
 * each element is and where it stands; then what it says, when every reference can be resolved.
 */
#include "engine/read/bpmn.h"

#include "engine/read/activity.h"
#include "engine/read/draft.h"
#include "engine/read/event.h"
#include "engine/read/extension.h"
#include "engine/read/flow.h"
#include "engine/read/layout.h"
#include "engine/read/link.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

enum { SCRATCH_BLOCK_BYTES = 64 << 10, SCRATCH_BYTES_MAX = 256 << 20 };

/* ---- ids ---- */

/* BPMN 2.0.2 §8.3.1: an id is unique in its file, diagram included. Vendors' elements have ids of
 * their own. */
static bool bears_id(const struct xml_element *element)
{
    return element->space == XML_BPMN || element->space == XML_DIAGRAM;
}

static enum result collect_ids(struct draft *draft)
{
    size_t count = 0;
    for (struct xml_element *element = draft->root; element != NULL;
         element = engine_xml_walk(draft->root, element)) {
        count += bears_id(element);
    }
    enum result result = engine_ids_init(&draft->ids, count, draft->scratch);
    if (result != RESULT_OK) {
        return result;
    }
    for (struct xml_element *element = draft->root; element != NULL;
         element = engine_xml_walk(draft->root, element)) {
        struct span text = bears_id(element) ? engine_xml_id(element) : SPAN_EMPTY;
        if (text.count == 0) {
            continue;
        }
        struct id *id = engine_ids_put(&draft->ids, text, element);
        if (id->element != element) {
            engine_draft_problem(draft, ENGINE_ERROR, "duplicate-id", element,
                                 "the %.*s of line %u has the same id", SPAN_ARG(id->element->name),
                                 id->element->line);
        }
    }
    return RESULT_OK;
}

/* Notes what an element's id stands for, unless the id belongs to another element (which was
 * reported). */
static void set_id(struct draft *draft, struct xml_element *element, enum id_kind kind,
                   uint32_t process, uint32_t index)
{
    struct span text = engine_xml_id(element);
    struct id *id = text.count == 0 ? NULL : engine_ids_find(&draft->ids, text);
    if (id != NULL && id->element == element) {
        id->kind = kind;
        id->process = process;
        id->index = index;
    }
}

/* ---- what stands in a process ---- */

enum part { PART_NODE, PART_FLOW, PART_SILENT, PART_FOREIGN, PART_UNKNOWN };

/* BPMN elements inside a process that neither hold nor guide tokens. */
static const char *const silent_names[] = {
    "extensionElements",
    "documentation",
    "incoming",
    "outgoing",
    "laneSet",
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "textAnnotation",
    "association",
    "group",
    "ioSpecification",
    "ioBinding",
    "property",
    "dataInputAssociation",
    "dataOutputAssociation",
    "auditing",
    "monitoring",
    "correlationSubscription",
    "supports",
    "resourceRole",
    "performer",
    "humanPerformer",
    "potentialOwner",
    "standardLoopCharacteristics",
    "multiInstanceLoopCharacteristics",
    "completionCondition",
    "supportedInterfaceRef",
    "eventDefinitionRef",
};

static enum engine_kind kind_of(const struct xml_element *element)
{
    enum engine_kind kind = 0;
    while (kind < ENGINE_KIND_COUNT &&
           !engine_xml_is(element, XML_BPMN, engine_kind_xml_name(kind))) {
        kind++;
    }
    return kind;
}

/* BPMN 2.0.2 §10.3.4: what the task of a global task is; ENGINE_KIND_COUNT: it is none. */
static enum engine_kind global_kind_of(const struct xml_element *element)
{
    enum engine_kind kind = 0;
    while (kind < ENGINE_KIND_COUNT &&
           (engine_kind_global_name(kind) == NULL ||
            !engine_xml_is(element, XML_BPMN, engine_kind_global_name(kind)))) {
        kind++;
    }
    return kind;
}

static enum part part_of(const struct xml_element *element)
{
    if (element->space != XML_BPMN) {
        return PART_FOREIGN;
    }
    if (span_is(element->name, "sequenceFlow")) {
        return PART_FLOW;
    }
    if (kind_of(element) < ENGINE_KIND_COUNT) {
        return PART_NODE;
    }
    for (size_t i = 0; i < sizeof silent_names / sizeof silent_names[0]; i++) {
        if (span_is(element->name, silent_names[i])) {
            return PART_SILENT;
        }
    }
    return PART_UNKNOWN;
}

/* The next element to look at: into sub-processes, over everything else. */
static struct xml_element *next_part(const struct xml_element *process,
                                     const struct xml_element *element)
{
    if (!engine_xml_is(process, XML_BPMN, "process")) {
        return NULL; /* a global task is one node */
    }
    bool is_scope = element == process ||
                    (part_of(element) == PART_NODE && engine_activity_is_scope(kind_of(element)));
    return is_scope ? engine_xml_walk(process, element) : engine_xml_walk_over(process, element);
}

static void add_node(struct draft *draft, struct draft_process *process,
                     struct xml_element *element, uint32_t scope)
{
    uint32_t index = process->node_count++;
    process->node_elements[index] = element;
    process->nodes[index] = (struct engine_node){
        .index = index,
        .kind = process->model->is_global_task ? global_kind_of(element) : kind_of(element),
        .id = engine_draft_keep(draft, engine_xml_id(element)),
        .name = engine_draft_keep(draft, engine_xml_attribute(element, XML_NONE, "name")),
        .line = element->line,
        .scope = scope,
        .attached_to = ENGINE_NONE,
        .compensation = ENGINE_NONE,
        .default_flow = ENGINE_NONE,
    };
    if (process->model->is_global_task) {
        return; /* its id stands for what is called */
    }
    set_id(draft, element, ID_NODE, process->index, index);
    if (process->nodes[index].id.count == 0) {
        engine_draft_problem(draft, ENGINE_ERROR, "no-id", element,
                             "the element of line %u has no id", element->line);
    }
}

static void add_flow(struct draft *draft, struct draft_process *process,
                     struct xml_element *element)
{
    uint32_t index = process->flow_count++;
    process->flow_elements[index] = element;
    process->flows[index] = (struct engine_flow){
        .index = index,
        .source = ENGINE_NONE,
        .target = ENGINE_NONE,
        .id = engine_draft_keep(draft, engine_xml_id(element)),
        .name = engine_draft_keep(draft, engine_xml_attribute(element, XML_NONE, "name")),
        .line = element->line,
    };
    set_id(draft, element, ID_FLOW, process->index, index);
}

static void add_part(struct draft *draft, struct draft_process *process,
                     struct xml_element *element, uint32_t scope)
{
    switch (part_of(element)) {
    case PART_NODE:
        add_node(draft, process, element, scope);
        break;
    case PART_FLOW:
        add_flow(draft, process, element);
        break;
    case PART_UNKNOWN:
        engine_draft_problem(draft, engine_draft_refusal(draft), "unsupported-element", element,
                             "line %u: BPMN has no such element in a process", element->line);
        break;
    case PART_FOREIGN:
        engine_draft_problem(draft, ENGINE_INFO, "ignored-extension", element,
                             "of namespace \"%.*s\" is ignored", SPAN_ARG(element->uri));
        break;
    case PART_SILENT:
        break;
    }
}

static bool make_room(struct draft *draft, struct draft_process *process)
{
    uint32_t node_count = process->model->is_global_task;
    uint32_t flow_count = 0;
    for (struct xml_element *element = next_part(process->element, process->element);
         element != NULL; element = next_part(process->element, element)) {
        enum part part = part_of(element);
        node_count += part == PART_NODE;
        flow_count += part == PART_FLOW;
    }
    process->nodes = arena_zero(draft->arena, node_count * sizeof *process->nodes);
    process->flows = arena_zero(draft->arena, flow_count * sizeof *process->flows);
    process->node_elements = arena_alloc(draft->scratch, node_count * sizeof(struct xml_element *));
    process->flow_elements = arena_alloc(draft->scratch, flow_count * sizeof(struct xml_element *));
    return process->nodes != NULL && process->flows != NULL && process->node_elements != NULL &&
           process->flow_elements != NULL;
}

static enum result collect_parts(struct draft *draft, struct draft_process *process)
{
    if (!make_room(draft, process)) {
        return RESULT_LIMIT;
    }
    if (process->model->is_global_task) {
        add_node(draft, process, process->element, ENGINE_NONE);
    }
    uint32_t scope = ENGINE_NONE; /* innermost sub-process around the element at hand */
    for (struct xml_element *element = next_part(process->element, process->element);
         element != NULL; element = next_part(process->element, element)) {
        while (scope != ENGINE_NONE && process->node_elements[scope] != element->parent) {
            scope = process->nodes[scope].scope;
        }
        add_part(draft, process, element, scope);
        if (part_of(element) == PART_NODE && engine_activity_is_scope(kind_of(element))) {
            scope = process->node_count - 1;
        }
    }
    process->model->nodes = process->nodes;
    process->model->node_count = process->node_count;
    process->model->flows = process->flows;
    process->model->flow_count = process->flow_count;
    return RESULT_OK;
}

/* ---- what the parts say ---- */

static bool is_gateway(enum engine_kind kind)
{
    return kind >= ENGINE_EXCLUSIVE_GATEWAY && kind <= ENGINE_EVENT_GATEWAY;
}

static void read_gateway(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    node->condition =
        engine_draft_child(draft, element, "activationCondition", ENGINE_DIALECT_CONDITION);
    node->instantiate = engine_xml_bool(element, XML_NONE, "instantiate", false);
    struct span type = engine_xml_attribute(element, XML_NONE, "eventGatewayType");
    node->exclusive_type = !span_is(type, "Parallel");
}

static void read_node(struct draft *draft, struct engine_node *node, struct xml_element *element)
{
    if (engine_activity_is(node->kind)) {
        engine_activity_read(draft, node, element);
    } else if (engine_event_is(node->kind)) {
        engine_event_read(draft, node, element);
    } else {
        ASSERT(is_gateway(node->kind));
        read_gateway(draft, node, element);
    }
    engine_zeebe_read(draft, node, element);
    engine_camunda_read(draft, node, element);
    engine_strider_read(draft, node, element);
    engine_rule_read(draft, node, element);
    if (engine_activity_is(node->kind)) {
        engine_activity_finish(draft, node, element);
    }
}

static void read_process(struct draft *draft, struct draft_process *process)
{
    for (uint32_t i = 0; i < process->node_count; i++) {
        read_node(draft, &process->nodes[i], process->node_elements[i]);
    }
    engine_link_references(draft, process);
    engine_flow_read_conditions(draft, process);
    engine_link_lists(draft->arena, process->model, process->nodes);
    engine_link_compare_lists(draft, process);
    engine_process_index(process->model, draft->arena);
}

/* ---- the file ---- */

static void describe_process(struct draft *draft, struct draft_process *process)
{
    struct xml_element *element = process->element;
    struct engine_process *model = process->model;
    model->id = engine_draft_keep(draft, engine_xml_id(element));
    model->name = engine_draft_keep(draft, engine_xml_attribute(element, XML_NONE, "name"));
    struct xml_element *tag = engine_extension(element, NULL, XML_ZEEBE, "versionTag");
    model->version_tag = engine_draft_keep(
        draft, tag != NULL ? engine_xml_attribute(tag, XML_NONE, "value")
                           : engine_xml_attribute(element, XML_CAMUNDA, "versionTag"));
    model->is_global_task = global_kind_of(element) < ENGINE_KIND_COUNT;
    model->executable =
        !model->is_global_task && engine_xml_bool(element, XML_NONE, "isExecutable", true);
    model->line = element->line;
    set_id(draft, element, ID_PROCESS, process->index, 0);
    if (model->id.count == 0) {
        engine_draft_problem(draft, ENGINE_ERROR, "no-id", element, "the %.*s of line %u has no id",
                             SPAN_ARG(element->name), element->line);
    }
    if (!model->executable && !model->is_global_task) {
        engine_draft_problem(draft, ENGINE_WARNING, "not-executable", element,
                             "is marked isExecutable=\"false\"; it is deployed all the same");
    }
}

/* A pool says which process it shows. */
static void check_participants(struct draft *draft)
{
    struct xml_element *collaboration = NULL;
    while ((collaboration =
                engine_xml_child(draft->root, collaboration, XML_BPMN, "collaboration")) != NULL) {
        struct xml_element *participant = NULL;
        while ((participant = engine_xml_child(collaboration, participant, XML_BPMN,
                                               "participant")) != NULL) {
            struct span reference = engine_xml_attribute(participant, XML_NONE, "processRef");
            const struct id *id =
                reference.count == 0 ? NULL : engine_ids_find(&draft->ids, reference);
            if (reference.count > 0 && (id == NULL || id->kind != ID_PROCESS)) {
                engine_draft_problem(draft, ENGINE_WARNING, "dangling-reference", participant,
                                     "shows the process \"%.*s\", which is not in this file",
                                     SPAN_ARG(reference));
            }
        }
    }
}

static void report_no_process(struct draft *draft)
{
    static const char *const others[] = {"collaboration", "choreography", "conversation"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0] && found == NULL; i++) {
        found = engine_xml_child(draft->root, NULL, XML_BPMN, others[i]) == NULL ? NULL : others[i];
    }
    if (found == NULL) {
        engine_draft_problem(draft, ENGINE_ERROR, "no-process", draft->root,
                             "there is no process in this file");
    } else {
        engine_draft_problem(draft, ENGINE_ERROR, "no-process", draft->root,
                             "there is no process in this file, only a %s: nothing to execute",
                             found);
    }
}

/* The next element at the root of the file that is executed: the processes, then the global tasks,
 * so that a file's first process stays its first. */
static struct xml_element *next_root(struct draft *draft, struct xml_element *after)
{
    bool is_task = after != NULL && global_kind_of(after) < ENGINE_KIND_COUNT;
    struct xml_element *found =
        is_task ? NULL : engine_xml_child(draft->root, after, XML_BPMN, "process");
    if (found == NULL) {
        found = is_task ? after->next : draft->root->first;
        while (found != NULL && global_kind_of(found) == ENGINE_KIND_COUNT) {
            found = found->next;
        }
    }
    return found;
}

static enum result find_processes(struct draft *draft, struct engine_definition *definition)
{
    uint32_t count = 0;
    struct xml_element *element = NULL;
    while ((element = next_root(draft, element)) != NULL) {
        count++;
    }
    draft->processes = arena_zero(draft->scratch, count * sizeof *draft->processes);
    definition->processes = arena_zero(draft->arena, count * sizeof *definition->processes);
    if (draft->processes == NULL || definition->processes == NULL) {
        return RESULT_LIMIT;
    }
    while ((element = next_root(draft, element)) != NULL) {
        struct draft_process *process = &draft->processes[draft->process_count];
        *process = (struct draft_process){.index = draft->process_count,
                                          .element = element,
                                          .model = &definition->processes[draft->process_count]};
        draft->process_count++;
        describe_process(draft, process);
    }
    definition->process_count = draft->process_count;
    return RESULT_OK;
}

static enum result check_root(struct draft *draft)
{
    struct xml_element *root = draft->root;
    if (engine_xml_is(root, XML_BPMN, "definitions")) {
        return RESULT_OK;
    }
    if (span_is(root->name, "definitions")) {
        engine_draft_problem(draft, ENGINE_ERROR, "not-bpmn", root,
                             "its namespace is \"%.*s\"; that of BPMN 2.0 is "
                             "\"http://www.omg.org/spec/BPMN/20100524/MODEL\", whatever the prefix",
                             SPAN_ARG(root->uri));
    } else {
        engine_draft_problem(draft, ENGINE_ERROR, "not-bpmn", root,
                             "a BPMN file begins with <definitions>, not with <%.*s>",
                             SPAN_ARG(root->name));
    }
    return RESULT_INVALID;
}

static enum result read_document(struct draft *draft, const struct bpmn_tree *tree,
                                 struct engine_definition *definition)
{
    enum result result = check_root(draft);
    if (result == RESULT_OK) {
        engine_draft_declare(draft);
        result = collect_ids(draft);
    }
    if (result == RESULT_OK) {
        result = find_processes(draft, definition);
    }
    for (uint32_t i = 0; result == RESULT_OK && i < draft->process_count; i++) {
        result = collect_parts(draft, &draft->processes[i]);
    }
    if (result != RESULT_OK) {
        return result;
    }
    if (draft->process_count == 0) {
        report_no_process(draft);
    }
    for (uint32_t i = 0; i < draft->process_count; i++) {
        read_process(draft, &draft->processes[i]);
    }
    engine_layout_read(draft);
    if (tree->finish != NULL) {
        tree->finish(draft, tree->context);
    }
    check_participants(draft);
    engine_extension_list_unused(draft);
    bool overflowed = draft->arena->overflowed || draft->scratch->overflowed;
    return overflowed ? RESULT_LIMIT : RESULT_OK;
}

enum result engine_bpmn_compile(const struct bpmn_tree *tree, bool lenient,
                                struct engine_report *report, struct engine_definition *definition)
{
    struct draft draft = {.arena = &definition->arena,
                          .scratch = tree->scratch,
                          .report = report,
                          .root = tree->root,
                          .lenient = lenient};
    enum result result = read_document(&draft, tree, definition);
    if (result == RESULT_LIMIT) {
        engine_report_add(report, ENGINE_ERROR, "limit", SPAN_EMPTY, 0, 0,
                          "the file takes too much memory");
    }
    return result;
}

enum result engine_bpmn_read(struct span content, bool lenient, struct engine_report *report,
                             struct engine_definition *definition)
{
    struct arena scratch;
    arena_init(&scratch, SCRATCH_BLOCK_BYTES, SCRATCH_BYTES_MAX);
    struct bpmn_tree tree = {.scratch = &scratch};
    enum result result = engine_xml_parse(content, &scratch, report, &tree.root);
    if (result == RESULT_OK) {
        result = engine_bpmn_compile(&tree, lenient, report, definition);
    }
    arena_release(&scratch);
    return result;
}
