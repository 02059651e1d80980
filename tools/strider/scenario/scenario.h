/*
 * scenario.h: a process's unit test (interfaces.md 7): one execution on the real core, with a
 * virtual clock, scripted module replies and a store in memory. `strider test` runs them; the
 * project's own semantics tests are such files.
 */
#ifndef TOOLS_STRIDER_SCENARIO_SCENARIO_H
#define TOOLS_STRIDER_SCENARIO_SCENARIO_H

#include "engine/engine.h"
#include "proto/base/arena.h"
#include "proto/base/span.h"

#define SCENARIO_DEFINITIONS_MAX 32u
#define SCENARIO_FAILURES_MAX    32u

/* A scenario as written; spans live in the arena it was loaded into. */
struct scenario {
    struct span name;
    struct span process; /* empty: the definition's only one */
    struct span start;   /* MAP or empty */
    struct span modules; /* MAP: task id, task type or * -> list of replies */
    struct span steps;   /* ARRAY or empty */
    struct span expect;  /* MAP or empty */
    const struct engine_definition
        *definitions[SCENARIO_DEFINITIONS_MAX]; /* the first one is the scenario's own */
    uint32_t definition_count;
    uint32_t max_steps; /* 0: LIMIT_STEPS */
};

/* What did not hold, a sentence each. */
struct scenario_outcome {
    struct span failures[SCENARIO_FAILURES_MAX];
    uint32_t failure_count;
};

/*
 * Reads a scenario file: one object, or an array of them. `file` is its path; definitions are
 * looked for beside it. *out and what it points to live in the arena, compiled definitions until
 * scenario_release. RESULT_INVALID: *problem says what is wrong and where.
 */
MUST_USE enum result scenario_load(const char *file, struct arena *arena, struct scenario **out,
                                   uint32_t *count, struct span *problem);
void scenario_release(struct scenario *scenarios, uint32_t count);

/* Runs one; failures live in the arena. */
void scenario_run(const struct scenario *scenario, struct arena *arena,
                  struct scenario_outcome *outcome);

/*
 * Does it have only keys that somebody reads, and does it expect anything? RESULT_INVALID: *problem
 * says what not, behind `place`: the file, and where it holds several the scenario's number.
 */
MUST_USE enum result scenario_check_shape(const char *place, struct span scenario,
                                          struct arena *arena, struct span *problem);
/* Are all its replies for tasks of its definitions? As above. */
MUST_USE enum result scenario_check_names(const char *place, const struct scenario *scenario,
                                          struct arena *arena, struct span *problem);
/*
 * Is the name `*`, or the id or, as it stands, the type of a task? *computed: some task tells its
 * type only when it begins, so any name may be meant.
 */
bool scenario_names_task(const struct scenario *scenario, struct span name, bool *computed);

/* For the parts below. Adds one failure, or counts it when there are too many. */
void scenario_fail(struct scenario_outcome *outcome, struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
