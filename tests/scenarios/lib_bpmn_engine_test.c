/*
 * lib_bpmn_engine_test.c: the executable files and call paths of nitram509/lib-bpmn-engine (MIT),
 * run as scenarios. A case whose file holds an element that is not executed yet, or whose oracle is
 * left aside, is skipped by name.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/read/read.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/scenario/scenario.h"
#include "tools/strider/scenario/stage.h"

#define CASES    "../shared/cases/lib-bpmn-engine/"
#define TEXT_MAX 65536

/* Not followed, and why. */
static const struct {
    const char *test;
    const char *reason;
} left_aside[] = {
    {"Test_inclusive_gateway_executes_all_paths",
     "wrong oracle: it takes the default beside the true flows"},
    {"Test_missing_variables_dont_create_error_but_eval_to_null",
     "its oracle completes where no path is taken; ours is NoPathTaken"},
    {"Test_missing_task_handlers_break_execution_and_can_be_continued_later",
     "a missing module does not stop a run here (engine.md 3)"},
    {"Test_a_job_can_fail_and_keeps_the_instance_in_active_state",
     "the handler's behaviour is not in the case"},
    {"Test_task_no_output_variables_mapping_on_failure",
     "the handler's behaviour is not in the case"},
    {"Test_activated_job_data", "tests the library's job API"},
    {"Test_job_fails_on_Invalid_Output_mapping",
     "its output mapping is no expression: refused at deploy here"},
    {"Test_instance_fails_on_Invalid_Input_mapping",
     "its input mapping is no expression: refused at deploy here"},
    {"Test_task_type_handler_ID_handler_has_precedence", "tests the library's handler registry"},
    {"Test_missing_intermediate_link_catch_event_stops_engine_with_error",
     "a link without a catch event is refused at deploy here"},
    {"Test_InvalidTimer_will_stop_execution_and_return_err",
     "a timer without a time is refused at deploy here"},
    {"Test_intermediate_message_catch_event_output_mapping_failed",
     "X / Y of missing names is null in FEEL; there it is an error"},
    {"Test_simple_count_loop_with_message", "its handler counts; the behaviour is not in the case"},
    {"Test_simple_count_loop", "its handler counts; the behaviour is not in the case"},
    {"Test_MarshallEngine", "its handler sets variables; the behaviour is not in the case"},
    {"Test_subprocess_with_gateways",
     "its handlers set the variables that choose the path; the behaviour is not in the case"},
};

/* What the messages of a test carry: the test's own code says so, the case does not. */
static const struct {
    const char *test;
    const char *payload;
} payloads[] = {
    {"Test_intermediate_message_catch_event_publishes_variables_into_instance",
     "{\"foo\":\"bar\"}"},
};

/* There a message goes to an instance by name; its correlation key, where it is an expression, is
 * never evaluated. Here its names get a value, and the messages carry it. */
#define CORRELATION_VALUE "one"
static const char *const key_names[] = {"key", "message", "test"};

/* A variable of an oracle that is not followed. */
static const struct {
    const char *test;
    const char *variable;
    const char *reason;
} variables_aside[] = {
    {"Test_task_InputOutput_mapping_happy_path", "orderName",
     "an input mapping is local to its task (Zeebe); there it leaks into the process"},
};

/*
 * Two sub-processes run in parallel: there the first one runs to its end before the second begins,
 * here tokens move first in first out (engine.md 3). The same tasks run as often; only the order
 * between the two differs.
 */
static const char *const order_aside[] = {
    "Test_subprocess_ForkControlledExclusiveJoin",
    "Test_subprocess_ForkControlledParallelJoin",
};

struct tally {
    unsigned run;
    unsigned skipped;
};

static const char *aside_reason(struct span test)
{
    for (unsigned i = 0; i < sizeof left_aside / sizeof left_aside[0]; i++) {
        if (span_is(test, left_aside[i].test)) {
            return left_aside[i].reason;
        }
    }
    return NULL;
}

static struct span parse(struct arena *arena, struct span text)
{
    struct span value = SPAN_EMPTY;
    struct json_error error;
    return json_to_wire(text, LIMIT_DEPTH, arena, &value, &error) == RESULT_OK ? value : SPAN_EMPTY;
}

