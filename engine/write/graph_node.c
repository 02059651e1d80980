/*
 * graph_node.c: the type and config of a node: the other direction of engine/read/graph_config.c
 * and graph_event.c.
 */
#include "engine/write/graph_node.h"

#include "engine/read/activity.h"
#include "engine/read/draft.h"
#include "engine/read/graph_node.h"
#include "engine/time/cron.h"
#include "proto/base/assert.h"

/* A map that is being written: pairs are counted. */
struct config {
    struct writing *writing;
    struct wire_writer *out;
    const struct engine_node *node;
    uint32_t pairs;
};

static void put_text(struct config *config, const char *member, struct span text)
{
    if (text.count > 0) {
        wire_pair_string(config->out, member, text);
        config->pairs++;
    }
}

static void put_quantity(struct config *config, const char *member, uint32_t value)
{
    if (value > 0) {
        wire_pair_int(config->out, member, value);
        config->pairs++;
    }
}

static void put_flag(struct config *config, const char *member, bool value, bool fallback)
{
    if (value != fallback) {
        wire_pair_bool(config->out, member, value);
        config->pairs++;
    }
}

static void put_expression(struct config *config, const char *member,
                           const struct engine_expression *expression)
{
    if (expression != NULL) {
        wire_write_text(config->out, member);
        engine_write_config_value(config->out, engine_write_spell(config->writing, expression));
        config->pairs++;
    }
}

/* ---- which of the graph's own types says it all ---- */

static const struct engine_event_definition *only_event(const struct engine_node *node)
{
    return node->event_count == 1 ? &node->events[0] : NULL;
}

static bool is_literal(const struct engine_expression *expression)
{
    return expression != NULL && engine_expression_is_literal(expression) &&
           !engine_draft_is_marked(engine_expression_source(expression));
}

static bool is_cron_start(const struct engine_node *node)
{
    const struct engine_event_definition *event = only_event(node);
    struct engine_cron cron;
    struct engine_cron_error error;
    return node->kind == ENGINE_START_EVENT && event != NULL && event->kind == ENGINE_ON_TIMER &&
           event->timer == ENGINE_TIMER_CYCLE && is_literal(event->timer_value) &&
           engine_cron_parse(engine_expression_source(event->timer_value), &cron, &error) ==
               RESULT_OK;
}

static bool is_webhook_start(const struct engine_node *node)
{
    const struct engine_event_definition *event = only_event(node);
    return node->kind == ENGINE_START_EVENT && event != NULL && event->kind == ENGINE_ON_MESSAGE &&
           event->correlation_key == NULL && span_starts_with(event->name, "webhook:") &&
           event->name.count > strlen("webhook:");
}

static bool is_delay(const struct engine_node *node)
{
    const struct engine_event_definition *event = only_event(node);
    return node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT && event != NULL &&
           event->kind == ENGINE_ON_TIMER && event->timer_value != NULL &&
           (event->timer == ENGINE_TIMER_DURATION || event->timer == ENGINE_TIMER_DATE);
}

static bool is_for_each(const struct engine_node *node)
{
    bool is_multi =
        node->loop.kind == ENGINE_LOOP_PARALLEL || node->loop.kind == ENGINE_LOOP_SEQUENTIAL;
    bool has_items = node->loop.collection != NULL || node->loop.cardinality != NULL;
    return node->kind == ENGINE_SUB_PROCESS && is_multi && has_items && !node->triggered_by_event;
}

static const struct {
    const char *type;
    enum engine_kind kind;
    bool (*is_it)(const struct engine_node *node); /* NULL: always */
} types[] = {
    {"trigger_cron", ENGINE_START_EVENT, is_cron_start},
    {"trigger_webhook", ENGINE_START_EVENT, is_webhook_start},
    {"decision", ENGINE_EXCLUSIVE_GATEWAY, NULL},
    {"split_wait", ENGINE_PARALLEL_GATEWAY, NULL},
    {"match", ENGINE_INCLUSIVE_GATEWAY, NULL},
    {"human_task", ENGINE_USER_TASK, NULL},
    {"delay", ENGINE_INTERMEDIATE_CATCH_EVENT, is_delay},
    {"for_each", ENGINE_SUB_PROCESS, is_for_each},
};

