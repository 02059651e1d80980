/*
 * dmn.h: decision models: read once, evaluated often (DMN 1.1 to 1.5).
 *
 * A decision is a table (all hit policies) or a literal expression; it may require other decisions,
 * input data and business knowledge models. Expressions are FEEL unless they say "juel". The model
 * lives in the arena it was read into and is immutable: any thread. Evaluation is pure and bounded:
 * one decision with all that it requires has the steps of one expression (LIMIT_EXPRESSION_STEPS).
 */
#ifndef ENGINE_DMN_DMN_H
#define ENGINE_DMN_DMN_H

#include "engine/expression/expression.h"
#include "engine/read/read.h"

struct engine_dmn; /* opaque, immutable */

/* Is this a decision model, by its root element? Looks at the beginning only. */
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

/*
 * Evaluates a decision and first those that it requires. Input data are looked up in `names`.
 *
 * out->value: of a table with one output that output, with several a context of them; a list of
 * these under RULE ORDER, OUTPUT ORDER and COLLECT without an aggregation; null when no rule
 * matches and there is no default. out->error then may say why a value is null. Errors:
 * RESULT_NOT_FOUND no such decision; RESULT_INVALID several rules match where the hit policy allows
 * one, or an expression failed; RESULT_LIMIT too many steps or too much memory. out->error has the
 * reason; its offset is of no use here.
 */
MUST_USE enum result engine_dmn_evaluate(const struct engine_dmn *dmn, struct span decision_id,
                                         const struct engine_names *names, struct arena *arena,
                                         struct engine_evaluation *out);

#endif
