/*
 * names.c: see names.h.
 */
#include "engine/names.h"

#include "engine/fields.h"
#include "proto/base/assert.h"
#include "proto/wire/writer.h"

enum { NAMES_AT_ONCE = 16 };

enum root {
    ROOT_NONE,
    ROOT_REQUEST,
    ROOT_RESPONSE,
    ROOT_CONTEXT,
    ROOT_MODULE,
    ROOT_EXECUTION,
    ROOT_NODES,
    ROOT_ENV,
    ROOT_OUTPUT,
    ROOT_RESUME
};

static const struct {
    struct span name;
    enum root root;
} roots[] = {
    {ENGINE_NAME("execution"), ROOT_EXECUTION}, {ENGINE_NAME("nodes"), ROOT_NODES},
    {ENGINE_NAME("output"), ROOT_OUTPUT},       {ENGINE_NAME("context"), ROOT_CONTEXT},
    {ENGINE_NAME("request"), ROOT_REQUEST},     {ENGINE_NAME("response"), ROOT_RESPONSE},
    {ENGINE_NAME("module"), ROOT_MODULE},       {ENGINE_NAME("env"), ROOT_ENV},
    {ENGINE_NAME("__resume"), ROOT_RESUME},
};

static enum root root_of(struct span name)
{
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (span_equal(name, roots[i].name)) {
            return roots[i].root;
        }
    }
    return ROOT_NONE;
}

/* BPMN 2.0.2 table 10.30, and as Camunda 7 calls them. */
static struct span find_counter(const struct engine_scene *scene, const struct engine_scope *body,
                                struct span name)
{
    uint32_t done = body->done + (body == scene->scope ? scene->done_too : 0);
    const struct {
        const char *name;
        const char *short_name;
        uint32_t value;
    } counters[] = {
        {"numberOfInstances", "nrOfInstances", body->total},
        {"numberOfActiveInstances", "nrOfActiveInstances", body->begun - done},
        {"numberOfCompletedInstances", "nrOfCompletedInstances", done},
    };
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        if (span_is(name, counters[i].name) || span_is(name, counters[i].short_name)) {
            struct wire_writer writer;
            wire_writer_init(&writer, scene->decision->arena, 8);
            wire_write_uint(&writer, counters[i].value);
            return wire_writer_span(&writer);
        }
    }
    return SPAN_EMPTY;
}

static struct span find_in_scope(const struct engine_scene *scene, const struct engine_scope *scope,
                                 struct span name)
{
    struct span found = scope->kind == ENGINE_SCOPE_BODY ? find_counter(scene, scope, name)
                                                         : wire_find(scope->variables, name);
    const struct engine_token *host = engine_token_find(scene->decision->execution, scope->host);
    return found.count > 0 || host == NULL ? found : wire_find(host->own, name);
}

static struct span find_local(const struct engine_scene *scene, struct span name)
{
    struct span found = SPAN_EMPTY;
    for (size_t i = 0; i < sizeof scene->overlays / sizeof scene->overlays[0] && found.count == 0;
         i++) {
        found = wire_find(scene->overlays[i], name);
    }
    if (found.count == 0) {
        found = wire_find(scene->local, name);
    }
    if (found.count == 0) {
        found = wire_find(scene->own, name);
    }
    const struct engine_scope *scope = scene->scope;
    while (found.count == 0 && engine_scope_is_inner(scope)) {
        found = find_in_scope(scene, scope, name);
        scope = engine_scope_find(scene->decision->execution, scope->parent);
    }
    return found;
}

static struct span find_bare(const struct engine_execution *execution,
                             const struct engine_scope *process, struct span name)
{
    struct span found = wire_find(process->variables, name);
    if (found.count == 0) {
        found = wire_find(execution->context, name);
    }
    return found.count == 0 ? wire_find(execution->request, name) : found;
}

/* An instance's own hide those of others. */
static struct span nodes_seen(const struct engine_scene *scene, const struct engine_scope *process)
{
    const struct engine_execution *execution = scene->decision->execution;
    const struct engine_scope *scope = engine_scope_of_nodes(execution, scene->scope);
    struct span seen = scope->nodes;
    while (scope != process) {
        scope = engine_scope_of_nodes(execution, engine_scope_find(execution, scope->parent));
        if (seen.count == 0 || scope->nodes.count == 0) {
            seen = seen.count == 0 ? scope->nodes : seen;
        } else {
            seen = wire_merge(scene->decision->arena, scope->nodes, seen);
        }
    }
    return seen;
}

