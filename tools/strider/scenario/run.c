/*
 * run.c: the steps of a scenario, in order, the clock standing still but for `advance` and `after`.
 */
#include <stdio.h>

#include "engine/time/iso8601.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tools/strider/scenario/expect.h"
#include "tools/strider/scenario/scenario.h"
#include "tools/strider/scenario/stage.h"

struct play {
    struct stage stage;
    enum proto_error refusal;
    struct span message; /* of the refusal */
    const char *where;
};

static bool fail_step(struct play *play, const char *what, struct span value)
{
    scenario_fail(play->stage.outcome, play->stage.arena, "%s: %s \"%.*s\"", play->where, what,
                  SPAN_ARG(value));
    return false;
}

static bool play_advance(struct play *play, struct span value)
{
    struct span text = wire_string_or(value, "");
    struct engine_duration duration;
    const char *reason;
    if (engine_duration_parse(text, &duration, &reason) != RESULT_OK || duration.ms < 0 ||
        duration.months < 0) {
        return fail_step(play, "advance takes a duration, not", text);
    }
    play->refusal = PROTO_ERROR_NONE;
    return stage_advance(&play->stage, engine_duration_after(play->stage.now_ms, duration));
}

static bool play_input(struct play *play, struct engine_input *input)
{
    input->now_ms = play->stage.now_ms;
    return stage_input(&play->stage, input, &play->refusal, &play->message);
}

static bool play_callback(struct play *play, struct span value)
{
    char step_id[UUID_TEXT_BYTES + 1];
    struct span task_id = wire_string_or(wire_find_text(value, "taskId"), "");
    int64_t sequence = wire_int_or(wire_find_text(value, "sequence"), 0);
    if (sequence > 0 && sequence <= UINT32_MAX) {
        uuid_format(engine_step_id(play->stage.execution, (uint32_t)sequence), step_id);
        task_id = span_of(step_id, UUID_TEXT_BYTES);
    }
    struct engine_input input = {.kind = ENGINE_IN_CALLBACK,
                                 .task_id = task_id,
                                 .payload = wire_find_text(value, "payload"),
                                 .output = wire_find_text(value, "output"),
                                 .error = wire_find_text(value, "error")};
    return play_input(play, &input);
}

/* `ttl`, a duration, or `ttlMs` as in a request. */
static bool play_ttl(struct play *play, struct span message, int64_t *ttl_ms)
{
    struct span text = wire_string_or(wire_find_text(message, "ttl"), "");
    struct engine_duration duration;
    const char *reason;
    *ttl_ms = wire_int_or(wire_find_text(message, "ttlMs"), -1);
    if (text.count == 0) {
        return true;
    }
    if (engine_duration_parse(text, &duration, &reason) != RESULT_OK || duration.ms < 0 ||
        duration.months < 0) {
        return fail_step(play, "ttl takes a duration, not", text);
    }
    *ttl_ms = engine_duration_after(play->stage.now_ms, duration) - play->stage.now_ms;
    return true;
}

/* A key that is a number or a boolean correlates by its text. */
static struct span key_text(struct play *play, struct span value)
{
    struct span text = SPAN_EMPTY;
    if (value.count == 0 || wire_is(value, WIRE_STRING)) {
        return wire_string_or(value, "");
    }
    if (json_from_wire(value, JSON_COMPACT, play->stage.arena, &text) != RESULT_OK) {
        return SPAN_EMPTY;
    }
    return text;
}

static bool play_published(struct play *play, struct span value, bool is_signal)
{
    int64_t ttl_ms;
    struct stage_message message = {
        .is_signal = is_signal,
        .name = wire_string_or(wire_find_text(value, "name"), ""),
        .correlation_key = key_text(play, wire_find_text(value, "correlationKey")),
        .payload = wire_find_text(value, "payload"),
    };
    play->refusal = PROTO_ERROR_NONE;
    if (message.name.count == 0) {
        return fail_step(play, is_signal ? "signal" : "message", span_text("has no name"));
    }
    return play_ttl(play, value, &ttl_ms) && stage_publish(&play->stage, &message, ttl_ms);
}

