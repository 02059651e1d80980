/*
 * support.c: three tables and the way to read them.
 */
#include "engine/read/support.h"

#include <stdio.h>

#include "engine/read/event.h"
#include "proto/base/assert.h"

/* The zero value is SUPPORT_NONE: a cell left out is something that BPMN 2.0.2 does not have
 * (tables 10.88 to 10.90). */
static const uint8_t kinds[ENGINE_KIND_COUNT] = {
    [ENGINE_START_EVENT] = SUPPORT_FULL, /* events: see below */
    [ENGINE_END_EVENT] = SUPPORT_FULL,
    [ENGINE_INTERMEDIATE_CATCH_EVENT] = SUPPORT_FULL,
    [ENGINE_INTERMEDIATE_THROW_EVENT] = SUPPORT_FULL,
    [ENGINE_BOUNDARY_EVENT] = SUPPORT_FULL,
    [ENGINE_TASK] = SUPPORT_FULL,
    [ENGINE_SERVICE_TASK] = SUPPORT_FULL,
    [ENGINE_SEND_TASK] = SUPPORT_FULL,
    [ENGINE_RECEIVE_TASK] = SUPPORT_FULL,
    [ENGINE_USER_TASK] = SUPPORT_FULL,
    [ENGINE_MANUAL_TASK] = SUPPORT_FULL,
    [ENGINE_SCRIPT_TASK] = SUPPORT_FULL,
    [ENGINE_BUSINESS_RULE_TASK] = SUPPORT_FULL,
    [ENGINE_EXCLUSIVE_GATEWAY] = SUPPORT_FULL,
    [ENGINE_PARALLEL_GATEWAY] = SUPPORT_FULL,
    [ENGINE_INCLUSIVE_GATEWAY] = SUPPORT_FULL,
    [ENGINE_COMPLEX_GATEWAY] = SUPPORT_FULL,
    [ENGINE_EVENT_GATEWAY] = SUPPORT_FULL,
    [ENGINE_SUB_PROCESS] = SUPPORT_FULL,
    [ENGINE_TRANSACTION] = SUPPORT_FULL,
    [ENGINE_AD_HOC_SUB_PROCESS] = SUPPORT_FULL,
    [ENGINE_CALL_ACTIVITY] = SUPPORT_FULL,
};

static const uint8_t events[SUPPORT_PLACE_COUNT][ENGINE_EVENT_KIND_COUNT] = {
    [SUPPORT_START] =
        {
            [ENGINE_ON_NONE] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_TIMER] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_CONDITION] = SUPPORT_BY_HAND,
        },
    [SUPPORT_SUB_PROCESS_START] =
        {
            [ENGINE_ON_NONE] = SUPPORT_FULL,
        },
    [SUPPORT_EVENT_PROCESS_START] =
        {
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_TIMER] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_ERROR] = SUPPORT_FULL,
            [ENGINE_ON_ESCALATION] = SUPPORT_FULL,
            [ENGINE_ON_COMPENSATION] = SUPPORT_FULL,
            [ENGINE_ON_CONDITION] = SUPPORT_FULL,
        },
    [SUPPORT_CATCH] =
        {
            [ENGINE_ON_TIMER] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_CONDITION] = SUPPORT_FULL,
            [ENGINE_ON_LINK] = SUPPORT_FULL,
        },
    [SUPPORT_THROW] =
        {
            [ENGINE_ON_NONE] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_ESCALATION] = SUPPORT_FULL,
            [ENGINE_ON_COMPENSATION] = SUPPORT_FULL,
            [ENGINE_ON_LINK] = SUPPORT_FULL,
        },
    [SUPPORT_BOUNDARY] =
        {
            [ENGINE_ON_TIMER] = SUPPORT_FULL,
            [ENGINE_ON_ERROR] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_ESCALATION] = SUPPORT_FULL,
            [ENGINE_ON_COMPENSATION] = SUPPORT_FULL,
            [ENGINE_ON_CONDITION] = SUPPORT_FULL,
            [ENGINE_ON_CANCEL] = SUPPORT_FULL,
        },
    [SUPPORT_BOUNDARY_BESIDE] =
        {
            [ENGINE_ON_TIMER] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_ESCALATION] = SUPPORT_FULL,
            [ENGINE_ON_CONDITION] = SUPPORT_FULL,
            /* cancelActivity means nothing to it: a handler runs after its activity has completed
             */
            [ENGINE_ON_COMPENSATION] = SUPPORT_FULL,
        },
    [SUPPORT_END] =
        {
            [ENGINE_ON_NONE] = SUPPORT_FULL,
            [ENGINE_ON_ERROR] = SUPPORT_FULL,
            [ENGINE_ON_TERMINATE] = SUPPORT_FULL,
            [ENGINE_ON_MESSAGE] = SUPPORT_FULL,
            [ENGINE_ON_SIGNAL] = SUPPORT_FULL,
            [ENGINE_ON_ESCALATION] = SUPPORT_FULL,
            [ENGINE_ON_COMPENSATION] = SUPPORT_FULL,
            [ENGINE_ON_CANCEL] = SUPPORT_FULL,
        },
};

