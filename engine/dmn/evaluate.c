/* evaluate.c: a decision behind all that it requires, in one evaluation. */
#include "engine/dmn/model.h"
#include "engine/expression/function.h"
#include "engine/expression/node.h"
#include "proto/base/assert.h"

/* One run: the values of decisions so far. */
struct run {
    const struct engine_dmn *dmn;
    uint32_t wanted;
    bool *needed;
    struct expression_value *values;
};

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

struct expression_value engine_dmn_coerce(struct expression_evaluation *evaluation,
                                          enum dmn_type type, struct expression_value value)
{
    static const char *const makers[] = {[DMN_TYPE_DATE] = "date",
                                         [DMN_TYPE_TIME] = "time",
                                         [DMN_TYPE_DATE_TIME] = "date and time",
                                         [DMN_TYPE_DURATION] = "duration"};
    struct expression_value item;
    if (type != DMN_TYPE_ANY && value.type == VALUE_LIST && value.count == 1 &&
        expression_value_at(value, 0, &item)) {
        value = expression_value_read(item);
    }
    if (type < DMN_TYPE_DATE || value.type != VALUE_STRING) {
        return value;
    }
    const struct expression_function *maker = expression_function_find(span_text(makers[type]));
    ASSERT(maker != NULL);
    return expression_call_function(evaluation, maker, &value, 1, 0);
}

/* What the decision requires, by name. */
static struct expression_value requirements(struct expression_evaluation *evaluation,
                                            const struct run *run,
                                            const struct dmn_decision *decision)
{
    struct expression_entry *entries =
        arena_alloc(evaluation->arena, decision->required_count * sizeof *entries);
    if (entries == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    for (uint32_t i = 0; i < decision->required_count; i++) {
        uint32_t place = decision->required[i];
        ASSERT(run->needed[place]);
        entries[i].key = run->dmn->decisions[place].variable;
        entries[i].value = run->values[place];
    }
    return expression_context(entries, decision->required_count);
}

/* Requirements stand before what requires them, so that one way back marks them all. */
static void mark_needed(const struct run *run)
{
    run->needed[run->wanted] = true;
    for (uint32_t i = run->dmn->count; i > 0; i--) {
        uint32_t place = run->dmn->order[i - 1];
        const struct dmn_decision *decision = &run->dmn->decisions[place];
        for (uint32_t j = 0; run->needed[place] && j < decision->required_count; j++) {
            run->needed[decision->required[j]] = true;
        }
    }
}

static struct expression_value evaluate_one(struct expression_evaluation *evaluation,
                                            const struct run *run, uint32_t place)
{
    const struct dmn_decision *decision = &run->dmn->decisions[place];
    struct expression_frame frame = {.parent = evaluation->frame, .is_open = true};
    frame.value = requirements(evaluation, run, decision);
    evaluation->frame = &frame;
    struct expression_value value = expression_operand(evaluation, decision->logic);
    evaluation->frame = frame.parent;
    return engine_dmn_coerce(evaluation, decision->type, value);
}

static struct expression_value evaluate_run(struct expression_evaluation *evaluation,
                                            const void *about)
{
    struct run run = *(const struct run *)about;
    const struct engine_dmn *dmn = run.dmn;
    run.needed = arena_zero(evaluation->arena, dmn->count * sizeof *run.needed);
    run.values = arena_alloc(evaluation->arena, dmn->count * sizeof *run.values);
    if (run.needed == NULL || run.values == NULL) {
        return expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    mark_needed(&run);
    for (uint32_t i = 0; i < dmn->count && evaluation->result == RESULT_OK; i++) {
        uint32_t place = dmn->order[i];
        if (run.needed[place]) {
            run.values[place] = evaluate_one(evaluation, &run, place);
        }
    }
    return evaluation->result == RESULT_OK ? run.values[run.wanted] : expression_null();
}

enum result engine_dmn_evaluate(const struct engine_dmn *dmn, struct span decision_id,
                                const struct engine_names *names, struct arena *arena,
                                struct engine_evaluation *out)
{
    struct run run = {.dmn = dmn};
    *out = (struct engine_evaluation){0};
    if (!find_decision(dmn, decision_id, &run.wanted)) {
        out->error.message = "there is no such decision";
        return RESULT_NOT_FOUND;
    }
    const struct expression_node root = {.kind = NODE_CUSTOM,
                                         .as.custom = {.evaluate = evaluate_run, .about = &run}};
    const struct engine_expression expression = {.root = &root};
    return engine_expression_evaluate(&expression, names, arena, out);
}
