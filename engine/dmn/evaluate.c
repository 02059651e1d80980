/* evaluate.c: a decision behind all that it requires, in one evaluation. */
#include "engine/dmn/model.h"
#include "engine/expression/function.h"
#include "engine/expression/node.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

struct span engine_dmn_id(const struct engine_dmn *dmn)
{
    return dmn->id;
}

struct span engine_dmn_name(const struct engine_dmn *dmn)
{
    return dmn->name;
}

/* Business knowledge models stand in the same list, behind all decisions. */
uint32_t engine_dmn_decision_count(const struct engine_dmn *dmn)
{
    uint32_t count = 0;
    while (count < dmn->count && !dmn->decisions[count].is_knowledge) {
        count++;
    }
    return count;
}

struct span engine_dmn_decision_id(const struct engine_dmn *dmn, uint32_t index)
{
    ASSERT(index < engine_dmn_decision_count(dmn));
    return dmn->decisions[index].id;
}

struct span engine_dmn_decision_name(const struct engine_dmn *dmn, uint32_t index)
{
    ASSERT(index < engine_dmn_decision_count(dmn));
    return dmn->decisions[index].name;
}

static bool find_decision(const struct engine_dmn *dmn, struct span id, uint32_t *out)
{
    uint32_t count = engine_dmn_decision_count(dmn);
    for (*out = 0; *out < count; (*out)++) {
        if (span_equal(dmn->decisions[*out].id, id)) {
            return true;
        }
    }
    return false;
}

bool engine_dmn_has_decision(const struct engine_dmn *dmn, struct span decision_id)
{
    uint32_t place;
    return find_decision(dmn, decision_id, &place);
}

/* Names and values of what a decision requires; of two of one name the first counts. */
struct requirements {
    struct expression_entry *entries;
    uint32_t count;
};

static void add_name(struct requirements *names, struct span name, struct expression_value value)
{
    if (name.count > 0) {
        names->entries[names->count++] = (struct expression_entry){name, value};
    }
}

/*
 * Where a decision declares no variable its id names it too, and each output that it has one value
 * for: so files say it that were made for Camunda 7.
 */
static void add_undeclared(struct requirements *names, const struct dmn_decision *decision,
                           struct expression_value value)
{
    const struct dmn_table *table = decision->table;
    add_name(names, decision->id, value);
    for (uint32_t i = 0; table != NULL && i < table->output_count; i++) {
        struct expression_value output = value;
        if (table->output_count == 1 ||
            (value.type == VALUE_CONTEXT &&
             expression_value_find(value, table->outputs[i].name, &output))) {
            add_name(names, table->outputs[i].name, output);
        }
    }
}

static size_t names_at_most(const struct dmn_decision *decision)
{
    return 2 + (decision->table == NULL ? 0 : decision->table->output_count);
}

/* What the decision requires, by name. */
static struct expression_value requirements(struct expression_evaluation *evaluation,
                                            const struct dmn_run *run,
                                            const struct dmn_decision *decision)
{
    const struct dmn_decision *decisions = run->dmn->decisions;
    size_t capacity = 0;
    for (uint32_t i = 0; i < decision->required_count; i++) {
        capacity += names_at_most(&decisions[decision->required[i]]);
    }
    capacity += decision->data_count;
    if (decision->service != NULL) {
        return expression_context(NULL, 0); /* it evaluates them when it is called */
    }
    struct requirements names = {
        .entries = arena_alloc(evaluation->arena, capacity * sizeof *names.entries)};
    if (names.entries == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; i < decision->required_count; i++) {
        uint32_t place = decision->required[i];
        ASSERT(run->needed[place]);
        add_name(&names, decisions[place].variable, run->values[place]);
    }
    for (uint32_t i = 0; i < decision->required_count; i++) {
        uint32_t place = decision->required[i];
        if (!decisions[place].is_declared) {
            add_undeclared(&names, &decisions[place], run->values[place]);
        }
    }
    for (uint32_t i = 0; i < decision->data_count; i++) {
        struct expression_value value;
        if (expression_lookup_text(evaluation, decision->data[i].name, &value)) {
            value = expression_value_read(value);
            add_name(&names, decision->data[i].name,
                     engine_dmn_coerce(evaluation, decision->data[i].type, value));
        }
    }
    return expression_context(names.entries, names.count);
}

