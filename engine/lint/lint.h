/*
 * lint.h: what is unsound or suspicious in a compiled process, whatever notation it was written in
 * (engine.md 5).
 *
 * Errors are what cannot be executed; everything else is a warning: the process is deployed and
 * does what it says.
 */
#ifndef ENGINE_LINT_LINT_H
#define ENGINE_LINT_LINT_H

#include "engine/read/read.h"

struct lint_options {
    bool lenient;  /* what cannot be executed is a warning */
    bool is_sound; /* nothing is broken or left out: rules about conditions and paths make sense */
};

/* Adds to the report. RESULT_LIMIT: not enough memory to look. */
MUST_USE enum result engine_lint(const struct engine_process *process, struct lint_options options,
                                 struct engine_report *report);

/* ---- the parts, each in its own file ---- */

/* timer.c: values that are literals must be durations, dates or cycles. */
void engine_lint_timers(const struct engine_process *process, struct lint_options options,
                        struct engine_report *report);
/* path.c: unreachable nodes, deep nesting, joins that wait for both arms of a choice, loops without
 * exit. */
MUST_USE enum result engine_lint_paths(const struct engine_process *process,
                                       struct engine_report *report);
/* `userTask "Check": <message>` at the node's line. */
void engine_lint_problem(struct engine_report *report, enum engine_severity severity,
                         const char *rule, const struct engine_node *node, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
