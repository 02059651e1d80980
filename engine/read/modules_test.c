/*
 * modules.json: values, bounds, suggestions, and who is found for a task.
 */
#include <criterion/criterion.h>

#include "engine/read/read.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

struct sample {
    enum result result;
    struct engine_report report;
    struct engine_modules *modules;
    struct arena arena;
};

static struct sample read_modules(const char *json)
{
    struct sample sample = {0};
    struct span value;
    struct json_error error;
    arena_init(&sample.arena, 4096, 1 << 20);
    engine_report_init(&sample.report, span_text("modules.json"));
    cr_assert_eq(json_to_wire(span_text(json), 64, &sample.arena, &value, &error), RESULT_OK, "%s",
                 json);
    sample.result = engine_read_modules(span_text("modules.json"), value, span_text("shop"),
                                        SPAN_EMPTY, &sample.report, &sample.modules);
    cr_assert_eq(sample.modules != NULL, sample.result == RESULT_OK);
    return sample;
}

static void release(struct sample *sample)
{
    engine_modules_free(sample->modules);
    engine_report_release(&sample->report);
    arena_release(&sample->arena);
}

static void expect_refusal(const char *json, const char *words)
{
    struct sample sample = read_modules(json);
    struct span text = engine_report_text(&sample.report, ENGINE_ERROR, &sample.arena);
    cr_expect_eq(sample.result, RESULT_INVALID, "%s", json);
    cr_expect_not_null(memmem(text.bytes, text.count, words, strlen(words)), "%s: %.*s", words,
                       SPAN_ARG(text));
    release(&sample);
}

Test(modules, every_key_is_read)
{
    struct sample sample = read_modules(
        "{\"modules\":[{\"taskTypes\":[\"payment\",\"refund\"],\"channel\":\"web\",\"url\":\"https:"
        "//pay.example:8443/run\",\"timeoutMs\":1500,\"maxConcurrent\":8,"
        "\"maxAttempts\":5,\"callback\":true,\"callbackTimeoutMs\":60000,\"cancel\":true,"
        "\"sideEffects\":false,\"outputs\":[\"receipt\"],\"strictOutputs\":true,"
        "\"testOutputs\":{\"receipt\":1},\"encoding\":\"msgpack\",\"headers\":{\"X-Key\":\"a "
        "b\"}}]}");
    cr_assert_eq(sample.result, RESULT_OK);
    cr_assert_eq(sample.modules->module_count, 1);
    const struct engine_module *module = &sample.modules->modules[0];
    cr_expect(span_is(module->name, "payment"));
    cr_expect_eq(module->task_type_count, 2);
    cr_expect(span_is(module->channel, "web"));
    cr_expect(span_is(module->url, "https://pay.example:8443/run"));
    cr_expect_eq(module->timeout_ms, 1500);
    cr_expect_eq(module->concurrent_max, 8);
    cr_expect_eq(module->attempts_max, 5);
    cr_expect_eq(module->callback_timeout_ms, 60000);
    cr_expect(module->callback && module->cancel && !module->side_effects &&
              module->strict_outputs && module->message_pack);
    cr_assert_eq(module->output_count, 1);
    cr_expect(span_is(module->outputs[0], "receipt"));
    cr_expect_eq(wire_int_or(wire_find_text(module->test_outputs, "receipt"), 0), 1);
    cr_expect(span_is(wire_string_or(wire_find_text(module->headers, "X-Key"), ""), "a b"));
    release(&sample);
}

Test(modules, what_is_left_out_has_the_documented_default)
{
    struct sample sample = read_modules("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://"
                                        "x\",\"channel\":null,\"callbackTimeoutMs\":null}]}");
    cr_assert_eq(sample.result, RESULT_OK);
    const struct engine_module *module = &sample.modules->modules[0];
    cr_expect_eq(module->timeout_ms, 30000);
    cr_expect_eq(module->concurrent_max, 64);
    cr_expect_eq(module->attempts_max, 3);
    cr_expect_eq(module->callback_timeout_ms, 0);
    cr_expect_eq(module->channel.count, 0);
    cr_expect(!module->callback && !module->cancel && module->side_effects &&
              !module->strict_outputs && !module->message_pack);
    release(&sample);
}

Test(modules, a_descriptor_tells_category_params_and_outputs_and_outputs_are_the_contract)
{
    struct sample sample = read_modules(
        "{\"modules\":[{\"taskTypes\":[\"order\"],\"url\":\"http://x\",\"category\":\"Sales\","
        "\"params\":[\"customer\",{\"name\":\"rush\",\"label\":\"In a hurry\",\"type\":"
        "\"boolean\",\"required\":true,\"default\":false}],\"outputs\":[{\"name\":\"order_id\","
        "\"label\":\"Order ID\",\"type\":\"string\"},\"total\"],\"strictOutputs\":true}]}");
    cr_assert_eq(sample.result, RESULT_OK);
    const struct engine_module *module = &sample.modules->modules[0];
    cr_assert_eq(module->output_count, 2);
    cr_expect(span_is(module->outputs[0], "order_id"));
    cr_expect(span_is(module->outputs[1], "total"));
    release(&sample);
}

#define ONE(pair) "{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://x\"," pair "}]}"

