/*
 * plan.c: see plan.h.
 */
#include "actors/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/wire/reader.h"

enum { EVALUATION_BYTES_MAX = 16 << 20, TEXT_BYTES_MAX = 1024 };

/* ---- the text ---- */

/* What an expression at a start event may know: there is no execution yet. */
struct start_names {
    struct engine_names names;
    const struct engine_catalog *catalog;
    struct span environment;
    int64_t now_ms;
};

static struct span find_name(const struct engine_names *self, struct span name)
{
    const struct start_names *names = (const struct start_names *)self;
    return span_is(name, "env") ? names->environment : SPAN_EMPTY;
}

static const struct engine_zone *find_zone(const struct engine_names *self, struct span name,
                                           struct arena *arena)
{
    const struct engine_catalog *catalog = ((const struct start_names *)self)->catalog;
    return catalog->zone(catalog, name, arena);
}

static bool read_clock(const struct engine_names *self, int64_t *unix_ms)
{
    *unix_ms = ((const struct start_names *)self)->now_ms;
    return true;
}

static enum result evaluate(const struct start_names *names,
                            const struct engine_expression *expression, struct arena *arena,
                            struct span *text, char why[ACTOR_PLAN_WHY_BYTES])
{
    struct engine_evaluation evaluation = {0};
    enum result result = engine_expression_evaluate(expression, &names->names, arena, &evaluation);
    *text = wire_string_or(evaluation.value, "");
    if (result == RESULT_OK && text->count > 0) {
        return RESULT_OK;
    }
    const char *reason = evaluation.error.message;
    (void)snprintf(why, ACTOR_PLAN_WHY_BYTES,
                   "its expression gives no time (before a start it knows env alone)%s%s",
                   reason == NULL ? "" : ": ", reason == NULL ? "" : reason);
    return RESULT_INVALID;
}

/* ---- the plan ---- */

static const struct engine_zone *zone_of(const struct engine_catalog *catalog,
                                         const struct engine_schedule *schedule,
                                         struct arena *arena)
{
    bool is_named = schedule->kind == ENGINE_SCHEDULE_CRON && schedule->cron.zone.count > 0 &&
                    !span_is(schedule->cron.zone, "UTC");
    return is_named ? catalog->zone(catalog, schedule->cron.zone, arena) : &engine_zone_utc;
}

static enum result read_plan(const struct engine_catalog *catalog, enum engine_timer_kind kind,
                             struct arena *arena, struct actor_plan *plan,
                             char why[ACTOR_PLAN_WHY_BYTES])
{
    const char *reason;
    if (engine_schedule_read(kind, plan->text, &plan->schedule, &reason) != RESULT_OK) {
        (void)snprintf(why, ACTOR_PLAN_WHY_BYTES, "\"%.100s\": %s", (const char *)plan->text.bytes,
                       reason);
        return RESULT_INVALID;
    }
    plan->zone = zone_of(catalog, &plan->schedule, arena);
    if (plan->zone == NULL) {
        struct span name = plan->schedule.cron.zone;
        (void)snprintf(why, ACTOR_PLAN_WHY_BYTES,
                       "there is no time zone \"%.*s\" in this system's zone database",
                       name.count < 64 ? (int)name.count : 64, (const char *)name.bytes);
        return RESULT_INVALID;
    }
    return RESULT_OK;
}

/* Its own copy of the text, which ends with a NUL. */
static enum result keep_text(struct span text, struct actor_plan *plan,
                             char why[ACTOR_PLAN_WHY_BYTES])
{
    char *copy = text.count > TEXT_BYTES_MAX ? NULL : calloc(1, text.count + 1);
    if (copy == NULL) {
        (void)snprintf(why, ACTOR_PLAN_WHY_BYTES, "its text is longer than %d bytes, or no memory",
                       TEXT_BYTES_MAX);
        return text.count > TEXT_BYTES_MAX ? RESULT_INVALID : RESULT_LIMIT;
    }
    memcpy(copy, text.bytes, text.count);
    plan->text = span_of(copy, text.count);
    return RESULT_OK;
}

enum result actor_plan_read(const struct engine_catalog *catalog, struct span project,
                            const struct engine_start_trigger *trigger, int64_t deployed_ms,
                            struct actor_plan *out, char why[ACTOR_PLAN_WHY_BYTES])
{
    struct arena arena;
    struct span text = trigger->text;
    enum result result = RESULT_OK;
    *out = (struct actor_plan){0};
    arena_init(&arena, 4096, EVALUATION_BYTES_MAX);
    if (trigger->value != NULL) {
        struct start_names names = {
            .names = {.find = find_name, .zone = find_zone, .clock = read_clock},
            .catalog = catalog,
            .environment = catalog->modules(catalog, project)->environment,
            .now_ms = deployed_ms,
        };
        result = evaluate(&names, trigger->value, &arena, &text, why);
    }
    result = result == RESULT_OK ? keep_text(text, out, why) : result;
    result = result == RESULT_OK ? read_plan(catalog, trigger->timer, &arena, out, why) : result;
    arena_release(&arena);
    if (result != RESULT_OK) {
        actor_plan_release(out);
    }
    return result;
}

void actor_plan_release(struct actor_plan *plan)
{
    free((void *)plan->text.bytes);
    *plan = (struct actor_plan){0};
}
