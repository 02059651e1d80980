/*
 * schedule.c: see schedule.h.
 */
#include "engine/schedule.h"

#include "proto/base/assert.h"

/* How the reader of JSON graphs names the message of a node trigger_webhook. */
#define WEBHOOK_PREFIX "webhook:"

/* ---- triggers of a process ---- */

static bool is_webhook(struct span name)
{
    return span_starts_with(name, WEBHOOK_PREFIX) && name.count > strlen(WEBHOOK_PREFIX);
}

static struct span path_of(struct span name)
{
    size_t skipped = strlen(WEBHOOK_PREFIX);
    return span_of(name.bytes + skipped, name.count - skipped);
}

/* false: it starts nothing: a condition has no data to watch. */
static bool trigger_of_event(const struct engine_node *node, uint32_t place,
                             struct engine_start_trigger *out)
{
    const struct engine_event_definition *event = &node->events[place];
    *out = (struct engine_start_trigger){.node = node, .place = place, .text = event->name};
    if (event->kind == ENGINE_ON_TIMER) {
        out->kind = ENGINE_START_BY_TIMER;
        out->timer = event->timer;
        out->value = event->timer_value;
        return event->timer_value != NULL;
    }
    out->kind = event->kind == ENGINE_ON_SIGNAL ? ENGINE_START_BY_SIGNAL : ENGINE_START_BY_MESSAGE;
    if (event->kind == ENGINE_ON_MESSAGE && is_webhook(event->name)) {
        out->kind = ENGINE_START_BY_WEBHOOK;
        out->text = path_of(event->name);
    }
    return event->name.count > 0 &&
           (event->kind == ENGINE_ON_SIGNAL || event->kind == ENGINE_ON_MESSAGE);
}

static bool trigger_beside(const struct engine_process *process, uint32_t place,
                           struct engine_start_trigger *out)
{
    const struct engine_trigger *trigger = &process->triggers[place];
    *out = (struct engine_start_trigger){.place = place, .text = trigger->text};
    if (trigger->kind == ENGINE_TRIGGER_CRON) {
        out->kind = ENGINE_START_BY_TIMER;
        out->timer = ENGINE_TIMER_CYCLE;
        return true;
    }
    out->kind = ENGINE_START_BY_WEBHOOK;
    return trigger->kind == ENGINE_TRIGGER_WEBHOOK;
}

void engine_triggers_each(const struct engine_process *process,
                          void (*each)(void *owner, const struct engine_start_trigger *trigger),
                          void *owner)
{
    struct engine_start_trigger trigger;
    for (uint32_t i = 0; i < process->children.count; i++) {
        const struct engine_node *node = &process->nodes[process->children.at[i]];
        for (uint32_t k = 0; node->kind == ENGINE_START_EVENT && k < node->event_count; k++) {
            if (trigger_of_event(node, k, &trigger)) {
                each(owner, &trigger);
            }
        }
    }
    for (uint32_t i = 0; i < process->trigger_count; i++) {
        if (trigger_beside(process, i, &trigger)) {
            each(owner, &trigger);
        }
    }
}

struct span engine_trigger_id(const struct engine_process *process,
                              const struct engine_start_trigger *trigger, struct arena *arena)
{
    if (trigger->node != NULL) {
        return trigger->place == 0 ? trigger->node->id
                                   : arena_format(arena, "%.*s#%u", SPAN_ARG(trigger->node->id),
                                                  trigger->place + 1);
    }
    struct span id = process->triggers[trigger->place].id;
    return id.count > 0 ? arena_format(arena, "triggers/%.*s", SPAN_ARG(id))
                        : arena_format(arena, "triggers/%u", trigger->place + 1);
}

struct wanted_path {
    struct span path;
    struct engine_start_trigger *out;
    bool found;
};

