/*
 * shape.c: which keys a scenario may have, where. One that is misspelt would be left out of the
 * test without a word, so it is refused. (Of `expect` the comparison itself does that; a reply is
 * the module's own business.) And a scenario that expects nothing tests nothing.
 */
#include "proto/wire/reader.h"
#include "tools/strider/scenario/scenario.h"

#define WORDS_MAX 9u

struct shape {
    const char *path; /* as in a message: "start", "step 3: callback" */
    const char *keys[WORDS_MAX];
};

static const struct shape scenario_shape = {
    "a scenario",
    {"name", "definition", "with", "process", "start", "modules", "steps", "expect", NULL}};
static const struct shape start_shape = {
    "start",
    {"request", "context", "execution", "channel", "channelSessionId", "isTest", "env", NULL}};
/* What a step does comes first, one of these: */
#define ACTION_COUNT 6u
static const struct shape step_shape = {
    "a step",
    {"advance", "callback", "message", "signal", "op", "crash", "expect", "taskId", NULL}};
static const struct shape action_shapes[] = {
    {"callback", {"taskId", "sequence", "payload", "output", "error", NULL}},
    {"message", {"name", "correlationKey", "payload", "ttl", "ttlMs", NULL}},
    {"signal", {"name", "payload", NULL}},
};

struct check {
    const char *place; /* where all of it stands */
    struct arena *arena;
    struct span *problem;
    uint32_t step; /* 0: not in a step */
    bool expects;  /* an `expect` that holds something was found */
};

static bool has_key(const struct shape *shape, struct span key)
{
    for (uint32_t i = 0; shape->keys[i] != NULL; i++) {
        if (span_is(key, shape->keys[i])) {
            return true;
        }
    }
    return false;
}

static struct span step_place(const struct check *check)
{
    return check->step == 0 ? span_text("") : arena_format(check->arena, "step %u: ", check->step);
}

/* null is as good as absent, as in a request. */
static bool is_given(struct span value)
{
    return value.count > 0 && !wire_is(value, WIRE_NIL);
}

static enum result check_map(const struct check *check, const struct shape *shape, struct span map)
{
    if (is_given(map) && !wire_is(map, WIRE_MAP)) {
        *check->problem = arena_format(check->arena, "%s: %.*s%s must be an object", check->place,
                                       SPAN_ARG(step_place(check)), shape->path);
        return RESULT_INVALID;
    }
    struct wire_map_walk walk = wire_map_begin(map);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        if (!has_key(shape, key)) {
            *check->problem =
                arena_format(check->arena, "%s: %.*s\"%.*s\" is not part of %s", check->place,
                             SPAN_ARG(step_place(check)), SPAN_ARG(key), shape->path);
            return RESULT_INVALID;
        }
    }
    return RESULT_OK;
}

/* Its keys are the comparison's business. */
static enum result check_expect(struct check *check, struct span expect)
{
    if (is_given(expect) && !wire_is(expect, WIRE_MAP)) {
        *check->problem = arena_format(check->arena, "%s: %.*sexpect must be an object",
                                       check->place, SPAN_ARG(step_place(check)));
        return RESULT_INVALID;
    }
    check->expects |= is_given(expect) && wire_count(expect) > 0;
    return RESULT_OK;
}

static enum result check_step(struct check *check, struct span step)
{
    enum result result = check_map(check, &step_shape, step);
    uint32_t actions = 0;
    for (uint32_t i = 0; i < ACTION_COUNT; i++) {
        actions += wire_find_text(step, step_shape.keys[i]).count > 0;
    }
    if (result == RESULT_OK && actions > 1) {
        *check->problem = arena_format(check->arena, "%s: %.*sa step does one thing", check->place,
                                       SPAN_ARG(step_place(check)));
        return RESULT_INVALID;
    }
    for (uint32_t i = 0; i < sizeof action_shapes / sizeof action_shapes[0]; i++) {
        result = result == RESULT_OK ? check_map(check, &action_shapes[i],
                                                 wire_find_text(step, action_shapes[i].path))
                                     : result;
    }
    return result == RESULT_OK ? check_expect(check, wire_find_text(step, "expect")) : result;
}

/* Each name has its list of replies, or the one that it always gets. */
static enum result check_modules(const struct check *check, struct span modules)
{
    bool sound = !is_given(modules) || wire_is(modules, WIRE_MAP);
    struct wire_map_walk walk = wire_map_begin(modules);
    struct span name = SPAN_EMPTY;
    struct span replies;
    while (sound && wire_map_next(&walk, &name, &replies)) {
        struct wire_map_walk inner = wire_array_begin(replies);
        struct span reply;
        sound = !is_given(replies) || wire_is(replies, WIRE_ARRAY) || wire_is(replies, WIRE_MAP);
        while (sound && wire_array_next(&inner, &reply)) {
            sound = !is_given(reply) || wire_is(reply, WIRE_MAP);
        }
    }
    if (!sound) {
        *check->problem = arena_format(
            check->arena, "%s: modules: \"%.*s\" wants a list of replies, each an object",
            check->place, SPAN_ARG(name));
    }
    return sound ? RESULT_OK : RESULT_INVALID;
}

enum result scenario_check_shape(const char *place, struct span scenario, struct arena *arena,
                                 struct span *problem)
{
    struct check check = {.place = place, .arena = arena, .problem = problem};
    struct span steps = wire_find_text(scenario, "steps");
    enum result result = check_map(&check, &scenario_shape, scenario);
    if (result == RESULT_OK) {
        result = check_map(&check, &start_shape, wire_find_text(scenario, "start"));
    }
    if (result == RESULT_OK) {
        result = check_modules(&check, wire_find_text(scenario, "modules"));
    }
    if (result == RESULT_OK && is_given(steps) && !wire_is(steps, WIRE_ARRAY)) {
        *problem = arena_format(arena, "%s: steps must be a list", place);
        return RESULT_INVALID;
    }
    struct wire_map_walk walk = wire_array_begin(steps);
    struct span step;
    while (result == RESULT_OK && wire_array_next(&walk, &step)) {
        check.step++;
        result = check_step(&check, step);
    }
    check.step = 0;
    if (result == RESULT_OK) {
        result = check_expect(&check, wire_find_text(scenario, "expect"));
    }
    if (result == RESULT_OK && !check.expects) {
        *problem = arena_format(arena, "%s: nothing is expected: it needs an \"expect\"", place);
        return RESULT_INVALID;
    }
    return result;
}