struct expression_value engine_dmn_body(struct expression_evaluation *evaluation, const void *about)
{
    const struct dmn_body *body = about;
    const struct expression_frame *outer = evaluation->frame;
    struct expression_entry *entries =
        arena_alloc(evaluation->arena, body->parameter_count * sizeof *entries);
    if (entries == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    /* The call has put the arguments around the body, one frame each, the last parameter inmost. */
    const struct expression_frame *argument = outer;
    for (uint32_t i = body->parameter_count; i > 0; i--) {
        ASSERT(argument != NULL && span_equal(argument->name, body->parameters[i - 1].name));
        struct expression_value value = engine_dmn_coerce(evaluation, body->parameters[i - 1].type,
                                                          expression_value_read(argument->value));
        entries[i - 1] = (struct expression_entry){argument->name, value};
        argument = argument->parent;
    }
    struct expression_frame frame = {.parent = outer,
                                     .is_open = true,
                                     .value = expression_context(entries, body->parameter_count)};
    evaluation->frame = &frame;
    struct expression_value value = expression_operand(evaluation, body->logic);
    evaluation->frame = outer;
    return engine_dmn_coerce(evaluation, body->type, value);
}

/* Requirements stand before what requires them, so that one way back marks them all. What is given
 * has no requirements here; a service evaluates its own when it is called. */
void engine_dmn_mark_needed(const struct engine_dmn *dmn, const bool *given, bool *needed)
{
    for (uint32_t i = dmn->count; i > 0; i--) {
        uint32_t place = dmn->order[i - 1];
        const struct dmn_decision *decision = &dmn->decisions[place];
        bool rests = needed[place] && decision->service == NULL && (given == NULL || !given[place]);
        for (uint32_t j = 0; rests && j < decision->required_count; j++) {
            needed[decision->required[j]] = true;
        }
    }
}

/* What is called by its name sees itself there, besides what it requires; the body of one that has
 * the name of a built-in function means that one. */
static struct expression_value evaluate_knowledge(struct expression_evaluation *evaluation,
                                                  const struct dmn_decision *decision)
{
    struct expression_entry *self = arena_alloc(evaluation->arena, sizeof *self);
    if (self == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    *self = (struct expression_entry){decision->variable, expression_null()};
    struct expression_frame frame = {
        .parent = evaluation->frame, .is_open = true, .value = expression_context(self, 1)};
    evaluation->frame = &frame;
    self->value = expression_operand(evaluation, decision->logic);
    evaluation->frame = frame.parent;
    return self->value;
}

static struct expression_value evaluate_one(struct expression_evaluation *evaluation,
                                            const struct dmn_run *run, uint32_t place)
{
    const struct dmn_decision *decision = &run->dmn->decisions[place];
    struct expression_frame frame = {.parent = evaluation->frame, .is_open = true};
    frame.value = requirements(evaluation, run, decision);
    evaluation->frame = &frame;
    bool sees_itself =
        decision->is_knowledge && expression_function_find(decision->variable) == NULL;
    struct expression_value value = sees_itself ? evaluate_knowledge(evaluation, decision)
                                                : expression_operand(evaluation, decision->logic);
    evaluation->frame = frame.parent;
    if (evaluation->result != RESULT_OK && decision->table == NULL) {
        expression_blame(evaluation, "in \"%.*s\"", SPAN_ARG(decision->id));
    }
    return engine_dmn_coerce(evaluation, decision->type, value);
}

static void evaluate_needed(struct expression_evaluation *evaluation, const struct dmn_run *run,
                            const bool *given)
{
    for (uint32_t i = 0; i < run->dmn->count && evaluation->result == RESULT_OK; i++) {
        uint32_t place = run->dmn->order[i];
        if (run->needed[place] && (given == NULL || !given[place])) {
            run->values[place] = evaluate_one(evaluation, run, place);
        }
    }
}

/* One output decision is the value itself, several are a context of them. */
static struct expression_value service_value(struct expression_evaluation *evaluation,
                                             const struct dmn_service *service,
                                             const struct expression_value *values)
{
    if (service->output_count == 1) {
        return values[service->outputs[0]];
    }
    struct expression_entry *entries =
        arena_alloc(evaluation->arena, service->output_count * sizeof *entries);
    if (entries == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; i < service->output_count; i++) {
        uint32_t place = service->outputs[i];
        entries[i] =
            (struct expression_entry){service->dmn->decisions[place].variable, values[place]};
    }
    return expression_context(entries, service->output_count);
}

struct expression_value engine_dmn_serve(struct expression_evaluation *evaluation,
                                         const void *about)
{
    const struct dmn_service *service = about;
    const struct engine_dmn *dmn = service->dmn;
    const struct dmn_run *outer = evaluation->owner;
    struct dmn_run run = {.dmn = dmn, .needed = service->needed, .outcome = outer->outcome};
    run.values = arena_alloc(evaluation->arena, dmn->count * sizeof *run.values);
    if (run.values == NULL || !expression_pay(evaluation, 1 + dmn->count / 8)) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    /* The call has put the arguments around the body, input decisions inmost. */
    const struct expression_frame *argument = evaluation->frame;
    for (uint32_t i = service->input_count; i > 0; i--) {
        const struct dmn_decision *input = &dmn->decisions[service->inputs[i - 1]];
        ASSERT(argument != NULL && span_equal(argument->name, input->variable));
        run.values[service->inputs[i - 1]] =
            engine_dmn_coerce(evaluation, input->type, expression_value_read(argument->value));
        argument = argument->parent;
    }
    evaluate_needed(evaluation, &run, service->given);
    if (evaluation->result != RESULT_OK) {
        return expression_null();
    }
    return engine_dmn_coerce(evaluation, service->type,
                             service_value(evaluation, service, run.values));
}

static struct expression_value evaluate_run(struct expression_evaluation *evaluation,
                                            const void *about)
{
    struct dmn_run run = *(const struct dmn_run *)about;
    const struct engine_dmn *dmn = run.dmn;
    bool *needed = arena_zero(evaluation->arena, dmn->count * sizeof *needed);
    run.values = arena_alloc(evaluation->arena, dmn->count * sizeof *run.values);
    if (needed == NULL || run.values == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    needed[run.wanted] = true;
    engine_dmn_mark_needed(dmn, NULL, needed);
    run.needed = needed;
    evaluation->owner = &run;
    evaluate_needed(evaluation, &run, NULL);
    evaluation->owner = NULL;
    return evaluation->result == RESULT_OK ? run.values[run.wanted] : expression_null();
}

enum result engine_dmn_evaluate(const struct engine_dmn *dmn, struct span decision_id,
                                const struct engine_names *names, struct arena *arena,
                                struct engine_dmn_outcome *out)
{
    struct dmn_run run = {.dmn = dmn, .outcome = out};
    *out = (struct engine_dmn_outcome){
        .hits = arena_alloc(arena, ENGINE_DMN_HITS_MAX * sizeof *out->hits)};
    if (!find_decision(dmn, decision_id, &run.wanted)) {
        out->error.message = "there is no such decision";
        return RESULT_NOT_FOUND;
    }
    if (out->hits == NULL) {
        out->error.message = "out of memory";
        return RESULT_LIMIT;
    }
    const struct expression_node root = {.kind = NODE_CUSTOM,
                                         .as.custom = {.evaluate = evaluate_run, .about = &run}};
    const struct engine_expression expression = {.root = &root};
    struct engine_evaluation evaluation;
    enum result result = engine_expression_evaluate(&expression, names, arena, &evaluation);
    out->value = evaluation.value;
    out->error = evaluation.error;
    return result;
}

/* ---- results by the names of outputs ---- */

static bool gives_a_list(const struct dmn_table *table)
{
    return table->policy == DMN_RULE_ORDER || table->policy == DMN_OUTPUT_ORDER ||
           (table->policy == DMN_COLLECT && table->aggregation == NULL);
}

static void write_row(struct wire_writer *writer, const struct dmn_decision *decision,
                      struct span value)
{
    const struct dmn_table *table = decision->table;
    if (table != NULL && table->output_count > 1) {
        wire_write_value(writer, value);
        return;
    }
    bool named = table != NULL && table->outputs[0].name.count > 0;
    wire_write_map(writer, 1);
    wire_write_string(writer, named ? table->outputs[0].name : decision->variable);
    wire_write_value(writer, value);
}

struct span engine_dmn_rows(const struct engine_dmn *dmn, struct span decision_id,
                            const struct engine_dmn_outcome *outcome, struct arena *arena)
{
    uint32_t place;
    bool found = find_decision(dmn, decision_id, &place);
    ASSERT(found);
    const struct dmn_decision *decision = &dmn->decisions[place];
    struct wire_writer writer;
    wire_writer_init(&writer, arena, outcome->value.count + 64);
    if (decision->table != NULL && gives_a_list(decision->table) &&
        wire_is(outcome->value, WIRE_ARRAY)) {
        struct wire_map_walk walk = wire_array_begin(outcome->value);
        struct span item;
        wire_write_array(&writer, wire_count(outcome->value));
        while (wire_array_next(&walk, &item)) {
            write_row(&writer, decision, item);
        }
        return wire_writer_span(&writer);
    }
    /* No rule matched and nothing is the default: there is no result at all. */
    bool any =
        decision->table == NULL || outcome->own_hits > 0 || !wire_is(outcome->value, WIRE_NIL);
    wire_write_array(&writer, any ? 1 : 0);
    if (any) {
        write_row(&writer, decision, outcome->value);
    }
    return wire_writer_span(&writer);
}
