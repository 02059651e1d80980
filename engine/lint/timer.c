/*
 * timer.c: timer values, as far as they are known before an execution.
 */
#include <stdio.h>

#include "engine/lint/lint.h"
#include "engine/schedule.h"

struct subject {
    const struct engine_node *node;
    struct span text;
    bool starts_process;
    enum engine_severity refusal;
    struct engine_report *report;
};

static void refuse(const struct subject *subject, const char *kind, const char *reason)
{
    enum { BYTES_SHOWN = 80 };
    struct span shown = engine_report_excerpt(subject->text, BYTES_SHOWN);
    engine_lint_problem(subject->report, subject->refusal, "timer", subject->node,
                        "\"%.*s\" is no %s: %s", SPAN_ARG(shown), kind, reason);
}

static void check_date(const struct subject *subject)
{
    int64_t unix_ms;
    const char *reason;
    if (engine_instant_parse(subject->text, &unix_ms, &reason) != RESULT_OK) {
        refuse(subject, "date", reason);
    }
}

static void check_duration(const struct subject *subject)
{
    struct engine_duration duration;
    const char *reason;
    if (engine_duration_parse(subject->text, &duration, &reason) != RESULT_OK) {
        refuse(subject, "duration", reason);
    } else if (duration.months < 0 || duration.ms < 0) {
        engine_lint_problem(subject->report, ENGINE_WARNING, "timer", subject->node,
                            "a negative duration: it fires at once");
    }
}

static void check_cron(const struct subject *subject)
{
    struct engine_cron cron;
    struct engine_cron_error error;
    if (engine_cron_parse(subject->text, &cron, &error) != RESULT_OK) {
        char reason[128];
        (void)snprintf(reason, sizeof reason, "%s, at character %u", error.reason,
                       error.offset + 1);
        refuse(subject, "cron text", reason);
        return;
    }
    int64_t next_ms; /* counted from 1970 on: whether there is such a day at all */
    if (!engine_cron_next(&cron, &engine_zone_utc, 0, &next_ms)) {
        engine_lint_problem(subject->report, ENGINE_WARNING, "timer", subject->node,
                            "there is no such day: it never fires");
    }
}

static void check_cycle(const struct subject *subject)
{
    struct engine_cycle cycle;
    const char *reason;
    if (engine_cycle_parse(subject->text, &cycle, &reason) == RESULT_OK) {
        if (cycle.count == 0) {
            engine_lint_problem(subject->report, ENGINE_WARNING, "timer", subject->node,
                                "a cycle of no times: it never fires");
        }
        return;
    }
    if (!engine_schedule_looks_like_cron(subject->text)) {
        refuse(subject, "cycle", reason);
    } else if (!subject->starts_process) {
        refuse(subject, "cycle", "a cron text is for start events; here a cycle is R/PT10M");
    } else {
        check_cron(subject);
    }
}

static void check_timer(const struct subject *subject, const struct engine_event_definition *event)
{
    switch (event->timer) {
    case ENGINE_TIMER_DATE:
        check_date(subject);
        break;
    case ENGINE_TIMER_DURATION:
        check_duration(subject);
        break;
    case ENGINE_TIMER_CYCLE:
        check_cycle(subject);
        break;
    case ENGINE_TIMER_NONE:
        break;
    }
}

void engine_lint_timers(const struct engine_process *process, struct lint_options options,
                        struct engine_report *report)
{
    struct subject subject = {.refusal = options.lenient ? ENGINE_WARNING : ENGINE_ERROR,
                              .report = report};
    for (uint32_t i = 0; i < process->node_count; i++) {
        const struct engine_node *node = &process->nodes[i];
        subject.node = node;
        subject.starts_process = node->kind == ENGINE_START_EVENT && node->scope == ENGINE_NONE;
        for (uint32_t j = 0; j < node->event_count; j++) {
            const struct engine_event_definition *event = &node->events[j];
            if (event->kind != ENGINE_ON_TIMER) {
                continue;
            }
            if (event->timer_value == NULL) {
                engine_lint_problem(report, subject.refusal, "timer", node, "has no time");
            } else if (engine_expression_is_literal(event->timer_value)) {
                subject.text = engine_expression_literal(event->timer_value);
                if (subject.text.bytes != NULL) {
                    check_timer(&subject, event);
                }
            }
        }
    }
}