static const struct {
    enum support support;
    const char *what;
} markers[SUPPORT_MARKER_COUNT] = {
    [SUPPORT_STANDARD_LOOP] = {SUPPORT_FULL, "a standard loop"},
    [SUPPORT_PARALLEL_INSTANCES] = {SUPPORT_FULL, "a parallel multi-instance activity"},
    [SUPPORT_SEQUENTIAL_INSTANCES] = {SUPPORT_FULL, "a sequential multi-instance activity"},
    [SUPPORT_COMPENSATION_HANDLER] = {SUPPORT_FULL, "a compensation handler"},
    [SUPPORT_EVENT_SUB_PROCESS] = {SUPPORT_FULL, "an event sub-process"},
    [SUPPORT_INSTANTIATING] = {SUPPORT_FULL, "instantiate=\"true\""},
    [SUPPORT_SEVERAL_TRIGGERS] = {SUPPORT_FULL, "an event with several triggers"},
    [SUPPORT_BLOCK_JOIN] = {SUPPORT_FULL, "a block that waits for several faces"},
    [SUPPORT_BLOCK_RESULT] = {SUPPORT_FULL, "a block whose result selects its faces"},
};

/* "a <before><event> <after>" */
static const struct {
    const char *before;
    const char *after;
} places[SUPPORT_PLACE_COUNT] = {
    [SUPPORT_START] = {"", "start event"},
    [SUPPORT_SUB_PROCESS_START] = {"", "start event of a sub-process"},
    [SUPPORT_EVENT_PROCESS_START] = {"", "start event of an event sub-process"},
    [SUPPORT_CATCH] = {"", "catch event"},
    [SUPPORT_THROW] = {"", "throw event"},
    [SUPPORT_BOUNDARY] = {"", "boundary event"},
    [SUPPORT_BOUNDARY_BESIDE] = {"non-interrupting ", "boundary event"},
    [SUPPORT_END] = {"", "end event"},
};

static const char *article(const char *word)
{
    return strchr("aeiou", word[0]) != NULL ? "an" : "a";
}

enum support engine_support_kind(enum engine_kind kind)
{
    ASSERT(kind < ENGINE_KIND_COUNT);
    return kinds[kind];
}

enum support engine_support_event(enum support_place place, enum engine_event_kind event)
{
    ASSERT(place < SUPPORT_PLACE_COUNT && event < ENGINE_EVENT_KIND_COUNT);
    return events[place][event];
}

enum support engine_support_marker(enum support_marker marker)
{
    ASSERT(marker < SUPPORT_MARKER_COUNT);
    return markers[marker].support;
}

const char *engine_support_marker_name(enum support_marker marker)
{
    ASSERT(marker < SUPPORT_MARKER_COUNT);
    return markers[marker].what;
}

const char *engine_support_place_name(enum support_place place)
{
    ASSERT(place < SUPPORT_PLACE_COUNT);
    return place == SUPPORT_BOUNDARY_BESIDE ? "non-interrupting boundary event"
                                            : places[place].after;
}

static enum support_place start_place(const struct engine_process *process,
                                      const struct engine_node *node)
{
    if (node->scope == ENGINE_NONE) {
        return SUPPORT_START;
    }
    return process->nodes[node->scope].triggered_by_event ? SUPPORT_EVENT_PROCESS_START
                                                          : SUPPORT_SUB_PROCESS_START;
}

static enum support_place place_of(const struct engine_process *process,
                                   const struct engine_node *node)
{
    ASSERT(engine_event_is(node->kind));
    if (node->kind == ENGINE_START_EVENT) {
        return start_place(process, node);
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        return node->interrupting ? SUPPORT_BOUNDARY : SUPPORT_BOUNDARY_BESIDE;
    }
    return node->kind == ENGINE_END_EVENT                  ? SUPPORT_END
           : node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT ? SUPPORT_CATCH
                                                           : SUPPORT_THROW;
}

static void lower(struct support_verdict *verdict, enum support support, const char *what)
{
    if (support < verdict->support) {
        verdict->support = support;
        verdict->what = what;
    }
}

