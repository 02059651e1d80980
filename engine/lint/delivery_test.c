/*
 * What an engine that serves refuses as long as nobody delivers messages and signals, and what it
 * takes none the less.
 */
#include <criterion/criterion.h>

#include "engine/read/sample.h"

static struct sample read_served(const char *text)
{
    struct sample sample = {0};
    arena_init(&sample.arena, 4096, 16 << 20);
    engine_report_init(&sample.report, span_text("sample.bpmn"));
    sample.result = engine_read_served(span_text("sample.bpmn"), span_text(text), &sample.report,
                                       &sample.definition);
    cr_assert_eq(sample.definition != NULL, sample.result == RESULT_OK);
    return sample;
}

#define MESSAGE   "<messageEventDefinition messageRef='m'/>"
#define SIGNAL    "<signalEventDefinition signalRef='g'/>"
#define TASK_TYPE "<extensionElements><zeebe:taskDefinition type='mail'/></extensionElements>"
/* The same file with the messages and signals that it refers to. */
#define NAMED(parts)                                                                               \
    "<definitions " SAMPLE_NAMESPACES "><message id='m' name='paid'/><signal id='g' name='stop'/>" \
    "<process id='p' isExecutable='true'><startEvent id='s'/><sequenceFlow id='f1' "               \
    "sourceRef='s' targetRef='t'/>" parts "</process></definitions>"
#define BEFORE(part)                                                                               \
    NAMED("<userTask id='t'/><sequenceFlow id='f2' sourceRef='t' targetRef='x'/>" part)
#define BESIDE(part) NAMED("<userTask id='t'/>" part)

Test(delivery, what_nobody_would_deliver_is_refused_by_name)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {BEFORE("<intermediateCatchEvent id='x'>" MESSAGE "</intermediateCatchEvent>"),
         "intermediateCatchEvent \"x\": waits for a message: messages are not delivered by this "
         "engine yet"},
        {BEFORE("<intermediateCatchEvent id='x'>" SIGNAL "</intermediateCatchEvent>"),
         "waits for a signal: signals are not delivered"},
        {BEFORE("<intermediateCatchEvent id='x'><timerEventDefinition><timeDuration>PT1S"
                "</timeDuration></timerEventDefinition>" SIGNAL "</intermediateCatchEvent>"),
         "waits for a signal"},
        {BEFORE("<receiveTask id='x' messageRef='m'/>"), "receiveTask \"x\": waits for a message"},
        {BEFORE("<eventBasedGateway id='w'/><sequenceFlow id='f3' sourceRef='w' targetRef='x'/>"
                "<intermediateCatchEvent id='x'>" MESSAGE "</intermediateCatchEvent>"),
         "waits for a message"},
        {BESIDE("<boundaryEvent id='x' attachedToRef='t'>" MESSAGE "</boundaryEvent>"),
         "boundaryEvent \"x\": waits for a message"},
        {BESIDE("<boundaryEvent id='x' attachedToRef='t' cancelActivity='false'>" SIGNAL
                "</boundaryEvent>"),
         "waits for a signal"},
        {BESIDE("<subProcess id='h' triggeredByEvent='true'><startEvent id='x'>" MESSAGE
                "</startEvent></subProcess>"),
         "startEvent \"x\": waits for a message"},
        {BEFORE("<intermediateThrowEvent id='x'>" MESSAGE "</intermediateThrowEvent>"),
         "publishes a message: messages are not delivered"},
        {BEFORE("<endEvent id='x'>" SIGNAL "</endEvent>"), "publishes a signal"},
        {BEFORE("<endEvent id='x'>" TASK_TYPE SIGNAL "</endEvent>"), "publishes a signal"},
        {BEFORE("<endEvent id='x'>" TASK_TYPE MESSAGE SIGNAL "</endEvent>"), "publishes a message"},
        {BEFORE("<sendTask id='x' messageRef='m'/>"), "sendTask \"x\": publishes a message"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sample sample = read_served(rows[i].text);
        const struct engine_problem *problem = sample_problem(&sample, "undelivered", "x");

        cr_expect_eq(sample.result, RESULT_INVALID, "%s", rows[i].text);
        cr_expect(sample_says(problem, rows[i].words), "%s, but:\n%s", rows[i].words,
                  sample_text(&sample));

        sample_free(&sample);
    }
}

Test(delivery, what_needs_none_is_served)
{
    static const char *const rows[] = {
        NAMED("<userTask id='t'/><startEvent id='x'>" MESSAGE "</startEvent>"), /* by hand */
        BEFORE("<receiveTask id='x'/>"),                                        /* a callback */
        BEFORE("<sendTask id='x'/>"),
        BEFORE("<sendTask id='x' messageRef='m'>" TASK_TYPE "</sendTask>"), /* by its module */
        BEFORE("<endEvent id='x'>" TASK_TYPE MESSAGE "</endEvent>"),
        BEFORE("<intermediateThrowEvent id='x'>" TASK_TYPE MESSAGE "</intermediateThrowEvent>"),
        BEFORE("<intermediateCatchEvent id='x'><conditionalEventDefinition><condition>=a"
               "</condition></conditionalEventDefinition></intermediateCatchEvent>"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sample sample = read_served(rows[i]);
        cr_expect_eq(sample.result, RESULT_OK, "%s\n%s", rows[i], sample_text(&sample));
        sample_free(&sample);
    }
}

Test(delivery, a_scenario_may_read_all_of_it)
{
    struct sample sample = sample_accept(
        BEFORE("<intermediateCatchEvent id='x'>" MESSAGE "</intermediateCatchEvent>"));
    cr_expect_null(sample_problem(&sample, "undelivered", ""), "%s", sample_text(&sample));
    sample_free(&sample);
}
