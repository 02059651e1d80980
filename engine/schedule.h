/*
 * schedule.h: what starts a process by itself, and when: timer start events, and the cron triggers
 * that a JSON graph names beside its nodes (engine.md 10). Pure functions, any thread.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "engine/model.h"
#include "engine/time/cron.h"
#include "engine/time/iso8601.h"

/* ---- triggers of a process ---- */

enum engine_start_kind {
    ENGINE_START_BY_TIMER,
    ENGINE_START_BY_MESSAGE,
    ENGINE_START_BY_SIGNAL,
    ENGINE_START_BY_WEBHOOK,
};

/* One of them. Spans are borrowed from the process. */
struct engine_start_trigger {
    enum engine_start_kind kind;
    const struct engine_node *node; /* where the execution begins; NULL: as by hand */
    uint32_t place; /* of the event definition on the node, or of the trigger beside the nodes */
    enum engine_timer_kind timer;
    const struct engine_expression *value; /* a timer's at a node; NULL: `text` is a cron text */
    struct span text; /* cron text, path below /hooks/, name of the message or signal */
};

/* Each trigger of the process, in document order; those beside the nodes last. */
void engine_triggers_each(const struct engine_process *process,
                          void (*each)(void *owner, const struct engine_start_trigger *trigger),
                          void *owner);
/*
 * What tells it from the others of its process, in all versions: its node's id, `id#2` for the
 * second event of a node, `triggers/id` beside the nodes. Borrowed or in the arena; empty when that
 * is full.
 */
struct span engine_trigger_id(const struct engine_process *process,
                              const struct engine_start_trigger *trigger, struct arena *arena);
/* The one that serves this path below /hooks/. */
bool engine_trigger_of_path(const struct engine_process *process, struct span path,
                            struct engine_start_trigger *out);

/* ---- when a timer is due ---- */

struct engine_schedule {
    enum {
        ENGINE_SCHEDULE_DATE,
        ENGINE_SCHEDULE_DURATION,
        ENGINE_SCHEDULE_CYCLE,
        ENGINE_SCHEDULE_CRON
    } kind;
    int64_t date_ms;
    struct engine_duration duration;
    struct engine_cycle cycle;
    struct engine_cron cron; /* `zone` borrows from the text */
};

/* What it has done. */
struct engine_schedule_past {
    int64_t deployed_ms; /* of the version in force */
    uint64_t fired;      /* times since then */
    /* Of the last firing, be it of an older version; INT64_MIN: never. */
    int64_t last_due_ms;   /* the instant that was due */
    int64_t last_fired_ms; /* the engine's time then */
};

/* RESULT_INVALID with a static phrase in *reason. */
MUST_USE enum result engine_schedule_read(enum engine_timer_kind kind, struct span text,
                                          struct engine_schedule *out, const char **reason);
/* A macro, a zone, or five to seven fields, as cron and Quartz write them: "0/5 0/1 * 1/1 * ?". */
bool engine_schedule_looks_like_cron(struct span text);

/*
 * The instant that is to be served next; it may lie in the past: then it is due at once. A function
 * of what was stored alone, so it is the same before a crash and after it. What was missed while
 * nobody looked is one firing: the next instant lies behind the time of the last. false: none any
 * more.
 */
bool engine_schedule_due(const struct engine_schedule *schedule, const struct engine_zone *zone,
                         const struct engine_schedule_past *past, int64_t *due_ms);

#endif
