/*
 * expression.h: compile once, evaluate often. One engine behind three spellings (engine.md 7):
 * FEEL, JUEL, templates.
 *
 * Pure: the compiled form lives in the definition's arena and is immutable; evaluation allocates
 * only from the arena handed in, reads MessagePack values in place and is bounded by
 * LIMIT_EXPRESSION_*. Any thread. Numbers: decimals of 34 digits (IEEE 754 decimal128, by the Intel
 * RDFP library); 64-bit integers stay exact.
 */
#ifndef ENGINE_EXPRESSION_EXPRESSION_H
#define ENGINE_EXPRESSION_EXPRESSION_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

/*
 * How a text is read. A single expression with nothing but white space around it keeps its value's
 * type, in all dialects; beside other text it becomes part of a string (null as "", lists and
 * contexts as JSON).
 */
enum engine_dialect {
    /* "=…" FEEL, "${…}" or "#{…}" JUEL, "{{…}}" template, else a string literal */
    ENGINE_DIALECT_AUTO,
    /* like AUTO, but text without a marker is FEEL (conditionExpression) */
    ENGINE_DIALECT_CONDITION,
    /* one expression; a leading "=" may stand */
    ENGINE_DIALECT_FEEL,
    /* text with "${…}" or "#{…}" in it; without any, one bare expression */
    ENGINE_DIALECT_JUEL,
    /* text with "{{ FEEL }}" in it */
    ENGINE_DIALECT_TEMPLATE,
    /* FEEL's unary tests, as cells of decision tables hold them: "-", "< 10, [20..30]", "not(5)";
     * true when the value called "?" passes one of them */
    ENGINE_DIALECT_UNARY_TESTS,
};

struct engine_expression; /* opaque, immutable */
struct expression_declared_types;

struct engine_expression_error {
    uint32_t offset;     /* byte in the source text */
    const char *message; /* text in the arena or static: `expected ")" but found "then"` */
};

/*
 * What is known of the names around an expression. Names with signs or keywords in them ("a-b",
 * "Date and Place") are read as names only where they are declared. Each span lives as long as the
 * expression.
 */
struct engine_declarations {
    const struct span *names;
    size_t count;
    const struct expression_declared_types *types; /* beside those of the standard; NULL: none */
    bool shared; /* parts of the expression are evaluated within others, as the bodies of functions
                    that are called there */
};

/*
 * Parses `text` (at most LIMIT_EXPRESSION_BYTES) into `arena`. RESULT_INVALID with *error filled
 * when malformed; RESULT_UNSUPPORTED (error filled too) for a known construct that is not evaluated
 * yet; RESULT_LIMIT when too large or deep.
 */
MUST_USE enum result engine_expression_compile(struct span text, enum engine_dialect dialect,
                                               struct arena *arena,
                                               const struct engine_expression **out,
                                               struct engine_expression_error *error);
/* The same, with declared names; `declarations` may be NULL. */
MUST_USE enum result
engine_expression_compile_declared(struct span text, enum engine_dialect dialect,
                                   const struct engine_declarations *declarations,
                                   struct arena *arena, const struct engine_expression **out,
                                   struct engine_expression_error *error);

struct engine_zone;

/*
 * Where names come from, and what else an evaluation must be told, since it does no I/O. `find`
 * returns the value (one MessagePack object) of a top-level name, or an empty span. An evaluation
 * asks once at most for each of the first 64 names that it holds.
 */
struct engine_names {
    struct span (*find)(const struct engine_names *self, struct span name);
    /*
     * Finds several at once: values[i] is that of names[i], or empty. May be NULL: then `find` is
     * asked for each. Worth having where names stand in large maps (wire_find_all).
     */
    void (*find_all)(const struct engine_names *self, const struct span *names, struct span *values,
                     size_t count);
    /*
     * The time zone of an IANA name ("Europe/Paris"), which outlives the evaluation or lives in
     * `arena`; NULL when there is none. Where the pointer itself is NULL, dates with named zones
     * are null with a warning; zones by offset need nobody.
     */
    const struct engine_zone *(*zone)(const struct engine_names *self, struct span name,
                                      struct arena *arena);
    /*
     * The instant that now() and today() give, the same all through an evaluation; false when it
     * is unknown, as where the pointer is NULL: then they are null with a warning.
     */
    bool (*clock)(const struct engine_names *self, int64_t *unix_ms);
    /*
     * What JUEL's `execution` and `task`, whichever `of` is, know of themselves beside the
     * variables: "processInstanceId", "currentActivityId", "assignee" …, one MessagePack object in
     * the arena; empty where it has none of that name. May be NULL.
     */
    struct span (*attribute)(const struct engine_names *self, struct span of, struct span name,
                             struct arena *arena);
};

struct engine_evaluation {
    struct span value; /* one MessagePack object in the arena (or borrowed from the names) */
    /* the failure, or the first warning of a null result; message NULL when none */
    struct engine_expression_error error;
};

/*
 * RESULT_OK: out->value is set (nil included; then out->error may hold a warning, e.g. an unknown
 * name in FEEL). RESULT_INVALID: evaluation failed (JUEL unknown name, type error where the dialect
 * has no null): ExpressionFailed. RESULT_LIMIT: too many steps or too much memory.
 */
MUST_USE enum result engine_expression_evaluate(const struct engine_expression *expression,
                                                const struct engine_names *names,
                                                struct arena *arena, struct engine_evaluation *out);
/* Is this a literal without any name or operation in it? ("abc" without a marker, ="abc".) */
bool engine_expression_is_literal(const struct engine_expression *expression);
/* Of a literal: the text that it is, or the source of what is no text (=5). An empty span for a
 * date, a time or a duration (=@"PT5M"): a value that is what it claims. */
struct span engine_expression_literal(const struct engine_expression *expression);
/* The source text as given. */
struct span engine_expression_source(const struct engine_expression *expression);

#endif
