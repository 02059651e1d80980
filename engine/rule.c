/*
 * rule.c: see rule.h.
 */
#include "engine/rule.h"

#include "engine/answer.h"
#include "engine/apply.h"
#include "engine/dmn/dmn.h"
#include "engine/failure.h"
#include "engine/names.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define NAMED_HITS_MAX 8u /* in the log */

/* One decision of a task. */
struct rule_work {
    struct engine_decision *decision;
    const struct engine_visit *visit;
    struct engine_scene scene;
    struct span id;
    const struct engine_dmn *dmn;
    struct engine_dmn_outcome outcome;
    struct span rows; /* ARRAY of MAPs; empty: the value itself is wanted */
};

static void fail(const struct rule_work *work, const char *reason)
{
    engine_fail_expression(work->decision, work->visit, ENGINE_TOKEN_ENTERED,
                           ENGINE_TEXT(work->decision, "decision \"%.*s\"", SPAN_ARG(work->id)),
                           reason);
}

/* ---- which decision ---- */

static bool evaluate(struct rule_work *work, const struct engine_expression *expression,
                     struct span *value)
{
    struct engine_evaluation evaluation;
    if (engine_expression_evaluate(expression, &work->scene.names, work->decision->arena,
                                   &evaluation) != RESULT_OK) {
        fail(work, evaluation.error.message);
        return false;
    }
    *value = evaluation.value;
    return true;
}

/* False: it failed, which was decided on. `dmn` stays NULL where the decision is not deployed. */
static bool find(struct rule_work *work)
{
    const struct engine_execution *execution = work->decision->execution;
    const struct engine_catalog *catalog = execution->catalog;
    const struct engine_rule *rule = &work->visit->node->rule;
    struct span value;
    int64_t version = 0;
    work->id = engine_expression_source(rule->decision); /* until it is known, for messages */
    if (!evaluate(work, rule->decision, &value)) {
        return false;
    }
    work->id = wire_string_or(value, "");
    if (work->id.count == 0) {
        work->id = engine_expression_source(rule->decision);
        fail(work, "its id is no text");
        return false;
    }
    if (rule->version != NULL) {
        if (!evaluate(work, rule->version, &value)) {
            return false;
        }
        version = wire_int_or(value, 0);
        if (version < 1 || version > UINT32_MAX) {
            fail(work, "its version is no number from 1 on");
            return false;
        }
    }
    if (catalog->decision != NULL) {
        work->dmn = catalog->decision(catalog, execution->project, work->id, (uint32_t)version);
    }
    return true;
}

/* ---- what is made of its value ---- */

/* The only member of a row; empty: there are several. */
static struct span entry_of(struct span row)
{
    struct wire_map_walk walk = wire_map_begin(row);
    struct span key;
    struct span value;
    return wire_count(row) == 1 && wire_map_next(&walk, &key, &value) ? value : SPAN_EMPTY;
}

static struct span nothing(struct rule_work *work)
{
    struct wire_writer writer;
    wire_writer_init(&writer, work->decision->arena, 1);
    wire_write_nil(&writer);
    return wire_writer_span(&writer);
}

/* Empty: there are several outputs. */
static struct span entries(struct rule_work *work)
{
    struct wire_writer writer;
    struct wire_map_walk walk = wire_array_begin(work->rows);
    struct span row;
    wire_writer_init(&writer, work->decision->arena, work->rows.count + 8);
    wire_write_array(&writer, wire_count(work->rows));
    while (wire_array_next(&walk, &row)) {
        struct span entry = entry_of(row);
        if (entry.count == 0) {
            return SPAN_EMPTY;
        }
        wire_write_value(&writer, entry);
    }
    return wire_writer_span(&writer);
}

/* The result in the wanted shape; false: it does not fit, which was decided on. */
static bool shape(struct rule_work *work, struct span *out)
{
    uint32_t count = wire_count(work->rows);
    enum engine_rule_shape wanted = work->visit->node->rule.shape;
    switch (wanted) {
    case ENGINE_RULE_VALUE:
    case ENGINE_RULE_VARIABLES:
        *out = work->outcome.value;
        return true;
    case ENGINE_RULE_RESULT_LIST:
        *out = work->rows;
        return true;
    case ENGINE_RULE_SINGLE_ENTRY:
    case ENGINE_RULE_SINGLE_RESULT:
        if (count > 1) {
            fail(work, "there are several results where one is wanted");
            return false;
        }
        *out = count == 0 ? nothing(work) : wire_at(work->rows, 0);
        if (count == 1 && wanted == ENGINE_RULE_SINGLE_ENTRY) {
            *out = entry_of(*out);
        }
        break;
    case ENGINE_RULE_COLLECT_ENTRIES:
        *out = entries(work);
        break;
    case ENGINE_RULE_SHAPE_COUNT:
        ASSERT_UNREACHABLE();
    }
    if (out->count == 0) {
        fail(work, "there are several outputs where one is wanted");
        return false;
    }
    return true;
}