struct span engine_graph_type(struct writing *writing, const struct engine_node *node)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].kind == node->kind && (types[i].is_it == NULL || types[i].is_it(node))) {
            return span_text(types[i].type);
        }
    }
    if (node->kind == ENGINE_START_EVENT && node->event_count == 0) {
        return span_text("trigger_manual");
    }
    if (node->kind == ENGINE_END_EVENT && node->event_count == 0) {
        return span_text("end");
    }
    if (node->kind == ENGINE_SERVICE_TASK && node->task_type_explicit) {
        return span_text("action");
    }
    if (engine_activity_is_task(node->kind) && node->task_type.count == 0) {
        if (node->kind != ENGINE_TASK) {
            engine_write_refuse(writing, node, "without a task type");
        }
        return SPAN_EMPTY;
    }
    char snake[GRAPH_TYPE_BYTES_MAX];
    engine_graph_snake_case(engine_kind_xml_name(node->kind), snake);
    return arena_copy(writing->arena, span_text(snake));
}

/* ---- events ---- */

static void put_cron(struct config *config)
{
    struct engine_cron cron;
    struct engine_cron_error error;
    struct span text = engine_expression_source(config->node->events[0].timer_value);
    enum result result = engine_cron_parse(text, &cron, &error);
    ASSERT(result == RESULT_OK);
    if (cron.zone.count > 0) {
        const uint8_t *behind = cron.zone.bytes + cron.zone.count;
        put_text(config, "time_zone", cron.zone);
        text = span_of(behind, (size_t)(text.bytes + text.count - behind));
    }
    put_text(config, "cron", span_trim(text));
}

static void put_event_members(struct config *config, const struct engine_event_definition *event)
{
    static const char *const timers[] = {[ENGINE_TIMER_DATE] = "date",
                                         [ENGINE_TIMER_DURATION] = "duration",
                                         [ENGINE_TIMER_CYCLE] = "cycle"};
    wire_pair_text(config->out, "type", engine_event_kind_name(event->kind));
    config->pairs++;
    if (event->timer != ENGINE_TIMER_NONE && event->timer_value == NULL) {
        wire_write_text(config->out, timers[event->timer]);
        wire_write_nil(config->out);
        config->pairs++;
    } else if (event->timer != ENGINE_TIMER_NONE) {
        put_expression(config, timers[event->timer], event->timer_value);
    }
    put_text(config, "name", event->name);
    put_expression(config, "correlation_key", event->correlation_key);
    put_text(config, "code", event->code);
    if (event->code_value != NULL) {
        engine_write_refuse(config->writing, config->node, "a code by expression");
    }
    put_text(config, "code_variable", event->code_variable);
    put_text(config, "message_variable", event->message_variable);
    put_expression(config, "condition", event->condition);
    if (event->activity != ENGINE_NONE) {
        put_text(config, "activity", config->writing->process->nodes[event->activity].id);
    }
}

static void put_event(struct config *config, const struct engine_event_definition *event)
{
    struct config inner = *config;
    inner.pairs = 0;
    size_t mark = wire_open_map(config->out);
    put_event_members(&inner, event);
    wire_close_map(config->out, mark, inner.pairs);
}

static void put_events(struct config *config)
{
    const struct engine_node *node = config->node;
    if (node->event_count == 0) {
        return;
    }
    if (is_cron_start(node)) {
        put_cron(config);
    } else if (is_webhook_start(node)) {
        size_t mark = strlen("webhook:");
        put_text(config, "path",
                 span_of(node->events[0].name.bytes + mark, node->events[0].name.count - mark));
    } else if (is_delay(node)) {
        put_expression(config, node->events[0].timer == ENGINE_TIMER_DATE ? "until" : "duration",
                       node->events[0].timer_value);
    } else {
        wire_write_text(config->out, node->event_count == 1 ? "event" : "events");
        if (node->event_count > 1) {
            wire_write_array(config->out, node->event_count);
        }
        for (uint32_t i = 0; i < node->event_count; i++) {
            put_event(config, &node->events[i]);
        }
        config->pairs++;
    }
}

