/*
 * read.h: from a file's bytes to a compiled definition, with everything that is wrong in it named:
 * file, line, column, element, rule, severity. All problems are reported, not only the first.
 */
#ifndef ENGINE_READ_READ_H
#define ENGINE_READ_READ_H

#include "engine/model.h"

enum engine_severity { ENGINE_INFO, ENGINE_WARNING, ENGINE_ERROR };

struct engine_problem {
    enum engine_severity severity;
    const char *rule;    /* stable id: "dangling-reference", "duplicate-id", "no-default",
                            "unsupported-element", … */
    struct span element; /* id of the element, or empty */
    uint32_t line;       /* from 1; 0: unknown */
    uint32_t column;     /* from 1; 0: unknown */
    struct span message; /* one sentence: `flow "Flow_3" leads to "Task_9", which does not exist` */
};

/* Problems in the order found; in its own arena. */
struct engine_report {
    struct arena arena;
    struct span file;
    struct engine_problem *problems;
    uint32_t count;
    uint32_t capacity;
    uint32_t errors; /* of severity ERROR */
    bool cut;        /* more than LIMIT_PROBLEMS: the rest was dropped */
};

void engine_report_init(struct engine_report *report, struct span file);
void engine_report_release(struct engine_report *report);
void engine_report_add(struct engine_report *report, enum engine_severity severity,
                       const char *rule, struct span element, uint32_t line, uint32_t column,
                       const char *format, ...) __attribute__((format(printf, 7, 8)));
/* The beginning of a text for a message: at most that many bytes, whole characters. */
struct span engine_report_excerpt(struct span text, size_t bytes_max);
/* "order.bpmn:41:7", with what is known of it; a longer file name is cut. */
#define ENGINE_PLACE_MAX 320
void engine_problem_place(const struct engine_report *report, const struct engine_problem *problem,
                          char place[ENGINE_PLACE_MAX]);
/* `strider: order.bpmn:41:7: error: flow "Flow_3" leads to … [dangling-reference]` lines into the
 * arena. */
struct span engine_report_text(const struct engine_report *report, enum engine_severity least,
                               struct arena *arena);

/*
 * Reads, compiles and lints one definition file. The notation is told by its content (XML, JSON
 * graph, block scheme, decision model). `file` is a name for messages only. RESULT_OK: *out is
 * yours (engine_definition_free), the report may hold warnings. RESULT_INVALID: the report has
 * errors and *out is NULL. RESULT_LIMIT: too large. RESULT_UNSUPPORTED never: an element that
 * cannot be executed is an error in the report, by name. BPMN namespace is matched by URI
 * (http://www.omg.org/spec/BPMN/20100524/MODEL), whatever the prefix. DTDs are refused.
 */
MUST_USE enum result engine_read(struct span file, struct span content,
                                 struct engine_report *report, struct engine_definition **out);

/*
 * Like engine_read but without refusing what cannot be executed (elements, expressions, timer
 * values: those are warnings, and an expression that does not compile is NULL): for convert and the
 * inspector. A broken structure is refused as ever.
 */
MUST_USE enum result engine_read_lenient(struct span file, struct span content,
                                         struct engine_report *report,
                                         struct engine_definition **out);

/* modules.json (a value, from json_to_wire) and the project's environment (MAP value or empty). */
MUST_USE enum result engine_read_modules(struct span file, struct span value, struct span project,
                                         struct span environment, struct engine_report *report,
                                         struct engine_modules **out);

#endif
