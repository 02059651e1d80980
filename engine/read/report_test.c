/*
 * The report under pressure: long messages, control characters, more problems than it keeps.
 */
#include <criterion/criterion.h>

#include "engine/read/read.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"

Test(report, a_line_names_file_place_severity_and_rule)
{
    struct engine_report report;
    struct arena arena;
    engine_report_init(&report, span_text("order.bpmn"));
    arena_init(&arena, 4096, 1 << 20);
    engine_report_add(&report, ENGINE_ERROR, "rule-a", span_text("x"), 4, 7, "broken %d", 1);
    engine_report_add(&report, ENGINE_WARNING, "rule-b", SPAN_EMPTY, 5, 0, "odd");
    engine_report_add(&report, ENGINE_INFO, "rule-c", SPAN_EMPTY, 0, 0, "by the way");
    struct span all = engine_report_text(&report, ENGINE_INFO, &arena);
    cr_expect(span_is(all, "strider: order.bpmn:4:7: error: broken 1 [rule-a]\n"
                           "strider: order.bpmn:5: warning: odd [rule-b]\n"
                           "strider: order.bpmn: info: by the way [rule-c]\n"),
              "%.*s", SPAN_ARG(all));
    struct span worst = engine_report_text(&report, ENGINE_ERROR, &arena);
    cr_expect(span_is(worst, "strider: order.bpmn:4:7: error: broken 1 [rule-a]\n"));
    engine_report_release(&report);
    arena_release(&arena);
}

Test(report, a_message_is_one_line_of_whole_characters)
{
    struct engine_report report;
    engine_report_init(&report, span_text("f"));
    char name[4096];
    for (size_t i = 0; i + 2 < sizeof name; i += 2) {
        memcpy(name + i, "\xc3\xa9", 3);
    }
    for (int shift = 0; shift < 2; shift++) {
        engine_report_add(&report, ENGINE_ERROR, "r", SPAN_EMPTY, 1, 1, "%sa\nb\r\t%s",
                          shift == 0 ? "" : "x", name);
        struct span message = report.problems[shift].message;
        cr_expect_eq(text_utf8_valid_count(message), message.count);
        cr_expect_null(memchr(message.bytes, '\n', message.count));
        cr_expect_gt(message.count, 900);
    }
    engine_report_release(&report);
}

Test(report, an_error_is_kept_even_when_warnings_have_filled_it)
{
    struct engine_report report;
    engine_report_init(&report, span_text("f"));
    for (unsigned i = 0; i < LIMIT_PROBLEMS + 5; i++) {
        engine_report_add(&report, ENGINE_WARNING, "w", SPAN_EMPTY, i, 0, "w");
    }
    cr_expect(report.cut);
    cr_expect_eq(report.errors, 0);
    engine_report_add(&report, ENGINE_ERROR, "e", SPAN_EMPTY, 1, 0, "e");
    cr_expect_eq(report.count, LIMIT_PROBLEMS);
    cr_expect_eq(report.errors, 1);
    cr_expect_eq(report.problems[LIMIT_PROBLEMS - 1].severity, ENGINE_ERROR);
    for (unsigned i = 0; i < LIMIT_PROBLEMS + 5; i++) {
        engine_report_add(&report, ENGINE_ERROR, "e", SPAN_EMPTY, 1, 0, "e");
    }
    cr_expect_eq(report.count, LIMIT_PROBLEMS);
    cr_expect_eq(report.errors, LIMIT_PROBLEMS + 6);
    engine_report_release(&report);
}

Test(report, bytes_that_are_no_utf8_become_question_marks)
{
    struct engine_report report;
    engine_report_init(&report, span_text("f"));
    engine_report_add(&report, ENGINE_ERROR, "r", SPAN_EMPTY, 1, 1,
                      "a\xff\xc3"
                      "b");
    cr_expect(span_is(report.problems[0].message, "a?"
                                                  "?b"),
              "%.*s", SPAN_ARG(report.problems[0].message));
    engine_report_release(&report);
}