/* ---- mappings ---- */

static bool has_doubles(const struct engine_mappings *mappings)
{
    for (uint32_t i = 0; i < mappings->count; i++) {
        for (uint32_t j = i + 1; j < mappings->count; j++) {
            if (span_equal(mappings->at[i].target, mappings->at[j].target)) {
                return true;
            }
        }
    }
    return false;
}

/* "name": value, of all of them. */
static void put_members(struct config *config, const struct engine_mappings *mappings)
{
    for (uint32_t i = 0; i < mappings->count; i++) {
        wire_write_string(config->out, mappings->at[i].target);
        engine_write_config_value(config->out,
                                  engine_write_spell(config->writing, mappings->at[i].source));
    }
}

/* An object, or a list where a name comes twice. */
static void put_mappings(struct config *config, const char *member,
                         const struct engine_mappings *mappings)
{
    if (mappings->count == 0) {
        return;
    }
    wire_write_text(config->out, member);
    config->pairs++;
    if (!has_doubles(mappings)) {
        wire_write_map(config->out, mappings->count);
        put_members(config, mappings);
        return;
    }
    wire_write_array(config->out, mappings->count);
    for (uint32_t i = 0; i < mappings->count; i++) {
        wire_write_map(config->out, 2);
        wire_pair_string(config->out, "target", mappings->at[i].target);
        wire_write_text(config->out, "source");
        engine_write_config_value(config->out,
                                  engine_write_spell(config->writing, mappings->at[i].source));
    }
}

/* The settings of a task's module stand in config itself, unless a name comes twice or is that of a
 * member of the node's own. */
static void put_settings(struct config *config)
{
    const struct engine_node *node = config->node;
    const struct engine_mappings *headers = &node->headers;
    bool stand_apart = !engine_activity_is_task(node->kind) || has_doubles(headers);
    for (uint32_t i = 0; i < headers->count; i++) {
        stand_apart |= engine_graph_knows(node->kind, headers->at[i].target);
    }
    if (stand_apart) {
        put_mappings(config, "settings", headers);
    } else {
        put_members(config, headers);
        config->pairs += headers->count;
    }
}

/* ---- loops ---- */

static void put_loop_members(struct config *config)
{
    const struct engine_loop *loop = &config->node->loop;
    if (loop->throw_count > 0) {
        engine_write_refuse(config->writing, config->node, "events that its instances throw");
    }
    if (loop->kind == ENGINE_LOOP_STANDARD) {
        put_expression(config, "maximum", loop->maximum);
        put_expression(config, "while", loop->condition);
        put_flag(config, "test_before", loop->test_before, false);
        return;
    }
    put_expression(config, "collection", loop->collection);
    put_text(config, "item", loop->element_variable);
    put_text(config, "output", loop->output_collection);
    put_expression(config, "output_item", loop->output_element);
    put_expression(config, "cardinality", loop->cardinality);
    put_expression(config, "until", loop->condition);
}

static void put_loop(struct config *config)
{
    static const char *const names[] = {[ENGINE_LOOP_STANDARD] = "standard",
                                        [ENGINE_LOOP_PARALLEL] = "parallel",
                                        [ENGINE_LOOP_SEQUENTIAL] = "sequential"};
    enum engine_loop_kind kind = config->node->loop.kind;
    if (kind == ENGINE_LOOP_NONE) {
        return;
    }
    if (is_for_each(config->node)) {
        put_flag(config, "parallel", kind == ENGINE_LOOP_PARALLEL, false);
        put_loop_members(config);
        return;
    }
    struct config inner = *config;
    inner.pairs = 1;
    wire_write_text(config->out, "loop");
    size_t mark = wire_open_map(config->out);
    wire_pair_text(config->out, "type", names[kind]);
    put_loop_members(&inner);
    wire_close_map(config->out, mark, inner.pairs);
    config->pairs++;
}

/* ---- the whole ---- */