static struct span find_root(const struct engine_scene *scene, const struct engine_scope *process,
                             enum root root)
{
    const struct engine_execution *execution = scene->decision->execution;
    switch (root) {
    case ROOT_NONE:
        return SPAN_EMPTY;
    case ROOT_REQUEST:
        return execution->request;
    case ROOT_RESPONSE:
        return execution->response;
    case ROOT_CONTEXT:
        return execution->context;
    case ROOT_MODULE:
        return execution->module;
    case ROOT_EXECUTION:
        return process->variables;
    case ROOT_NODES:
        return nodes_seen(scene, process);
    case ROOT_ENV:
        return engine_decision_modules(scene->decision)->environment;
    case ROOT_OUTPUT:
        return scene->output;
    case ROOT_RESUME:
        return execution->resume;
    }
    return SPAN_EMPTY;
}

static const struct engine_scene *scene_of(const struct engine_names *self)
{
    return (const struct engine_scene *)(const void *)self;
}

static struct span find_name(const struct engine_names *self, struct span name)
{
    const struct engine_scene *scene = scene_of(self);
    const struct engine_execution *execution = scene->decision->execution;
    struct span found = find_local(scene, name);
    if (found.count > 0) {
        return found;
    }
    const struct engine_scope *process = engine_scope_of_process(execution, scene->scope);
    enum root root = root_of(name);
    return root == ROOT_NONE ? find_bare(execution, process, name)
                             : find_root(scene, process, root);
}

/* Names that nobody nearer knew, in one walk over a payload. */
static void find_rest(struct span payload, const struct span *names, struct span *values,
                      size_t count)
{
    struct span rest[NAMES_AT_ONCE];
    struct span found[NAMES_AT_ONCE];
    size_t places[NAMES_AT_ONCE];
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i].count == 0 && root_of(names[i]) == ROOT_NONE) {
            places[left] = i;
            rest[left++] = names[i];
        }
    }
    if (left == 0 || payload.count == 0) {
        return;
    }
    wire_find_all(payload, rest, found, left);
    for (size_t i = 0; i < left; i++) {
        values[places[i]] = found[i];
    }
}

static void find_at_once(const struct engine_scene *scene, const struct span *names,
                         struct span *values, size_t count)
{
    const struct engine_execution *execution = scene->decision->execution;
    const struct engine_scope *process = engine_scope_of_process(execution, scene->scope);
    for (size_t i = 0; i < count; i++) {
        values[i] = find_local(scene, names[i]);
        if (values[i].count == 0) {
            values[i] = find_root(scene, process, root_of(names[i]));
        }
    }
    find_rest(process->variables, names, values, count);
    find_rest(execution->context, names, values, count);
    find_rest(execution->request, names, values, count);
}

/* The order is that of find_name; each payload is walked over once. */
static void find_names(const struct engine_names *self, const struct span *names,
                       struct span *values, size_t count)
{
    for (size_t at = 0; at < count; at += NAMES_AT_ONCE) {
        size_t part = count - at < NAMES_AT_ONCE ? count - at : NAMES_AT_ONCE;
        find_at_once(scene_of(self), names + at, values + at, part);
    }
}

static const struct engine_zone *find_zone(const struct engine_names *self, struct span name,
                                           struct arena *arena)
{
    const struct engine_catalog *catalog = scene_of(self)->decision->execution->catalog;
    return catalog->zone == NULL ? NULL : catalog->zone(catalog, name, arena);
}

/* The time of the input that is being acted on: the same in the original and in a repetition. */
static bool read_clock(const struct engine_names *self, int64_t *unix_ms)
{
    *unix_ms = scene_of(self)->decision->execution->now_ms;
    return true;
}

static struct span text_value(struct arena *arena, struct span text)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, text.count + 8);
    wire_write_string(&writer, text);
    return wire_writer_span(&writer);
}

