/*
 * model.c: see model.h. Every block draws from a stream named after its place, and its name is a
 * hash of that place: so leaving one out changes no other.
 */
#include "tests/simulate/model.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/read/read.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "tests/simulate/blocks.h"
#include "tests/simulate/schemes.h"

enum {
    TEXT_BYTES = 2048,
    TASKS = 16,
    CONFLUENT_PERCENT = 65,
    SCHEME_PERCENT = 12, /* of the confluent ones */
    DEPTH_MAX = 3,
};

/* ---- text ---- */

static void put(struct block_builder *builder, struct block_text *text, const char *format,
                va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t room = text->capacity - text->count;
    int bytes = vsnprintf(text->bytes + text->count, room, format, arguments);
    ASSERT(bytes >= 0);
    if ((size_t)bytes >= room) {
        size_t capacity = 2 * (text->capacity + (size_t)bytes);
        char *grown = arena_alloc(builder->arena, capacity);
        ASSERT(grown != NULL);
        memcpy(grown, text->bytes, text->count);
        text->bytes = grown;
        text->capacity = capacity;
        (void)vsnprintf(text->bytes + text->count, capacity - text->count, format, again);
    }
    text->count += (size_t)bytes;
    va_end(again);
}

static void text_init(struct block_builder *builder, struct block_text *text)
{
    *text = (struct block_text){.bytes = arena_alloc(builder->arena, TEXT_BYTES),
                                .capacity = TEXT_BYTES};
    ASSERT(text->bytes != NULL);
}

void block_put(struct block_builder *builder, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(builder, &builder->processes[builder->process], format, arguments);
    va_end(arguments);
}

void block_put_root(struct block_builder *builder, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(builder, &builder->roots, format, arguments);
    va_end(arguments);
}

struct span block_json(struct block_builder *builder, const char *format, ...)
{
    char text[512];
    struct span value;
    struct json_error error;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ASSERT(bytes > 0 && (size_t)bytes < sizeof text);
    enum result result =
        json_to_wire(span_of(text, (size_t)bytes), LIMIT_DEPTH, builder->arena, &value, &error);
    ASSERT(result == RESULT_OK);
    return value;
}

struct span block_name(struct block_builder *builder, const char *format, uint32_t node)
{
    char text[32];
    int bytes = snprintf(text, sizeof text, format, node);
    ASSERT(bytes > 0 && (size_t)bytes < sizeof text);
    return arena_copy(builder->arena, span_of(text, (size_t)bytes));
}

/* ---- nodes and flows ---- */

uint32_t block_node(struct block_builder *builder)
{
    return ++builder->node_count;
}

void block_flow(struct block_builder *builder, struct block_exit *at, uint32_t node)
{
    if (at->node != 0) {
        uint32_t flow = at->flow != 0 ? at->flow : ++builder->flow_count;
        block_put(builder, "<sequenceFlow id='f%u' sourceRef='n%u' targetRef='n%u'", flow, at->node,
                  node);
        if (at->condition[0] == '\0') {
            block_put(builder, "/>");
        } else {
            block_put(builder, "><conditionExpression>%s</conditionExpression></sequenceFlow>",
                      at->condition);
        }
    }
    *at = (struct block_exit){.node = node};
}

uint32_t block_enter(struct block *block)
{
    uint32_t node = block_node(block->builder);
    block_flow(block->builder, block->at, node);
    return node;
}

struct sim_task *block_task(struct block_builder *builder, uint32_t node)
{
    struct sim_model *model = builder->model;
    if (model->task_count == builder->task_capacity) {
        uint32_t capacity = 2 * builder->task_capacity + TASKS;
        struct sim_task *tasks = arena_zero(builder->arena, capacity * sizeof *tasks);
        ASSERT(tasks != NULL);
        if (model->task_count > 0) {
            memcpy(tasks, model->tasks, model->task_count * sizeof *tasks);
        }
        model->tasks = tasks;
        builder->task_capacity = capacity;
    }
    struct sim_task *task = &model->tasks[model->task_count++];
    *task = (struct sim_task){.id = arena_format(builder->arena, "n%u", node)};
    return task;
}

uint32_t block_process_begin(struct block_builder *builder, uint32_t *before)
{
    ASSERT(builder->process_count < BLOCK_PROCESSES_MAX);
    *before = builder->process;
    builder->process = builder->process_count++;
    text_init(builder, &builder->processes[builder->process]);
    return builder->process;
}

void block_process_end(struct block_builder *builder, uint32_t before)
{
    builder->process = before;
}

/* ---- blocks ---- */

bool sim_is_pruned(const struct sim_options *options, uint32_t name)
{
    for (uint32_t i = 0; i < options->pruned_count; i++) {
        if (options->pruned[i] == name) {
            return true;
        }
    }
    return false;
}

uint32_t sim_place_of(const struct sim_random *random)
{
    return (uint32_t)(random->state >> 40);
}

static bool may_stand(const struct block *block, const struct block_row *row)
{
    bool room = block->builder->process_count < BLOCK_PROCESSES_MAX - 1;
    return block->depth <= row->depth_max && room &&
           row->use != (block->builder->model->confluent ? RACY : TAME);
}

