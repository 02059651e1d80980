/*
 * dmn.h: decision models: read once, evaluated often (DMN 1.1 to 1.5).
 *
 * A decision is a table (all hit policies), a literal expression or another boxed expression; it
 * may require other decisions, input data, business knowledge models and decision services.
 * Expressions are FEEL unless they say "juel". The model lives in the arena it was read into and is
 * immutable: any thread. Evaluation is pure and bounded: one decision with all that it requires has
 * the steps of one expression (LIMIT_EXPRESSION_STEPS).
 */
#ifndef ENGINE_DMN_DMN_H
#define ENGINE_DMN_DMN_H

#include "engine/expression/expression.h"
#include "engine/read/read.h"

struct engine_dmn; /* opaque, immutable */

/* Is this a decision model, by the namespace of its root element? Looks no further. */
bool engine_dmn_is_model(struct span content);

/*
 * Reads a `.dmn` file into `arena`. RESULT_INVALID: the report says what is wrong, all of it:
 * expressions that do not compile, dangling or circular requirements, logic that is not evaluated
 * here. RESULT_LIMIT: too large.
 */
MUST_USE enum result engine_dmn_read(struct span content, struct arena *arena,
                                     struct engine_report *report, const struct engine_dmn **out);

/* Id and name of the model, and its decisions in the file's order. */
struct span engine_dmn_id(const struct engine_dmn *dmn);
struct span engine_dmn_name(const struct engine_dmn *dmn);
uint32_t engine_dmn_decision_count(const struct engine_dmn *dmn);
struct span engine_dmn_decision_id(const struct engine_dmn *dmn, uint32_t index);
struct span engine_dmn_decision_name(const struct engine_dmn *dmn, uint32_t index);
bool engine_dmn_has_decision(const struct engine_dmn *dmn, struct span decision_id);

/* A rule that matched; `rule` is its id, or empty. */
struct engine_dmn_hit {
    struct span decision; /* id of the decision, or knowledge model, that holds the table */
    struct span rule;
    uint32_t number; /* from 1, in the table's order */
};

#define ENGINE_DMN_HITS_MAX 64u /* that are told of one evaluation */

struct engine_dmn_outcome {
    struct span value;                    /* one MessagePack object in the arena */
    struct engine_expression_error error; /* its offset is of no use here */
    struct engine_dmn_hit *hits;          /* in the order of evaluation, the first of them */
    uint32_t hit_count;
    uint32_t hits_in_all;
    uint32_t own_hits; /* of the decision's own table */
};

/*
 * Evaluates a decision and first those that it requires. Input data are looked up in `names`.
 *
 * out->value: of a table with one output that output, with several a context of them; a list of
 * these under RULE ORDER, OUTPUT ORDER and COLLECT without an aggregation; null when no rule
 * matches and there is no default. out->error then may say why a value is null. Errors:
 * RESULT_NOT_FOUND no such decision; RESULT_INVALID several rules match where the hit policy allows
 * one, or an expression failed; RESULT_LIMIT too many steps or too much memory. out->error has the
 * reason: decision, rule, column, what is wrong there.
 */
MUST_USE enum result engine_dmn_evaluate(const struct engine_dmn *dmn, struct span decision_id,
                                         const struct engine_names *names, struct arena *arena,
                                         struct engine_dmn_outcome *out);

/*
 * The same value as a list of contexts by the names of outputs, one for each result: what Camunda 7
 * calls a decision result. Empty: the arena is full. Only after an evaluation that went well.
 */
struct span engine_dmn_rows(const struct engine_dmn *dmn, struct span decision_id,
                            const struct engine_dmn_outcome *outcome, struct arena *arena);

#endif