static const struct engine_node *node_of(const struct engine_scene *scene)
{
    return scene->token == NULL ? NULL : engine_visit_of(scene->decision, scene->token).node;
}

/*
 * What the token's task knows of itself: its names where it is in the model, and, while it waits
 * for its person, what was worked out for that one; null where that is nothing.
 */
static struct span find_of_task(const struct engine_scene *scene, struct span name,
                                struct arena *arena)
{
    static const char *const details[][2] = {
        {"assignee", "assignee"}, {"dueDate", "dueAt"}, {"formKey", "formKey"}};
    const struct engine_node *node = node_of(scene);
    if (node != NULL && (span_is(name, "id") || span_is(name, "taskDefinitionKey"))) {
        return text_value(arena, node->id);
    }
    if (node != NULL && span_is(name, "name")) {
        return text_value(arena, node->name);
    }
    for (size_t i = 0; node != NULL && i < sizeof details / sizeof details[0]; i++) {
        if (span_is(name, details[i][0])) {
            struct span found = wire_find_text(scene->token->detail, details[i][1]);
            return found.count > 0 ? found : span_of("\xc0", 1);
        }
    }
    return SPAN_EMPTY;
}

/* As Camunda 7 and Flowable name them. */
static struct span find_attribute(const struct engine_names *self, struct span of, struct span name,
                                  struct arena *arena)
{
    const struct engine_scene *scene = scene_of(self);
    const struct engine_execution *execution = scene->decision->execution;
    const struct engine_process *process = scene->scope->process;
    const struct engine_node *node = node_of(scene);
    struct span found = span_is(of, "task") ? find_of_task(scene, name, arena) : SPAN_EMPTY;
    if (found.count > 0) {
        return found;
    }
    if (span_is(name, "id") || span_is(name, "processInstanceId") || span_is(name, "executionId")) {
        return text_value(arena, span_text(execution->id.text));
    }
    if (span_is(name, "businessKey") || span_is(name, "processBusinessKey") ||
        span_is(name, "processInstanceBusinessKey")) {
        return find_name(self, span_text("businessKey"));
    }
    if (span_is(name, "processDefinitionId")) {
        return text_value(arena,
                          arena_format(arena, "%.*s:%u", SPAN_ARG(process->id), process->version));
    }
    if (node != NULL && span_is(name, "currentActivityId")) {
        return text_value(arena, node->id);
    }
    if (node != NULL && span_is(name, "currentActivityName")) {
        return text_value(arena, node->name);
    }
    return SPAN_EMPTY;
}

/* A token that has made nothing yet sees what the one around it has made. */
static struct span output_of(const struct engine_execution *execution,
                             const struct engine_scope *scope, const struct engine_token *token)
{
    while (token->output.count == 0 && engine_scope_is_inner(scope)) {
        const struct engine_token *host = engine_token_find(execution, scope->host);
        if (host == NULL) {
            break;
        }
        token = host;
        scope = engine_scope_find(execution, scope->parent);
    }
    return token->output;
}

void engine_scene_init(struct engine_scene *scene, const struct engine_decision *decision,
                       const struct engine_scope *scope, const struct engine_token *token)
{
    ASSERT(scope != NULL);
    *scene = (struct engine_scene){.names = {.find = find_name,
                                             .find_all = find_names,
                                             .zone = find_zone,
                                             .clock = read_clock,
                                             .attribute = find_attribute},
                                   .decision = decision,
                                   .scope = scope};
    scene->token = token;
    if (token != NULL) {
        scene->own = token->own;
        scene->local = token->local;
        scene->output = output_of(decision->execution, scope, token);
    }
}

struct span engine_names_visible(const struct engine_decision *decision,
                                 const struct engine_scope *scope, const struct engine_token *token)
{
    const struct engine_execution *execution = decision->execution;
    struct span all = token == NULL ? SPAN_EMPTY : token->own;
    for (; engine_scope_is_inner(scope); scope = engine_scope_find(execution, scope->parent)) {
        const struct engine_token *host = engine_token_find(execution, scope->host);
        all = wire_merge(decision->arena, scope->variables, all);
        all = host == NULL ? all : wire_merge(decision->arena, host->own, all);
    }
    return wire_merge(decision->arena, scope->variables, all);
}