/*
 * Why the event cannot have these triggers together; NULL: it can. A link joins two ends of a path,
 * and a compensation is no moment that one could wait for beside others; a thrown one takes its
 * time, so one event does it once.
 */
static const char *clash(const struct engine_node *node)
{
    uint32_t counts[ENGINE_EVENT_KIND_COUNT] = {0};
    bool catches = node->kind != ENGINE_END_EVENT && node->kind != ENGINE_INTERMEDIATE_THROW_EVENT;
    for (uint32_t i = 0; i < node->event_count; i++) {
        counts[node->events[i].kind]++;
    }
    uint32_t thrown =
        counts[ENGINE_ON_ERROR] + counts[ENGINE_ON_ESCALATION] + counts[ENGINE_ON_CANCEL];
    uint32_t undoing = counts[ENGINE_ON_COMPENSATION] + counts[ENGINE_ON_CANCEL];
    if (node->event_count < 2) {
        return NULL;
    }
    if (counts[ENGINE_ON_LINK] > 0) {
        return "a link beside other triggers";
    }
    if (catches && counts[ENGINE_ON_COMPENSATION] > 0) {
        return "a compensation beside other triggers";
    }
    if (catches && node->parallel_multiple && thrown > 0) {
        return "a parallel multiple event with an error, escalation or cancel";
    }
    return !catches && undoing > 1 ? "an event that compensates more than once" : NULL;
}

static void judge_event(const struct engine_process *process, const struct engine_node *node,
                        struct support_verdict *out)
{
    enum support_place place = place_of(process, node);
    enum engine_event_kind event = node->event_count == 0 ? ENGINE_ON_NONE : node->events[0].kind;
    enum support support = events[place][event];
    for (uint32_t i = 1; i < node->event_count; i++) {
        if (events[place][node->events[i].kind] < support) {
            event = node->events[i].kind;
            support = events[place][event];
        }
    }
    if (support < out->support) {
        const char *name = engine_event_kind_name(event);
        const char *before = places[place].before;
        (void)snprintf(out->text, sizeof out->text, "%s %s%s %s",
                       article(before[0] == '\0' ? name : before), before, name,
                       places[place].after);
        lower(out, support, out->text);
    }
    const char *refused = clash(node);
    if (refused != NULL) {
        lower(out, SUPPORT_LATER, refused);
    }
    if (node->event_count > 1 && place == SUPPORT_START && node->parallel_multiple) {
        lower(out, SUPPORT_LATER, "a start event that waits for all of its triggers");
    }
    if (node->event_count > 1 && place != SUPPORT_START) {
        lower(out, markers[SUPPORT_SEVERAL_TRIGGERS].support,
              markers[SUPPORT_SEVERAL_TRIGGERS].what);
    }
}

static bool selects_faces(const struct engine_process *process, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        if (process->flows[node->outgoing.at[i]].result.count > 0) {
            return node->kind != ENGINE_START_EVENT;
        }
    }
    return false;
}

static void judge_markers(const struct engine_process *process, const struct engine_node *node,
                          struct support_verdict *out)
{
    const bool present[SUPPORT_MARKER_COUNT] = {
        [SUPPORT_STANDARD_LOOP] = node->loop.kind == ENGINE_LOOP_STANDARD,
        [SUPPORT_PARALLEL_INSTANCES] = node->loop.kind == ENGINE_LOOP_PARALLEL,
        [SUPPORT_SEQUENTIAL_INSTANCES] = node->loop.kind == ENGINE_LOOP_SEQUENTIAL,
        [SUPPORT_COMPENSATION_HANDLER] = node->for_compensation,
        [SUPPORT_EVENT_SUB_PROCESS] = node->triggered_by_event,
        [SUPPORT_INSTANTIATING] = node->instantiate,
        [SUPPORT_BLOCK_JOIN] = engine_node_joins(process, node),
        [SUPPORT_BLOCK_RESULT] = selects_faces(process, node),
    };
    for (size_t i = 0; i < SUPPORT_MARKER_COUNT; i++) {
        if (present[i]) {
            lower(out, markers[i].support, markers[i].what);
        }
    }
}

void engine_support_judge(const struct engine_process *process, const struct engine_node *node,
                          struct support_verdict *out)
{
    out->support = kinds[node->kind];
    out->what = engine_kind_trace_name(node->kind);
    if (out->support < SUPPORT_FULL) {
        (void)snprintf(out->text, sizeof out->text, "%s %s", article(out->what), out->what);
        out->what = out->text;
    }
    if (engine_event_is(node->kind)) {
        judge_event(process, node, out);
    }
    judge_markers(process, node, out);
}
