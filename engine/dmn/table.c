/* table.c: which rules of a table match, and what its hit policy makes of them (DMN 1.5 §8.2.8). */
#include "engine/dmn/model.h"
#include "engine/expression/function.h"
#include "engine/expression/node.h"
#include "engine/expression/number.h"
#include "proto/base/assert.h"

/* One evaluation of a table. `owner` of the evaluation tells what matched. */
struct hits {
    struct expression_evaluation *evaluation;
    const struct dmn_table *table;
    struct expression_value *outputs; /* of the rules that matched: output_count for each */
    uint32_t *rules;                  /* their numbers, from 0 */
    uint32_t count;
    uint32_t capacity;
};

/* Where a cell has just failed: which it is, as a reader of the table counts. */
static void blame_cell(const struct hits *hits, const struct dmn_rule *rule, const char *what,
                       uint32_t column)
{
    if (hits->evaluation->result != RESULT_OK) {
        expression_blame(hits->evaluation, "rule %u, %s %u of \"%.*s\"",
                         (unsigned)(rule - hits->table->rules) + 1, what, column + 1,
                         SPAN_ARG(hits->table->id));
    }
}

static bool matches(struct hits *hits, const struct dmn_rule *rule,
                    const struct expression_value *inputs)
{
    struct expression_evaluation *evaluation = hits->evaluation;
    struct expression_frame frame = {.parent = evaluation->frame, .name = span_text("?")};
    bool holds = true;
    evaluation->frame = &frame;
    for (uint32_t i = 0; holds && i < hits->table->input_count; i++) {
        frame.value = inputs[i];
        holds = rule->tests[i] == NULL ||
                expression_is_true(expression_operand(evaluation, rule->tests[i]));
        blame_cell(hits, rule, "input", i);
    }
    evaluation->frame = frame.parent;
    return holds && evaluation->result == RESULT_OK;
}

static bool make_room(struct hits *hits)
{
    struct arena *arena = hits->evaluation->arena;
    uint32_t width = hits->table->output_count;
    if (hits->count < hits->capacity) {
        return true;
    }
    uint32_t capacity = hits->capacity == 0 ? 4 : hits->capacity * 2;
    size_t before = (size_t)hits->capacity * width * sizeof *hits->outputs;
    size_t after = (size_t)capacity * width * sizeof *hits->outputs;
    struct expression_value *outputs = arena_grow(arena, hits->outputs, before, after);
    uint32_t *rules =
        arena_grow(arena, hits->rules, hits->capacity * sizeof *rules, capacity * sizeof *rules);
    if (outputs == NULL || rules == NULL) {
        expression_fail(hits->evaluation, RESULT_LIMIT, 0, "out of memory");
        return false;
    }
    hits->outputs = outputs;
    hits->rules = rules;
    hits->capacity = capacity;
    return true;
}

static void add_hit(struct hits *hits, uint32_t rule)
{
    const struct dmn_table *table = hits->table;
    if (!make_room(hits)) {
        return;
    }
    struct expression_value *row = hits->outputs + (size_t)hits->count * table->output_count;
    for (uint32_t i = 0; hits->evaluation->result == RESULT_OK && i < table->output_count; i++) {
        const struct expression_node *output = table->rules[rule].outputs[i];
        row[i] = output == NULL ? expression_null() : expression_operand(hits->evaluation, output);
        row[i] = engine_dmn_coerce(hits->evaluation, table->outputs[i].type, row[i]);
        blame_cell(hits, &table->rules[rule], "output", i);
    }
    hits->rules[hits->count++] = rule;
}