/* Flowable: one result gives variables, several are a list under the decision's id. */
static struct span variables_of(struct rule_work *work, struct span result)
{
    struct wire_writer writer;
    struct span name = work->visit->node->result_variable;
    if (work->visit->node->rule.shape == ENGINE_RULE_VARIABLES) {
        if (wire_count(work->rows) == 0) {
            return SPAN_EMPTY;
        }
        if (wire_count(work->rows) == 1) {
            return wire_at(work->rows, 0);
        }
        name = work->id;
        result = work->rows;
    }
    if (name.count == 0) {
        return SPAN_EMPTY;
    }
    wire_writer_init(&writer, work->decision->arena, result.count + name.count + 16);
    wire_write_map(&writer, 1);
    wire_write_string(&writer, name);
    wire_write_value(&writer, result);
    return wire_writer_span(&writer);
}

/* The result is the step's output, and a variable where one is named. */
static struct span body_of(struct rule_work *work, struct span result)
{
    struct wire_writer writer;
    struct span variables = variables_of(work, result);
    wire_writer_init(&writer, work->decision->arena, result.count + variables.count + 64);
    wire_write_map(&writer, 1u + (variables.count > 0));
    wire_pair_value(&writer, "output", result);
    if (variables.count > 0) {
        wire_pair_value(&writer, "execution", variables);
    }
    return wire_writer_span(&writer);
}

/* Camunda 7: output mappings see the results as `decisionResult`. */
static struct span local_of(struct rule_work *work, struct span local)
{
    struct wire_writer writer;
    if (work->rows.count == 0) {
        return local;
    }
    wire_writer_init(&writer, work->decision->arena, work->rows.count + 32);
    wire_write_map(&writer, 1);
    wire_pair_value(&writer, "decisionResult", work->rows);
    return wire_merge(work->decision->arena, local, wire_writer_span(&writer));
}

/* ---- why ---- */

/* Ids and numbers of the rules that the decision rests on: never what they say. */
static void log_hits(struct rule_work *work)
{
    const struct engine_dmn_outcome *outcome = &work->outcome;
    struct span text = ENGINE_TEXT(work->decision, "decision \"%.*s\":%s", SPAN_ARG(work->id),
                                   outcome->hits_in_all == 0 ? " no rule" : "");
    uint32_t shown = outcome->hit_count < NAMED_HITS_MAX ? outcome->hit_count : NAMED_HITS_MAX;
    for (uint32_t i = 0; i < shown; i++) {
        const struct engine_dmn_hit *hit = &outcome->hits[i];
        bool is_other = !span_equal(hit->decision, work->id);
        text = ENGINE_TEXT(work->decision, "%.*s%s rule %u%s%.*s%s%s%.*s%s", SPAN_ARG(text),
                           i == 0 ? "" : ",", hit->number, hit->rule.count == 0 ? "" : " (",
                           SPAN_ARG(hit->rule), hit->rule.count == 0 ? "" : ")",
                           is_other ? " of \"" : "",
                           SPAN_ARG(is_other ? hit->decision : SPAN_EMPTY), is_other ? "\"" : "");
    }
    if (outcome->hits_in_all > shown) {
        text = ENGINE_TEXT(work->decision, "%.*s and %u more", SPAN_ARG(text),
                           outcome->hits_in_all - shown);
    }
    engine_emit_log(work->decision, ENGINE_LEVEL_INFO, work->visit, text);
}

bool engine_rule_work(struct engine_decision *decision, const struct engine_visit *visit,
                      struct span local)
{
    struct rule_work work = {.decision = decision, .visit = visit};
    struct span result;
    engine_scene_init(&work.scene, decision, visit->scope, visit->token);
    work.scene.local = local;
    if (!find(&work)) {
        return true;
    }
    if (work.dmn == NULL) {
        return false;
    }
    if (engine_dmn_evaluate(work.dmn, work.id, &work.scene.names, decision->arena, &work.outcome) !=
        RESULT_OK) {
        fail(&work, work.outcome.error.message);
        return true;
    }
    if (visit->node->rule.shape != ENGINE_RULE_VALUE) {
        work.rows = engine_dmn_rows(work.dmn, work.id, &work.outcome, decision->arena);
    }
    if (!shape(&work, &result)) {
        return true;
    }
    log_hits(&work);
    engine_answer_made(decision, visit, NULL, body_of(&work, result), local_of(&work, local));
    return true;
}
