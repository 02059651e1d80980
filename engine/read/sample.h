/*
 * sample.h: for unit tests of readers and linter: read a text, look at what came out. It uses
 * Criterion's macros and, as no header of engine/ may include that library, leaves it to the test
 * to include it first.
 */
#ifndef ENGINE_READ_SAMPLE_H
#define ENGINE_READ_SAMPLE_H

#include "engine/read/read.h"

#define SAMPLE_NAMESPACES                                                                          \
    "xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "                                         \
    "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "                                       \
    "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0' "                                           \
    "xmlns:camunda='http://camunda.org/schema/1.0/bpmn' "                                          \
    "xmlns:strider='urn:strider:bpmn:1'"

/* A file with one process `p` of these elements. */
#define SAMPLE(parts)                                                                              \
    "<definitions " SAMPLE_NAMESPACES ">\n<process id='p' isExecutable='true'>\n" parts            \
    "\n</process></definitions>"

/* start -> <parts> -> end, where the parts have one node with id `x`. */
#define SAMPLE_BETWEEN(parts)                                                                      \
    SAMPLE("<startEvent id='start'/><sequenceFlow id='f1' sourceRef='start' targetRef='x'/>" parts \
           "<sequenceFlow id='f2' sourceRef='x' targetRef='end'/><endEvent id='end'/>")

struct sample {
    enum result result;
    struct engine_report report;
    struct engine_definition *definition;
    struct arena arena;
};

static inline struct sample sample_read_bytes(struct span content, bool lenient)
{
    struct sample sample = {0};
    arena_init(&sample.arena, 4096, 16 << 20);
    engine_report_init(&sample.report, span_text("sample.bpmn"));
    sample.result = (lenient ? engine_read_lenient : engine_read)(
        span_text("sample.bpmn"), content, &sample.report, &sample.definition);
    cr_assert_eq(sample.definition != NULL, sample.result == RESULT_OK);
    return sample;
}

static inline struct sample sample_read(const char *text)
{
    return sample_read_bytes(span_text(text), false);
}

static inline void sample_free(struct sample *sample)
{
    engine_definition_free(sample->definition);
    engine_report_release(&sample->report);
    arena_release(&sample->arena);
}

static inline const char *sample_text(struct sample *sample)
{
    struct span text = engine_report_text(&sample->report, ENGINE_INFO, &sample->arena);
    return (const char *)arena_copy(&sample->arena, text).bytes;
}

/* A file that must be accepted. */
static inline struct sample sample_accept(const char *text)
{
    struct sample sample = sample_read(text);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    return sample;
}

static inline const struct engine_process *sample_process(const struct sample *sample)
{
    const struct engine_process *process =
        engine_definition_find(sample->definition, span_text("p"));
    cr_assert_not_null(process);
    return process;
}

static inline const struct engine_node *sample_node(const struct sample *sample, const char *id)
{
    const struct engine_node *node = engine_process_node(sample_process(sample), span_text(id));
    cr_assert_not_null(node, "no node %s", id);
    return node;
}

/* A problem of that rule about that element ("" for any); NULL when there is none. */
static inline const struct engine_problem *sample_problem(const struct sample *sample,
                                                          const char *rule, const char *element)
{
    for (uint32_t i = 0; i < sample->report.count; i++) {
        const struct engine_problem *problem = &sample->report.problems[i];
        if (strcmp(problem->rule, rule) == 0 &&
            (element[0] == '\0' || span_is(problem->element, element))) {
            return problem;
        }
    }
    return NULL;
}

static inline bool sample_says(const struct engine_problem *problem, const char *words)
{
    return problem != NULL &&
           memmem(problem->message.bytes, problem->message.count, words, strlen(words)) != NULL;
}

/* The file is refused, by a problem of this rule, of this element, in words that include these. */
static inline void sample_refuse(const char *text, const char *rule, const char *element,
                                 const char *words)
{
    struct sample sample = sample_read(text);
    const struct engine_problem *problem = sample_problem(&sample, rule, element);
    cr_expect_neq(sample.result, RESULT_OK, "%s", text);
    cr_expect(sample_says(problem, words), "%s %s %s, but:\n%s", rule, element, words,
              sample_text(&sample));
    cr_expect(problem == NULL || problem->severity == ENGINE_ERROR);
    sample_free(&sample);
}

/* The file is accepted, with a warning of this rule. */
static inline void sample_warn(const char *text, const char *rule, const char *element,
                               const char *words)
{
    struct sample sample = sample_read(text);
    const struct engine_problem *problem = sample_problem(&sample, rule, element);
    cr_expect_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    cr_expect(sample_says(problem, words), "%s %s %s, but:\n%s", rule, element, words,
              sample_text(&sample));
    cr_expect(problem == NULL || problem->severity == ENGINE_WARNING);
    sample_free(&sample);
}

/* Source text of an expression, or "-". */
static inline struct span sample_source(const struct engine_expression *expression)
{
    return expression == NULL ? span_text("-") : engine_expression_source(expression);
}

/* The mapping to that target, or NULL. */
static inline const struct engine_mapping *sample_mapping(struct engine_mappings mappings,
                                                          const char *target)
{
    for (uint32_t i = 0; i < mappings.count; i++) {
        if (span_is(mappings.at[i].target, target)) {
            return &mappings.at[i];
        }
    }
    return NULL;
}

#define SAMPLE_EXPECT_TEXT(actual, text)                                                           \
    do {                                                                                           \
        struct span sample_actual = (actual);                                                      \
        cr_expect(span_is(sample_actual, text), "%.*s, not %s", SPAN_ARG(sample_actual), text);    \
    } while (0)

#define SAMPLE_EXPECT_MAPPING(mappings, name, text)                                                \
    do {                                                                                           \
        const struct engine_mapping *sample_found = sample_mapping(mappings, name);                \
        cr_assert_not_null(sample_found, "no mapping to %s", name);                                \
        SAMPLE_EXPECT_TEXT(sample_source(sample_found->source), text);                             \
    } while (0)

#endif