/* One output is its value, several are a context. */
static struct expression_value row_value(const struct hits *hits,
                                         const struct expression_value *row)
{
    const struct dmn_table *table = hits->table;
    if (table->output_count == 1) {
        return row[0];
    }
    struct expression_entry *entries =
        arena_alloc(hits->evaluation->arena, table->output_count * sizeof *entries);
    if (entries == NULL) {
        return expression_fail(hits->evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; i < table->output_count; i++) {
        entries[i] = (struct expression_entry){table->outputs[i].name, row[i]};
    }
    return expression_context(entries, table->output_count);
}

static struct expression_value hit_value(const struct hits *hits, uint32_t index)
{
    return row_value(hits, hits->outputs + (size_t)index * hits->table->output_count);
}

/* Defaults, where there is at least one; COUNT of no rule is 0; else null. */
static struct expression_value no_hit(const struct hits *hits)
{
    const struct dmn_table *table = hits->table;
    struct expression_value *row =
        arena_alloc(hits->evaluation->arena, table->output_count * sizeof *row);
    bool any = false;
    if (table->aggregation != NULL && strcmp(table->aggregation, "count") == 0) {
        return expression_integer(0);
    }
    for (uint32_t i = 0; row != NULL && i < table->output_count; i++) {
        const struct expression_node *fallback = table->outputs[i].fallback;
        any = any || fallback != NULL;
        row[i] =
            fallback == NULL ? expression_null() : expression_operand(hits->evaluation, fallback);
        row[i] = engine_dmn_coerce(hits->evaluation, table->outputs[i].type, row[i]);
    }
    return any ? row_value(hits, row)
               : expression_warn(hits->evaluation, 0, "no rule of \"%.*s\" matches",
                                 SPAN_ARG(table->id));
}

static struct expression_value refuse(const struct hits *hits, uint32_t other, const char *why)
{
    return expression_fail(hits->evaluation, RESULT_INVALID, 0,
                           "rules %u and %u of \"%.*s\" both match%s", hits->rules[0] + 1,
                           hits->rules[other] + 1, SPAN_ARG(hits->table->id), why);
}

/* ANY: several rules may match if they say the same. */
static struct expression_value any_hit(const struct hits *hits)
{
    struct expression_value first = hit_value(hits, 0);
    for (uint32_t i = 1; i < hits->count; i++) {
        if (!expression_same(hits->evaluation, first, hit_value(hits, i))) {
            return refuse(hits, i, ", with different outputs");
        }
    }
    return first;
}

/* Where the output stands among its values; behind them all when it is none of them. */
static uint32_t rank(const struct hits *hits, struct expression_value values,
                     struct expression_value output)
{
    struct expression_walk walk = expression_walk(values);
    struct expression_value value;
    uint32_t at = 0;
    while (expression_walk_item(&walk, &value) &&
           !expression_same(hits->evaluation, value, output)) {
        at++;
    }
    return at;
}

/* The ranks of every hit's outputs, the first output weighing most. */
static uint32_t *ranks_of(const struct hits *hits)
{
    const struct dmn_table *table = hits->table;
    uint32_t width = table->output_count;
    uint32_t *ranks =
        arena_zero(hits->evaluation->arena, (size_t)hits->count * width * sizeof *ranks);
    for (uint32_t i = 0; ranks != NULL && i < width; i++) {
        if (table->outputs[i].order == NULL) {
            continue;
        }
        struct expression_value values =
            expression_operand(hits->evaluation, table->outputs[i].order);
        for (uint32_t hit = 0; values.type == VALUE_LIST && hit < hits->count; hit++) {
            size_t at = (size_t)hit * width + i;
            ranks[at] = rank(hits, values, hits->outputs[at]);
        }
    }
    return ranks;
}

static bool ranks_before(const uint32_t *a, const uint32_t *b, uint32_t width)
{
    uint32_t i = 0;
    while (i + 1 < width && a[i] == b[i]) {
        i++;
    }
    return a[i] < b[i];
}

/* All hits, the most wanted first; hits of one rank keep the order of their rules. Insertion sort:
 * each comparison is paid for. */
static struct expression_value in_output_order(const struct hits *hits, bool first_only)
{
    uint32_t width = hits->table->output_count;
    uint32_t *ranks = ranks_of(hits);
    uint32_t *order = arena_alloc(hits->evaluation->arena, hits->count * sizeof *order);
    struct expression_builder list = {.arena = hits->evaluation->arena};
    if (ranks == NULL || order == NULL) {
        return expression_fail(hits->evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; i < hits->count; i++) {
        uint32_t at = i;
        while (
            at > 0 && expression_pay(hits->evaluation, 1) &&
            ranks_before(ranks + (size_t)i * width, ranks + (size_t)order[at - 1] * width, width)) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    if (first_only) {
        return hit_value(hits, order[0]);
    }
    for (uint32_t i = 0; i < hits->count; i++) {
        expression_builder_add(&list, hit_value(hits, order[i]));
    }
    return expression_builder_list(&list);
}

static struct expression_value in_rule_order(const struct hits *hits)
{
    struct expression_builder list = {.arena = hits->evaluation->arena};
    for (uint32_t i = 0; i < hits->count; i++) {
        expression_builder_add(&list, hit_value(hits, i));
    }
    return expression_builder_list(&list);
}

static struct expression_value collected(const struct hits *hits)
{
    struct expression_value list = in_rule_order(hits);
    if (hits->table->aggregation == NULL) {
        return list;
    }
    const struct expression_function *function =
        expression_function_find(span_text(hits->table->aggregation));
    ASSERT(function != NULL);
    return expression_call_function(hits->evaluation, function, &list, 1, 0);
}

static struct expression_value by_policy(const struct hits *hits)
{
    switch (hits->table->policy) {
    case DMN_UNIQUE:
        return hits->count == 1 ? hit_value(hits, 0)
                                : refuse(hits, 1, ", where the hit policy is UNIQUE");
    case DMN_FIRST:
        return hit_value(hits, 0);
    case DMN_ANY:
        return any_hit(hits);
    case DMN_PRIORITY:
    case DMN_OUTPUT_ORDER:
        return in_output_order(hits, hits->table->policy == DMN_PRIORITY);
    case DMN_RULE_ORDER:
        return in_rule_order(hits);
    case DMN_COLLECT:
        return collected(hits);
    }
    ASSERT_UNREACHABLE();
    return expression_null();
}

/* Whoever asked for the decision may say which rules it rests on. */
static void tell_hits(const struct hits *hits)
{
    const struct dmn_run *run = hits->evaluation->owner;
    struct engine_dmn_outcome *outcome = run->outcome;
    const struct dmn_table *table = hits->table;
    for (uint32_t i = 0; i < hits->count && outcome->hit_count < ENGINE_DMN_HITS_MAX; i++) {
        outcome->hits[outcome->hit_count++] =
            (struct engine_dmn_hit){table->id, table->rules[hits->rules[i]].id, hits->rules[i] + 1};
    }
    outcome->hits_in_all += hits->count;
    if (table == run->dmn->decisions[run->wanted].table) {
        outcome->own_hits = hits->count;
    }
}

struct expression_value engine_dmn_table(struct expression_evaluation *evaluation,
                                         const void *about)
{
    const struct dmn_table *table = about;
    struct hits hits = {.evaluation = evaluation, .table = table};
    /* Not on the stack: tables of knowledge models call each other. */
    struct expression_value *inputs =
        arena_alloc(evaluation->arena, table->input_count * sizeof *inputs);
    if (inputs == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; evaluation->result == RESULT_OK && i < table->input_count; i++) {
        inputs[i] = expression_operand(evaluation, table->inputs[i].expression);
        inputs[i] = engine_dmn_coerce(evaluation, table->inputs[i].type, inputs[i]);
        if (evaluation->result != RESULT_OK) {
            expression_blame(evaluation, "input %u of \"%.*s\"", i + 1, SPAN_ARG(table->id));
        }
    }
    for (uint32_t i = 0; i < table->rule_count && expression_pay(evaluation, 1); i++) {
        if (matches(&hits, &table->rules[i], inputs)) {
            add_hit(&hits, i);
        }
        if (hits.count == 1 && table->policy == DMN_FIRST) {
            break;
        }
    }
    if (evaluation->result != RESULT_OK) {
        return expression_null();
    }
    tell_hits(&hits);
    return hits.count == 0 ? no_hit(&hits) : by_policy(&hits);
}