static uint32_t pick(struct block *block)
{
    uint32_t weights = 0;
    for (uint32_t i = 0; i < block_row_count; i++) {
        weights += may_stand(block, &block_rows[i]) ? block_rows[i].weight : 0;
    }
    uint32_t chosen = sim_below(&block->random, weights);
    for (uint32_t i = 0; i < block_row_count; i++) {
        uint32_t weight = may_stand(block, &block_rows[i]) ? block_rows[i].weight : 0;
        if (chosen < weight) {
            return i;
        }
        chosen -= weight;
    }
    ASSERT_UNREACHABLE();
}

/* A block at the place that `random` is the stream of. */
static void build(struct block_builder *builder, struct block_exit *at, struct sim_random random,
                  uint32_t depth)
{
    struct sim_report *report = builder->sim->report;
    uint32_t name = sim_place_of(&random);
    if (sim_is_pruned(&builder->sim->options, name)) {
        return;
    }
    struct block block = {.builder = builder, .at = at, .random = random, .depth = depth};
    uint32_t row = pick(&block);
    if (report->block_count < SIM_BLOCKS_MAX) {
        report->blocks[report->block_count++] = name;
    }
    report->row_counts[row]++;
    block_rows[row].build(&block);
}

static void sequence(struct block_builder *builder, struct block_exit *at, struct sim_random random,
                     uint32_t depth, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        build(builder, at, sim_random_of(random.state, i + 1), depth);
    }
}

void block_inside(struct block *block, struct block_exit *at, uint32_t name)
{
    struct sim_random random = sim_random_of(block->random.state, 1000 + name);
    uint32_t depth = block->depth + 1;
    bool wide = block->builder->model->confluent && depth < DEPTH_MAX;
    sequence(block->builder, at, random, depth, sim_between(&random, 1, wide ? 2 : 1));
}

/* ---- the whole ---- */

/* Returns the number of the end event. */
static uint32_t build_main(struct block_builder *builder, struct sim_random random)
{
    struct block_exit at = {0};
    struct block block = {.builder = builder, .at = &at, .random = random};
    uint32_t before;
    bool confluent = builder->model->confluent;
    uint32_t count = confluent ? sim_between(&random, 2, 5) : sim_between(&random, 1, 2);
    (void)block_process_begin(builder, &before);
    block_put(builder, "<startEvent id='n%u'/>", block_enter(&block));
    sequence(builder, &at, random, 0, count);
    uint32_t end = block_enter(&block);
    block_put(builder, "<endEvent id='n%u'/>", end);
    block_process_end(builder, before);
    return end;
}

/* The second version: what leads to the end leads to one more node before it. That stands in front,
 * so that no node and no flow has the place that it has in the first one. */
static uint32_t put_main(struct block_builder *builder, char *text, size_t bytes, uint32_t end)
{
    struct block_text *main = &builder->processes[0];
    if (end == 0) {
        return (uint32_t)snprintf(text, bytes, "%.*s", (int)main->count, main->bytes);
    }
    char to_end[32];
    int target_bytes = snprintf(to_end, sizeof to_end, "targetRef='n%u'", end);
    uint32_t count = (uint32_t)snprintf(
        text, bytes, "<task id='n0'/><sequenceFlow id='f0' sourceRef='n0' targetRef='n%u'/>", end);
    size_t at = 0;
    while (at < main->count) {
        bool here = at + (size_t)target_bytes <= main->count &&
                    memcmp(main->bytes + at, to_end, (size_t)target_bytes) == 0;
        if (here) {
            count += (uint32_t)snprintf(text + count, bytes - count, "targetRef='n0'");
            at += (size_t)target_bytes;
        } else {
            text[count++] = main->bytes[at++];
        }
    }
    ASSERT(count < bytes);
    return count;
}

/* `end`: its end event's number, for the second version; else 0. */
static struct span write_file(struct block_builder *builder, uint32_t end)
{
    size_t bytes = 2048 + builder->roots.count;
    for (uint32_t i = 0; i < builder->process_count; i++) {
        bytes += builder->processes[i].count + 64;
    }
    char *text = arena_alloc(builder->arena, bytes);
    ASSERT(text != NULL && builder->processes[0].count > 0);
    int count = snprintf(text, bytes,
                         "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "
                         "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'>%.*s",
                         (int)builder->roots.count, builder->roots.bytes);
    for (uint32_t i = 0; i < builder->process_count; i++) {
        count += snprintf(text + count, bytes - (size_t)count,
                          "<process id='p%u' isExecutable='true'>", i);
        if (i == 0) {
            count += (int)put_main(builder, text + count, bytes - (size_t)count, end);
        } else {
            count += snprintf(text + count, bytes - (size_t)count, "%.*s",
                              (int)builder->processes[i].count, builder->processes[i].bytes);
        }
        count += snprintf(text + count, bytes - (size_t)count, "</process>\n");
    }
    count += snprintf(text + count, bytes - (size_t)count, "</definitions>");
    ASSERT((size_t)count < bytes);
    return span_of(text, (size_t)count);
}