/* {"execution":{name:value}} of a case's "vars", whose values are JSON texts. */
static struct span start_of(struct arena *arena, struct span vars)
{
    struct wire_writer writer;
    struct wire_map_walk walk = wire_map_begin(vars);
    struct span key;
    struct span text;
    wire_writer_init(&writer, arena, 256);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "execution");
    uint32_t keys = sizeof key_names / sizeof key_names[0];
    wire_write_map(&writer, wire_count(vars) + keys);
    for (uint32_t i = 0; i < keys; i++) {
        wire_pair_text(&writer, key_names[i], CORRELATION_VALUE);
    }
    while (wire_map_next(&walk, &key, &text)) {
        wire_write_string(&writer, key);
        wire_write_value(&writer, parse(arena, wire_string_or(text, "")));
    }
    return wire_writer_span(&writer);
}

static bool is_variable_aside(struct span test, struct span variable)
{
    for (unsigned i = 0; i < sizeof variables_aside / sizeof variables_aside[0]; i++) {
        if (span_is(test, variables_aside[i].test) &&
            span_is(variable, variables_aside[i].variable)) {
            fprintf(stderr, "skipped variable %s of %s: %s\n", variables_aside[i].variable,
                    variables_aside[i].test, variables_aside[i].reason);
            return true;
        }
    }
    return false;
}

/* Every task has a handler there, user tasks included. */
static struct span modules_of(struct arena *arena, const struct engine_definition *definition)
{
    struct wire_writer writer;
    uint32_t count = 1;
    wire_writer_init(&writer, arena, 256);
    size_t mark = wire_open_map(&writer);
    wire_write_text(&writer, "*");
    wire_write_array(&writer, 1);
    wire_write_map(&writer, 0);
    for (uint32_t p = 0; p < definition->process_count; p++) {
        for (uint32_t n = 0; n < definition->processes[p].node_count; n++) {
            const struct engine_node *node = &definition->processes[p].nodes[n];
            if (node->kind == ENGINE_USER_TASK) {
                wire_write_string(&writer, node->id);
                wire_write_array(&writer, 1);
                wire_write_map(&writer, 0);
                count++;
            }
        }
    }
    wire_close_map(&writer, mark, count);
    return wire_writer_span(&writer);
}

static bool is_task(enum engine_kind kind)
{
    return kind >= ENGINE_TASK && kind <= ENGINE_BUSINESS_RULE_TASK;
}

/* Task ids of the steps in order, separated by commas. */
static void call_path(const struct scenario *scenario, const struct engine_execution *execution,
                      struct arena *arena, char out[TEXT_MAX])
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    engine_encode(execution, &writer);
    struct wire_map_walk walk =
        wire_array_begin(wire_find_text(wire_writer_span(&writer), "executionMap"));
    struct span step;
    size_t used = 0;
    out[0] = '\0';
    while (wire_array_next(&walk, &step)) {
        struct span id = wire_string_or(wire_find_text(step, "taskId"), "");
        for (uint32_t p = 0; p < scenario->definitions[0]->process_count; p++) {
            const struct engine_node *node =
                engine_process_node(&scenario->definitions[0]->processes[p], id);
            if (node != NULL && is_task(node->kind)) {
                used += (size_t)snprintf(out + used, TEXT_MAX - used, "%s%.*s", used > 0 ? "," : "",
                                         SPAN_ARG(id));
            }
        }
    }
}

static struct span expect_of(struct arena *arena, struct span entry)
{
    struct wire_writer writer;
    struct span states = wire_find_text(entry, "state");
    struct span expected = wire_find_text(entry, "vars_expected");
    struct span state = wire_string_or(wire_at(states, 0), "");
    uint32_t count = 0;
    wire_writer_init(&writer, arena, 256);
    size_t mark = wire_open_map(&writer);
    if (wire_count(states) >= 1 && (span_is(state, "Completed") || span_is(state, "Failed"))) {
        wire_pair_string(&writer, "lifecycle", state);
        count++;
    }
    struct span test = wire_string_or(wire_find_text(entry, "test"), "");
    if (wire_count(expected) > 0) {
        struct wire_map_walk walk = wire_array_begin(expected);
        struct span pair;
        uint32_t known = 0;
        wire_write_text(&writer, "execution");
        size_t inner = wire_open_map(&writer);
        while (wire_array_next(&walk, &pair)) {
            struct span value = parse(arena, wire_string_or(wire_at(pair, 1), ""));
            struct span variable = wire_string_or(wire_at(pair, 0), "");
            /* Go maps are not JSON; 1234.0 is its float of 1234. */
            if (value.count > 0 && !wire_is(value, WIRE_DECIMAL) &&
                !is_variable_aside(test, variable)) {
                wire_write_string(&writer, variable);
                wire_write_value(&writer, value);
                known++;
            }
        }
        wire_close_map(&writer, inner, known);
        count++;
    }
    wire_close_map(&writer, mark, count);
    return wire_writer_span(&writer);
}