static void put_task(struct config *config)
{
    const struct engine_node *node = config->node;
    put_expression(config, "retries", node->retries);
    put_text(config, "result_variable", node->result_variable);
    if (node->rule.decision != NULL) {
        put_expression(config, "decision", node->rule.decision);
        put_expression(config, "decision_version", node->rule.version);
        put_text(config, "decision_result", span_text(engine_rule_shape_name(node->rule.shape)));
    }
    put_text(config, "message", node->message_name);
    put_expression(config, "correlation_key", node->correlation_key);
    if (node->kind == ENGINE_USER_TASK) {
        put_expression(config, "assignee", node->assignment.assignee);
        put_expression(config, "candidate_groups", node->assignment.candidate_groups);
        put_expression(config, "candidate_users", node->assignment.candidate_users);
        put_expression(config, "due_date", node->assignment.due_date);
    }
    if (node->kind == ENGINE_SCRIPT_TASK) {
        put_text(config, "script_format", node->script_format);
        put_text(config, "script", engine_write_spell(config->writing, node->script));
    } else if (node->script != NULL) {
        engine_write_refuse(config->writing, node,
                            "an expression instead of a module: a script task can say that");
    }
}

static void put_call(struct config *config)
{
    const struct engine_node *node = config->node;
    if (node->called_version > 0 || node->called_here || node->called_tag != NULL) {
        engine_write_refuse(config->writing, node, "a certain version of what is called");
    }
    put_expression(config, "process", config->node->called);
    put_flag(config, "propagate_in", config->node->propagate_in, true);
    put_flag(config, "propagate_out", config->node->propagate_out, true);
}

static void put_kind(struct config *config)
{
    const struct engine_node *node = config->node;
    if (node->task_type_explicit) {
        put_text(config, "task_type", node->task_type);
    }
    if (node->task_type_value != NULL) {
        engine_write_refuse(config->writing, node, "a task type by expression");
    }
    if (node->active != NULL || node->gathered.count > 0) {
        engine_write_refuse(config->writing, node, "chosen activities, or a list of their results");
    }
    put_text(config, "form_key", node->assignment.form_key);
    if (engine_activity_is_task(node->kind)) {
        put_task(config);
    }
    if (node->kind == ENGINE_CALL_ACTIVITY) {
        put_call(config);
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        put_text(config, "attached_to", config->writing->process->nodes[node->attached_to].id);
        const struct engine_node *handler =
            engine_compensation_handler(config->writing->process, node);
        put_text(config, "handler", handler == NULL ? SPAN_EMPTY : handler->id);
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT || node->kind == ENGINE_START_EVENT) {
        put_flag(config, "interrupting", node->interrupting, true);
    }
    if (node->kind == ENGINE_EVENT_GATEWAY && !node->exclusive_type) {
        put_text(config, "gateway_type", span_text("parallel"));
    }
    if (node->kind == ENGINE_AD_HOC_SUB_PROCESS && node->ordered) {
        put_text(config, "ordering", span_text("sequential"));
    }
    if (node->kind == ENGINE_AD_HOC_SUB_PROCESS) {
        put_flag(config, "cancel_remaining", !node->lets_finish, true);
    }
    if (node->condition != NULL) {
        put_text(config, "condition", engine_write_spell(config->writing, node->condition));
    }
}

uint32_t engine_graph_write_config(struct writing *writing, struct wire_writer *out,
                                   const struct engine_node *node)
{
    struct config config = {.writing = writing, .out = out, .node = node};
    put_kind(&config);
    put_flag(&config, "for_compensation", node->for_compensation, false);
    put_quantity(&config, "start_quantity", node->start_quantity);
    put_quantity(&config, "completion_quantity", node->completion_quantity);
    put_flag(&config, "triggered_by_event", node->triggered_by_event, false);
    put_flag(&config, "instantiate", node->instantiate, false);
    put_flag(&config, "parallel_multiple", node->parallel_multiple, false);
    put_events(&config);
    put_loop(&config);
    put_mappings(&config, "inputs", &node->inputs);
    put_mappings(&config, "outputs", &node->outputs);
    put_settings(&config);
    return config.pairs;
}
