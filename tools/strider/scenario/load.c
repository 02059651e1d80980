/*
 * load.c: from a scenario file to struct scenario; everything in it that is not known is refused by
 * name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/read/read.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tools/strider/input.h"
#include "tools/strider/scenario/scenario.h"

#define SCENARIO_PATH_MAX 4096u

void scenario_fail(struct scenario_outcome *outcome, struct arena *arena, const char *format, ...)
{
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (outcome->failure_count < SCENARIO_FAILURES_MAX) {
        outcome->failures[outcome->failure_count] = arena_copy(arena, span_text(text));
        outcome->failure_count++;
    }
}

static enum result add_definition(const char *file, struct span name, struct arena *arena,
                                  struct scenario *scenario, struct span *problem)
{
    char path[SCENARIO_PATH_MAX];
    char text[512];
    const char *slash = strrchr(file, '/');
    int folder = slash == NULL ? 0 : (int)(slash - file) + 1;
    struct span content;
    snprintf(path, sizeof path, "%.*s%.*s", name.count > 0 && name.bytes[0] == '/' ? 0 : folder,
             file, SPAN_ARG(name));
    if (scenario->definition_count == SCENARIO_DEFINITIONS_MAX) {
        *problem =
            arena_format(arena, "%s: more than %u definitions", file, SCENARIO_DEFINITIONS_MAX);
        return RESULT_INVALID;
    }
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, arena, &content, text) != RESULT_OK) {
        *problem = arena_copy(arena, span_text(text));
        return RESULT_INVALID;
    }
    struct engine_report report;
    struct engine_definition *definition = NULL;
    engine_report_init(&report, span_text(path));
    enum result result = engine_read(span_text(path), content, &report, &definition);
    if (result == RESULT_OK) {
        scenario->definitions[scenario->definition_count++] = definition;
    } else {
        *problem = engine_report_text(&report, ENGINE_ERROR, arena);
    }
    engine_report_release(&report);
    return result == RESULT_OK ? RESULT_OK : RESULT_INVALID;
}

/* `number`: which one of a list, from 1; 0: the file is the scenario. */
static enum result load_one(const char *file, uint32_t number, struct span map, struct arena *arena,
                            struct scenario *out, struct span *problem)
{
    char place[SCENARIO_PATH_MAX];
    struct span definition = wire_string_or(wire_find_text(map, "definition"), "");
    snprintf(place, sizeof place, number == 0 ? "%s" : "%s: scenario %u", file, number);
    enum result result = scenario_check_shape(place, map, arena, problem);
    if (result != RESULT_OK) {
        return result;
    }
    if (definition.count == 0) {
        *problem = arena_format(arena, "%s: a scenario needs a \"definition\"", place);
        return RESULT_INVALID;
    }
    out->name = wire_string_or(wire_find_text(map, "name"), file);
    out->process = wire_string_or(wire_find_text(map, "process"), "");
    out->start = wire_find_text(map, "start");
    out->modules = wire_find_text(map, "modules");
    out->steps = wire_find_text(map, "steps");
    out->expect = wire_find_text(map, "expect");
    result = add_definition(file, definition, arena, out, problem);
    struct wire_map_walk walk = wire_array_begin(wire_find_text(map, "with"));
    struct span name;
    while (result == RESULT_OK && wire_array_next(&walk, &name)) {
        result = add_definition(file, wire_string_or(name, ""), arena, out, problem);
    }
    return result == RESULT_OK ? scenario_check_names(place, out, arena, problem) : result;
}

enum result scenario_load(const char *file, struct arena *arena, struct scenario **out,
                          uint32_t *count, struct span *problem)
{
    char text[512];
    struct span content;
    struct span value;
    struct json_error error;
    if (cli_read_file(file, LIMIT_DEFINITION_BYTES, arena, &content, text) != RESULT_OK) {
        *problem = arena_copy(arena, span_text(text));
        return RESULT_INVALID;
    }
    if (json_to_wire(content, LIMIT_DEPTH, arena, &value, &error) != RESULT_OK) {
        *problem =
            arena_format(arena, "%s:%u:%u: %s", file, error.line, error.column, error.reason);
        return RESULT_INVALID;
    }
    bool several = wire_is(value, WIRE_ARRAY);
    uint32_t wanted = several ? wire_count(value) : 1;
    struct scenario *scenarios = arena_zero(arena, (size_t)wanted * sizeof *scenarios);
    if (scenarios == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < wanted && result == RESULT_OK; i++) {
        result = load_one(file, several ? i + 1 : 0, several ? wire_at(value, i) : value, arena,
                          &scenarios[i], problem);
    }
    if (result != RESULT_OK) {
        scenario_release(scenarios, wanted);
        return result;
    }
    *out = scenarios;
    *count = wanted;
    return RESULT_OK;
}

void scenario_release(struct scenario *scenarios, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < scenarios[i].definition_count; k++) {
            engine_definition_free((struct engine_definition *)scenarios[i].definitions[k]);
        }
        scenarios[i].definition_count = 0;
    }
}