static bool is_order_aside(struct span test)
{
    for (unsigned i = 0; i < sizeof order_aside / sizeof order_aside[0]; i++) {
        if (span_is(test, order_aside[i])) {
            return true;
        }
    }
    return false;
}

static unsigned count_task(struct span path, struct span task)
{
    unsigned count = 0;
    while (path.count > 0) {
        const uint8_t *comma = memchr(path.bytes, ',', path.count);
        size_t bytes = comma != NULL ? (size_t)(comma - path.bytes) : path.count;
        count += span_equal(span_of(path.bytes, bytes), task) ? 1 : 0;
        path = comma != NULL ? span_of(comma + 1, path.count - bytes - 1) : SPAN_EMPTY;
    }
    return count;
}

/* The same tasks, each as often; paths of equal length, so one direction will do. */
static bool same_tasks(struct span expected, struct span got)
{
    struct span rest = expected;
    while (rest.count > 0) {
        const uint8_t *comma = memchr(rest.bytes, ',', rest.count);
        size_t bytes = comma != NULL ? (size_t)(comma - rest.bytes) : rest.count;
        struct span task = span_of(rest.bytes, bytes);
        if (count_task(expected, task) != count_task(got, task)) {
            return false;
        }
        rest = comma != NULL ? span_of(comma + 1, rest.count - bytes - 1) : SPAN_EMPTY;
    }
    return expected.count == got.count;
}

static const char *payload_of(struct span test)
{
    for (unsigned i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        if (span_is(test, payloads[i].test)) {
            return payloads[i].payload;
        }
    }
    return "{}";
}

/* The key that a catch event of that message name waits for. */
static struct span key_of(const struct engine_definition *definition, struct span name)
{
    for (uint32_t p = 0; p < definition->process_count; p++) {
        for (uint32_t n = 0; n < definition->processes[p].node_count; n++) {
            const struct engine_node *node = &definition->processes[p].nodes[n];
            if (node->event_count == 0 || !span_equal(node->events[0].name, name) ||
                node->events[0].correlation_key == NULL) {
                continue;
            }
            struct span source = engine_expression_source(node->events[0].correlation_key);
            bool literal = engine_expression_is_literal(node->events[0].correlation_key);
            return literal ? source : span_text(CORRELATION_VALUE);
        }
    }
    return SPAN_EMPTY;
}

/* The messages of the case, in order; then time for a timer to fire. */
static struct span steps_of(struct arena *arena, const struct engine_definition *definition,
                            struct span entry)
{
    struct wire_writer writer;
    struct span messages = wire_find_text(entry, "messages");
    struct wire_map_walk walk = wire_array_begin(messages);
    struct span payload =
        parse(arena, span_text(payload_of(wire_string_or(wire_find_text(entry, "test"), ""))));
    struct span name;
    wire_writer_init(&writer, arena, 256);
    wire_write_array(&writer, wire_count(messages) + 1);
    while (wire_array_next(&walk, &name)) {
        struct span text = wire_string_or(name, "");
        wire_write_map(&writer, 1);
        wire_write_text(&writer, "message");
        wire_write_map(&writer, 3);
        wire_pair_string(&writer, "name", text);
        wire_pair_string(&writer, "correlationKey", key_of(definition, text));
        wire_pair_value(&writer, "payload", payload);
    }
    wire_write_map(&writer, 1);
    wire_pair_text(&writer, "advance", "PT10S");
    return wire_writer_span(&writer);
}

