/*
 * bpmn.c: a definition as BPMN 2.0 XML.
 */
#include "engine/read/activity.h"
#include "engine/write/bpmn_node.h"
#include "proto/base/assert.h"

static void write_flow(struct bpmn_writing *bpmn, const struct engine_flow *flow)
{
    const struct engine_process *process = bpmn->writing->process;
    struct markup *markup = &bpmn->markup;
    engine_markup_open(markup, "sequenceFlow");
    engine_markup_attribute(markup, "id", flow->id);
    engine_markup_attribute(markup, "name", flow->name);
    engine_markup_attribute(markup, "sourceRef", process->nodes[flow->source].id);
    engine_markup_attribute(markup, "targetRef", process->nodes[flow->target].id);
    engine_markup_leaf(markup, "conditionExpression", " xsi:type=\"tFormalExpression\"",
                       engine_write_spell_condition(bpmn->writing, flow->condition));
    engine_markup_close(markup, "sequenceFlow");
}

/* From a compensation boundary event to its handler. */
static void write_association(struct bpmn_writing *bpmn, const struct engine_node *boundary,
                              const struct engine_node *handler)
{
    engine_markup_open(&bpmn->markup, "association");
    engine_markup_word(&bpmn->markup, "associationDirection", "One");
    engine_markup_attribute(&bpmn->markup, "sourceRef", boundary->id);
    engine_markup_attribute(&bpmn->markup, "targetRef", handler->id);
    engine_markup_close(&bpmn->markup, "association");
}

/* Recursion is bounded by the nesting that readers allow (LIMIT_XML_DEPTH, LIMIT_DEPTH). */
static void write_scope(struct bpmn_writing *bpmn, uint32_t scope, struct engine_indexes children)
{
    const struct engine_process *process = bpmn->writing->process;
    for (uint32_t i = 0; i < children.count; i++) {
        const struct engine_node *node = &process->nodes[children.at[i]];
        engine_bpmn_begin_node(bpmn, node);
        if (engine_activity_is_scope(node->kind)) {
            write_scope(bpmn, node->index, node->children);
        }
        engine_bpmn_end_node(bpmn, node);
    }
    for (uint32_t i = 0; i < children.count; i++) {
        const struct engine_node *node = &process->nodes[children.at[i]];
        ASSERT(node->scope == scope);
        for (uint32_t j = 0; j < node->outgoing.count; j++) {
            write_flow(bpmn, &process->flows[node->outgoing.at[j]]);
        }
        if (engine_compensation_handler(process, node) != NULL) {
            write_association(bpmn, node, engine_compensation_handler(process, node));
        }
    }
}

static void write_process(struct bpmn_writing *bpmn, const struct engine_process *process)
{
    struct markup *markup = &bpmn->markup;
    bpmn->writing->process = process;
    if (process->is_global_task) {
        write_scope(bpmn, ENGINE_NONE, process->children);
        return;
    }
    engine_markup_open(markup, "process");
    engine_markup_attribute(markup, "id", process->id);
    engine_markup_attribute(markup, "name", process->name);
    engine_markup_word(markup, "isExecutable", process->executable ? "true" : "false");
    engine_markup_attribute(markup, "camunda:versionTag", process->version_tag);
    write_scope(bpmn, ENGINE_NONE, process->children);
    engine_markup_close(markup, "process");
}

static void check_triggers(struct bpmn_writing *bpmn, const struct engine_process *process)
{
    bpmn->writing->process = process;
    for (uint32_t i = 0; i < process->trigger_count; i++) {
        if (process->triggers[i].kind != ENGINE_TRIGGER_MANUAL) {
            engine_write_refuse(bpmn->writing, NULL,
                                "trigger \"%.*s\": BPMN has triggers at start events only: give it "
                                "a node",
                                SPAN_ARG(process->triggers[i].id));
        }
    }
}

static void write_roots(struct bpmn_writing *bpmn)
{
    for (const struct root_element *root = bpmn->roots; root != NULL; root = root->next) {
        bool has_code = root->name[0] == 'e'; /* errors and escalations */
        const char *code = root->name[1] == 'r' ? "errorCode" : "escalationCode";
        engine_markup_open(&bpmn->markup, root->name);
        engine_markup_attribute(&bpmn->markup, "id", root->id);
        engine_markup_attribute(&bpmn->markup, "name", root->text);
        if (has_code) {
            engine_markup_attribute(&bpmn->markup, code, root->text);
        }
        engine_markup_attribute(&bpmn->markup, "strider:correlationKey", root->key);
        engine_markup_close(&bpmn->markup, root->name);
    }
}

static void open_definitions(struct bpmn_writing *bpmn)
{
    static const char *const spaces[][2] = {
        {"xmlns", "http://www.omg.org/spec/BPMN/20100524/MODEL"},
        {"xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"},
        {"xmlns:bpmndi", "http://www.omg.org/spec/BPMN/20100524/DI"},
        {"xmlns:dc", "http://www.omg.org/spec/DD/20100524/DC"},
        {"xmlns:di", "http://www.omg.org/spec/DD/20100524/DI"},
        {"xmlns:strider", "urn:strider:bpmn:1"},
        {"xmlns:camunda", "http://camunda.org/schema/1.0/bpmn"},
        {"xmlns:zeebe", "http://camunda.org/schema/zeebe/1.0"},
    };
    struct markup *markup = &bpmn->markup;
    engine_markup_open(markup, "definitions");
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        engine_markup_word(markup, spaces[i][0], spaces[i][1]);
    }
    engine_markup_attribute(
        markup, "id",
        engine_numbering_make(&bpmn->writing->numbering, "definitions", bpmn->writing->arena));
    engine_markup_word(markup, "targetNamespace", "urn:strider:definitions");
}

enum result engine_write_bpmn(struct writing *writing, const struct engine_definition *definition,
                              struct span *out)
{
    struct bpmn_writing bpmn = {.writing = writing};
    uint32_t count = definition->process_count;
    const struct engine_process **processes =
        arena_alloc(writing->arena, count * sizeof *processes);
    for (uint32_t i = 0; processes != NULL && i < count; i++) {
        writing->process = &definition->processes[i];
        processes[i] = engine_write_plain(writing);
        if (processes[i] == NULL) {
            return RESULT_LIMIT;
        }
        check_triggers(&bpmn, processes[i]);
        for (uint32_t j = 0; j < processes[i]->node_count; j++) {
            engine_bpmn_meet_roots(&bpmn, &processes[i]->nodes[j]);
        }
    }
    if (processes == NULL || writing->arena->overflowed) {
        return RESULT_LIMIT;
    }
    engine_markup_init(&bpmn.markup, writing->arena);
    open_definitions(&bpmn);
    write_roots(&bpmn);
    for (uint32_t i = 0; i < count; i++) {
        write_process(&bpmn, processes[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        engine_bpmn_write_drawing(&bpmn, processes[i]);
    }
    engine_markup_close(&bpmn.markup, "definitions");
    if (bpmn.markup.is_illegal) {
        engine_write_refuse(writing, NULL,
                            "a text in it has a control character, which no XML "
                            "file can hold");
    }
    wire_write_raw(&bpmn.markup.out, span_text("\n"));
    *out = engine_markup_text(&bpmn.markup);
    return writing->arena->overflowed ? RESULT_LIMIT : RESULT_OK;
}