static void write_modules(struct block_builder *builder)
{
    builder->model->modules = block_json(
        builder, "{\"modules\":[{\"taskTypes\":[\"work\"],\"url\":\"http://127.0.0.1:9/work\"},"
                 "{\"taskTypes\":[\"ask\"],\"url\":\"http://127.0.0.1:9/ask\"},"
                 "{\"taskTypes\":[\"told\"],\"url\":\"http://127.0.0.1:9/told\","
                 "\"callback\":true,\"cancel\":true}]}");
}

void sim_model_make(struct sim *sim, struct sim_model *model)
{
    struct sim_random random = sim_random_of(sim->options.seed, 1);
    *model = (struct sim_model){.confluent = sim_chance(&random, CONFLUENT_PERCENT)};
    struct block_builder builder = {.sim = sim, .model = model, .arena = &sim->arena};
    text_init(&builder, &builder.roots);
    sim->report->confluent = model->confluent;
    model->variables =
        block_json(&builder, "{\"x0\":%u,\"x1\":%u,\"x2\":%u,\"x3\":%u}", sim_below(&random, 10),
                   sim_below(&random, 10), sim_below(&random, 10), sim_below(&random, 10));
    write_modules(&builder);
    struct sim_random scheme = sim_random_of(sim->options.seed, 5);
    sim->report->is_scheme = model->confluent && sim_chance(&scheme, SCHEME_PERCENT);
    if (sim->report->is_scheme) {
        model->file = sim_scheme_make(&builder, scheme);
        model->file_name = span_text("model.scheme.json");
        return;
    }
    uint32_t end = build_main(&builder, random);
    model->file = write_file(&builder, 0);
    /* A timer that starts a process counts anew in a new version: that is another story. */
    model->next =
        model->confluent && model->timed.count == 0 ? write_file(&builder, end) : SPAN_EMPTY;
    model->file_name = span_text("model.bpmn");
}

const struct sim_task *sim_model_task(const struct sim_model *model, struct span node_id)
{
    for (uint32_t i = 0; i < model->task_count; i++) {
        if (span_equal(model->tasks[i].id, node_id)) {
            return &model->tasks[i];
        }
    }
    return NULL;
}

/* ---- compiled ---- */

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span id,
                                                 uint32_t version)
{
    (void)project;
    return sim_catalog_find((const struct sim_catalog *)self, id, version == 0 ? 1 : version);
}

const struct engine_process *sim_catalog_find(const struct sim_catalog *catalog, struct span id,
                                              uint32_t version)
{
    return version < 1 || version > 2 || catalog->definitions[version - 1] == NULL
               ? NULL
               : engine_definition_find(catalog->definitions[version - 1], id);
}

struct span sim_model_begins(const struct sim_model *model, struct span name)
{
    for (uint32_t i = 0; i < model->begun_count; i++) {
        if (span_equal(model->begun[i].name, name)) {
            return model->begun[i].process;
        }
    }
    return SPAN_EMPTY;
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    (void)project;
    return ((const struct sim_catalog *)self)->modules;
}

static void refused(struct sim *sim, struct engine_report *report)
{
    struct span text = engine_report_text(report, ENGINE_ERROR, &sim->arena);
    sim_fail(sim, "the model is refused: %.*s", SPAN_ARG(text));
}

static enum result read_version(struct sim *sim, struct sim_catalog *catalog, struct span file,
                                uint32_t version, struct engine_report *report)
{
    struct engine_definition **definition = &catalog->definitions[version - 1];
    enum result result = engine_read(sim->model->file_name, file, report, definition);
    for (uint32_t i = 0; result == RESULT_OK && i < (*definition)->process_count; i++) {
        (*definition)->processes[i].version = version;
        (*definition)->processes[i].project = span_text(SIM_PROJECT);
    }
    return result;
}

bool sim_catalog_init(struct sim *sim, struct sim_catalog *catalog)
{
    struct engine_report report;
    *catalog = (struct sim_catalog){.engine = {.process = find_process, .modules = find_modules}};
    engine_report_init(&report, span_text("model"));
    enum result result = read_version(sim, catalog, sim->model->file, 1, &report);
    if (result == RESULT_OK && sim->model->next.count > 0) {
        result = read_version(sim, catalog, sim->model->next, 2, &report);
    }
    if (result == RESULT_OK) {
        result =
            engine_read_modules(span_text("modules.json"), sim->model->modules,
                                span_text(SIM_PROJECT), SPAN_EMPTY, &report, &catalog->modules);
    }
    if (result != RESULT_OK) {
        refused(sim, &report);
    }
    engine_report_release(&report);
    return result == RESULT_OK;
}

void sim_catalog_release(struct sim_catalog *catalog)
{
    if (catalog->modules != NULL) {
        engine_modules_free(catalog->modules);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (catalog->definitions[i] != NULL) {
            engine_definition_free(catalog->definitions[i]);
        }
    }
}