/* The same steps again, on a stage that stays open to be looked at. */
static bool play(struct stage *stage, const struct scenario *scenario)
{
    struct wire_map_walk walk = wire_array_begin(scenario->steps);
    struct span step;
    bool played = stage_start(stage);
    while (played && wire_array_next(&walk, &step)) {
        struct span message = wire_find_text(step, "message");
        const struct stage_message published = {
            .name = wire_string_or(wire_find_text(message, "name"), ""),
            .correlation_key = wire_string_or(wire_find_text(message, "correlationKey"), ""),
            .payload = wire_find_text(message, "payload"),
        };
        played = message.count > 0 ? stage_publish(stage, &published, -1)
                                   : stage_advance(stage, stage->now_ms + 10000);
    }
    return played;
}

static bool deploys(struct scenario *scenario, struct span file, struct arena *arena,
                    struct span *why)
{
    char path[512];
    static uint8_t bytes[1u << 20];
    snprintf(path, sizeof path, CASES "%.*s", SPAN_ARG(file));
    FILE *stream = fopen(path, "re");
    cr_assert_not_null(stream, "%s", path);
    size_t count = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, file);
    enum result result = engine_read(file, span_of(bytes, count), &report, &definition);
    *why = engine_report_text(&report, ENGINE_ERROR, arena);
    engine_report_release(&report);
    scenario->definitions[0] = definition;
    scenario->definition_count = definition != NULL ? 1 : 0;
    return result == RESULT_OK;
}

static void run_case(struct span entry, struct arena *arena, struct tally *tally)
{
    struct span test = wire_string_or(wire_find_text(entry, "test"), "");
    struct span path = wire_string_or(wire_at(wire_find_text(entry, "callpath"), 0), "");
    bool has_path = wire_count(wire_find_text(entry, "callpath")) > 0;
    struct scenario scenario = {.name = test,
                                .start = start_of(arena, wire_find_text(entry, "vars")),
                                .expect = expect_of(arena, entry)};
    struct span why = SPAN_EMPTY;
    const char *reason = aside_reason(test);
    if (reason != NULL ||
        !deploys(&scenario, wire_string_or(wire_find_text(entry, "file"), ""), arena, &why)) {
        fprintf(stderr, "skipped %.*s: %s%.*s\n", SPAN_ARG(test), reason != NULL ? reason : "",
                SPAN_ARG(why));
        tally->skipped++;
        return;
    }
    struct scenario_outcome outcome;
    scenario.modules = modules_of(arena, scenario.definitions[0]);
    scenario.steps = steps_of(arena, scenario.definitions[0], entry);
    scenario_run(&scenario, arena, &outcome);
    for (uint32_t i = 0; i < outcome.failure_count; i++) {
        cr_expect_fail("%.*s: %.*s", SPAN_ARG(test), SPAN_ARG(outcome.failures[i]));
    }
    static char got[TEXT_MAX];
    struct stage stage;
    struct scenario_outcome again = {0};
    if (has_path && stage_open(&stage, &scenario, arena, &again) && play(&stage, &scenario)) {
        call_path(&scenario, stage.execution, arena, got);
        bool same = is_order_aside(test) ? same_tasks(path, span_text(got)) : span_is(path, got);
        cr_expect(same, "%.*s: expected the path %.*s, got %s", SPAN_ARG(test), SPAN_ARG(path),
                  got);
        stage_close(&stage);
    }
    scenario_release(&scenario, 1);
    tally->run++;
}

Test(lib_bpmn_engine, cases_of_executed_elements_take_their_call_path)
{
    static char line[TEXT_MAX];
    struct tally tally = {0};
    FILE *cases = fopen(CASES "cases.jsonl", "re");
    if (cases == NULL) {
        cr_skip_test("../shared/cases/lib-bpmn-engine is not here");
    }
    while (fgets(line, sizeof line, cases) != NULL) {
        struct arena arena;
        arena_init(&arena, 65536, 256u << 20);
        struct span entry = parse(&arena, span_text(line));
        cr_assert(entry.count > 0, "%s", line);
        run_case(entry, &arena, &tally);
        arena_release(&arena);
    }
    fclose(cases);
    fprintf(stderr, "lib-bpmn-engine: %u run, %u skipped\n", tally.run, tally.skipped);
    cr_expect_gt(tally.run, 20);
}