static bool play_verb(struct play *play, struct span value, struct span step)
{
    static const struct {
        const char *name;
        enum engine_input_kind kind;
    } verbs[] = {{"suspend", ENGINE_IN_SUSPEND},
                 {"resume", ENGINE_IN_RESUME},
                 {"abort", ENGINE_IN_ABORT},
                 {"restart", ENGINE_IN_RESTART},
                 {"retry", ENGINE_IN_RETRY}};
    struct span name = wire_string_or(value, "");
    for (uint32_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (span_is(name, verbs[i].name)) {
            struct engine_input input = {.kind = verbs[i].kind,
                                         .task_id =
                                             wire_string_or(wire_find_text(step, "taskId"), "")};
            return play_input(play, &input);
        }
    }
    return fail_step(play, "no such verb:", name);
}

static bool play_step(struct play *play, struct span step)
{
    struct span value;
    if ((value = wire_find_text(step, "message")).count > 0) {
        return play_published(play, value, false);
    }
    if ((value = wire_find_text(step, "signal")).count > 0) {
        return play_published(play, value, true);
    }
    if (play->stage.execution == NULL && !stage_start(&play->stage)) {
        return false;
    }
    if ((value = wire_find_text(step, "advance")).count > 0) {
        return play_advance(play, value);
    }
    if ((value = wire_find_text(step, "callback")).count > 0) {
        return play_callback(play, value);
    }
    if ((value = wire_find_text(step, "op")).count > 0) {
        return play_verb(play, value, step);
    }
    if (wire_bool_or(wire_find_text(step, "crash"), false)) {
        play->refusal = PROTO_ERROR_NONE;
        return stage_crash(&play->stage);
    }
    if (wire_find_text(step, "expect").count > 0 && wire_count(step) == 1) {
        return true;
    }
    scenario_fail(play->stage.outcome, play->stage.arena,
                  "%s: a step is one of advance, callback, message, signal, op, crash, expect",
                  play->where);
    return false;
}

/* A refused input must be expected by name. */
static void check_refusal(const struct play *play, struct span expect)
{
    if (play->refusal != PROTO_ERROR_NONE && wire_find_text(expect, "error").count == 0) {
        scenario_fail(play->stage.outcome, play->stage.arena, "%s was refused: %s: %.*s",
                      play->where, proto_error_name(play->refusal), SPAN_ARG(play->message));
    }
}

static void play_all(struct play *play, const struct scenario *scenario)
{
    struct wire_map_walk walk = wire_array_begin(scenario->steps);
    struct span step;
    char where[32];
    play->where = where;
    for (uint32_t number = 1; wire_array_next(&walk, &step); number++) {
        snprintf(where, sizeof where, "step %u", number);
        if (!play_step(play, step)) {
            return;
        }
        struct span expect = wire_find_text(step, "expect");
        bool last = walk.left == 0;
        check_refusal(play, expect.count == 0 && last ? scenario->expect : expect);
        if (expect.count > 0 && play->stage.execution != NULL) {
            scenario_expect(expect, play->stage.execution, play->refusal, where, play->stage.arena,
                            play->stage.outcome);
        }
    }
    if (play->stage.execution == NULL && !stage_start(&play->stage)) {
        return;
    }
    if (scenario->expect.count > 0) {
        scenario_expect(scenario->expect, play->stage.execution, play->refusal, "at the end",
                        play->stage.arena, play->stage.outcome);
    }
}

/* The first step is a message or signal, and nothing else starts the process. */
static bool begins_by_trigger(const struct stage *stage, const struct scenario *scenario)
{
    struct span first = wire_at(scenario->steps, 0);
    return (wire_find_text(first, "message").count > 0 ||
            wire_find_text(first, "signal").count > 0) &&
           stage_waits_for_start(stage);
}

void scenario_run(const struct scenario *scenario, struct arena *arena,
                  struct scenario_outcome *outcome)
{
    struct play play = {.refusal = PROTO_ERROR_NONE};
    *outcome = (struct scenario_outcome){0};
    if (stage_open(&play.stage, scenario, arena, outcome) &&
        (begins_by_trigger(&play.stage, scenario) || stage_start(&play.stage))) {
        play_all(&play, scenario);
    }
    if (play.stage.execution == NULL && outcome->failure_count == 0) {
        scenario_fail(outcome, arena, "the execution could not be made");
    }
    stage_close(&play.stage);
}