Test(modules, a_wrong_value_is_refused_and_its_place_named)
{
    expect_refusal("[]", "must hold an object");
    expect_refusal("{\"module\":[]}", "\"module\" is not known");
    expect_refusal("{\"modules\":{}}", "must be a list");
    expect_refusal("{\"modules\":[1]}", "modules[0]: must be an object");
    expect_refusal("{\"modules\":[{\"url\":\"http://x\"}]}", "needs taskTypes");
    expect_refusal("{\"modules\":[{\"taskTypes\":[],\"url\":\"http://x\"}]}", "needs taskTypes");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"]}]}", "needs a url");
    expect_refusal("{\"modules\":[{\"taskTypes\":\"a\",\"url\":\"http://x\"}]}",
                   "taskTypes: must be a list");
    expect_refusal("{\"modules\":[{\"taskTypes\":[1],\"url\":\"http://x\"}]}",
                   "taskTypes: must be text");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"ftp://x\"}]}",
                   "modules[0].url: must begin with http://");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://\"}]}", "name a host");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http:///x\"}]}", "name a host");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://x/a b\"}]}", "url");
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://x/\\n\"}]}",
                   "control characters");
    expect_refusal(ONE("\"timeoutMs\":0"), "timeoutMs: must be a whole number from 1 to");
    expect_refusal(ONE("\"timeoutMs\":1.5"), "timeoutMs");
    expect_refusal(ONE("\"timeoutMs\":\"1\""), "timeoutMs");
    expect_refusal(ONE("\"maxConcurrent\":-1"), "maxConcurrent");
    expect_refusal(ONE("\"maxAttempts\":99999999999999999999"), "maxAttempts");
    expect_refusal(ONE("\"callback\":1"), "callback: must be true or false");
    expect_refusal(ONE("\"encoding\":\"xml\""), "encoding");
    expect_refusal(ONE("\"category\":1"), "category: must be text");
    expect_refusal(ONE("\"params\":{}"), "params: must be a list");
    expect_refusal(ONE("\"params\":[{\"name\":\"a\",\"required\":1}]"), "required must be");
    expect_refusal(ONE("\"outputs\":[{\"label\":\"a\"}]"), "a field needs a name");
    expect_refusal(ONE("\"outputs\":[{\"name\":\"a\",\"type\":\"int\"}]"), "type must be string");
    expect_refusal(ONE("\"outputs\":[{\"name\":\"a\",\"kind\":1}]"), "\"kind\" of a field");
    expect_refusal(ONE("\"testOutputs\":[]"), "testOutputs: must be an object");
    expect_refusal(ONE("\"headers\":{\"a b\":\"c\"}"), "no HTTP header");
    expect_refusal(ONE("\"headers\":{\"a\":\"c\\r\\nX: y\"}"), "no HTTP header");
    expect_refusal(ONE("\"headers\":{\"a\":1}"), "no HTTP header");
}

Test(modules, an_unknown_key_is_refused_with_a_suggestion)
{
    expect_refusal(ONE("\"timeoutMS\":5"), "did you mean \"timeoutMs\"?");
    expect_refusal(ONE("\"maxConcurent\":5"), "did you mean \"maxConcurrent\"?");
    expect_refusal(ONE("\"colour\":5"), "the key \"colour\" is not known");
}

Test(modules, two_modules_for_one_task_and_channel_are_refused)
{
    expect_refusal("{\"modules\":[{\"taskTypes\":[\"a\",\"b\"],\"url\":\"http://"
                   "x\"},{\"taskTypes\":[\"b\"],\"url\":\"http://y\"}]}",
                   "both execute \"b\"");
}

Test(modules, the_channel_comes_before_any_channel_before_the_built_in)
{
    struct sample sample =
        read_modules("{\"modules\":[{\"taskTypes\":[\"a\"],\"url\":\"http://"
                     "any\"},{\"taskTypes\":[\"a\"],\"channel\":\"web\",\"url\":\"http://web\"},"
                     "{\"taskTypes\":[\"log\"],\"url\":\"http://log\"}]}");
    cr_assert_eq(sample.result, RESULT_OK);
    const struct engine_modules *modules = sample.modules;
    cr_expect(
        span_is(engine_modules_find(modules, span_text("a"), span_text("web"))->url, "http://web"));
    cr_expect(span_is(engine_modules_find(modules, span_text("a"), span_text("phone"))->url,
                      "http://any"));
    cr_expect(span_is(engine_modules_find(modules, span_text("a"), SPAN_EMPTY)->url, "http://any"));
    cr_expect_eq(engine_modules_find(modules, span_text("log"), SPAN_EMPTY)->builtin,
                 ENGINE_BUILTIN_NONE);
    cr_expect_eq(engine_modules_find(modules, span_text("echo"), span_text("web"))->builtin,
                 ENGINE_BUILTIN_ECHO);
    cr_expect(engine_modules_find(modules, span_text("http"), SPAN_EMPTY)->side_effects);
    cr_expect_null(engine_modules_find(modules, span_text("b"), SPAN_EMPTY));
    release(&sample);
}

Test(modules, a_project_without_modules_has_the_built_ins)
{
    struct engine_report report;
    struct engine_modules *modules;
    engine_report_init(&report, span_text("modules.json"));
    cr_assert_eq(engine_read_modules(span_text("modules.json"), SPAN_EMPTY, span_text("p"),
                                     SPAN_EMPTY, &report, &modules),
                 RESULT_OK);
    cr_expect_eq(engine_modules_find(modules, span_text("wait"), SPAN_EMPTY)->builtin,
                 ENGINE_BUILTIN_WAIT);
    engine_modules_free(modules);
    engine_report_release(&report);
}
