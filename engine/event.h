/*
 * event.h: what happened in an execution, as data. engine_decide makes events, engine_apply is the
 * only one to act on them, the journal keeps them. An event holds every choice that was made (ids,
 * times, results), so applying needs no deciding.
 *
 * One flat struct for all kinds: each kind uses the fields it needs and leaves the rest zero;
 * engine/event.c encodes only those that are not. kinds.def's neighbour engine/event.def lists the
 * kinds.
 */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdint.h>

#include "proto/base/span.h"

/* ENGINE_EVENT(SYMBOL, "trace name") in engine/event.def; the numbers are stored, so new kinds go
 * at the end. */
enum engine_event_type {
    ENGINE_EVENT_NONE = 0,
#define ENGINE_EVENT(symbol, trace) ENGINE_EVENT_##symbol,
#include "engine/event.def"
#undef ENGINE_EVENT
    ENGINE_EVENT_TYPE_COUNT
};

struct engine_event {
    enum engine_event_type type;
    uint32_t token;    /* whom it is about */
    uint32_t scope;    /* scope instance */
    uint32_t node;     /* node index in the scope's process */
    uint32_t flow;     /* flow index */
    uint32_t other;    /* a second token, scope or node: kind-specific */
    uint32_t count;    /* attempt, path length, loop counter …: kind-specific */
    uint32_t flags;    /* wait kind, state bits, error code …: kind-specific */
    int64_t at_ms;     /* when, or a due time */
    struct span text;  /* id, code or name */
    struct span value; /* MessagePack value(s) */
    struct span more;  /* a second value */
};

/* "entered", "waits": for traces. */
const char *engine_event_name(enum engine_event_type type);

#endif