static void match_path(void *owner, const struct engine_start_trigger *trigger)
{
    struct wanted_path *wanted = owner;
    if (!wanted->found && trigger->kind == ENGINE_START_BY_WEBHOOK &&
        span_equal(trigger->text, wanted->path)) {
        *wanted->out = *trigger;
        wanted->found = true;
    }
}

bool engine_trigger_of_path(const struct engine_process *process, struct span path,
                            struct engine_start_trigger *out)
{
    struct wanted_path wanted = {.path = path, .out = out};
    engine_triggers_each(process, match_path, &wanted);
    return wanted.found;
}

/* ---- when a timer is due ---- */

bool engine_schedule_looks_like_cron(struct span text)
{
    enum { FIELDS_MIN = 5, FIELDS_MAX = 7 };
    unsigned fields = 0;
    bool in_field = false;
    if (span_starts_with(text, "@") || span_starts_with(text, "CRON_TZ=") ||
        span_starts_with(text, "TZ=")) {
        return true;
    }
    for (size_t i = 0; i < text.count; i++) {
        bool is_space = text.bytes[i] == ' ' || text.bytes[i] == '\t';
        fields += !is_space && !in_field;
        in_field = !is_space;
    }
    return fields >= FIELDS_MIN && fields <= FIELDS_MAX;
}

static enum result read_cron(struct span text, struct engine_schedule *out, const char **reason)
{
    struct engine_cron_error error;
    out->kind = ENGINE_SCHEDULE_CRON;
    enum result result = engine_cron_parse(text, &out->cron, &error);
    *reason = result == RESULT_OK ? NULL : error.reason;
    return result;
}

static enum result read_cycle(struct span text, struct engine_schedule *out, const char **reason)
{
    out->kind = ENGINE_SCHEDULE_CYCLE;
    enum result result = engine_cycle_parse(text, &out->cycle, reason);
    return result != RESULT_OK && engine_schedule_looks_like_cron(text)
               ? read_cron(text, out, reason)
               : result;
}

enum result engine_schedule_read(enum engine_timer_kind kind, struct span text,
                                 struct engine_schedule *out, const char **reason)
{
    *out = (struct engine_schedule){0};
    text = span_trim(text);
    switch (kind) {
    case ENGINE_TIMER_DATE:
        out->kind = ENGINE_SCHEDULE_DATE;
        return engine_instant_parse(text, &out->date_ms, reason);
    case ENGINE_TIMER_DURATION:
        out->kind = ENGINE_SCHEDULE_DURATION;
        return engine_duration_parse(text, &out->duration, reason);
    case ENGINE_TIMER_CYCLE:
        return read_cycle(text, out, reason);
    case ENGINE_TIMER_NONE:
        break;
    }
    *reason = "it says neither a date nor a duration nor a cycle";
    return RESULT_INVALID;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A negative duration is over at once (field report F59). */
static int64_t duration_end(const struct engine_schedule *schedule, int64_t deployed_ms)
{
    return later(engine_duration_after(deployed_ms, schedule->duration), deployed_ms);
}

bool engine_schedule_due(const struct engine_schedule *schedule, const struct engine_zone *zone,
                         const struct engine_schedule_past *past, int64_t *due_ms)
{
    int64_t served_ms = later(past->last_due_ms, past->last_fired_ms);
    switch (schedule->kind) {
    case ENGINE_SCHEDULE_DATE: /* once, whatever version has served it */
        *due_ms = schedule->date_ms;
        return past->fired == 0 && past->last_due_ms != schedule->date_ms;
    case ENGINE_SCHEDULE_DURATION:
        *due_ms = duration_end(schedule, past->deployed_ms);
        return past->fired == 0;
    case ENGINE_SCHEDULE_CYCLE:
        return engine_cycle_due(&schedule->cycle, past->deployed_ms, past->fired, served_ms,
                                due_ms);
    case ENGINE_SCHEDULE_CRON:
        return engine_cron_next(&schedule->cron, zone, later(past->deployed_ms, served_ms), due_ms);
    }
    ASSERT_UNREACHABLE();
}
