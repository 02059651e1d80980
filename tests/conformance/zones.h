/*
 * zones.h: names for an evaluation that knows the time zones of this system and a fixed clock, and
 * no name at all. One evaluation.
 */
#ifndef TESTS_CONFORMANCE_ZONES_H
#define TESTS_CONFORMANCE_ZONES_H

#include <stdio.h>

#include "engine/expression/expression.h"
#include "engine/time/zone.h"

#define ZONES_FOLDER     "/usr/share/zoneinfo"
#define ZONES_CLOCK_MS   1709210096789 /* 2024-02-29T12:34:56.789Z */
#define ZONES_FILE_BYTES (64u << 10)

struct zone_names {
    struct engine_names names;
};

static struct span zone_names_find(const struct engine_names *names, struct span name)
{
    (void)names;
    (void)name;
    return SPAN_EMPTY;
}

static bool zone_names_clock(const struct engine_names *names, int64_t *unix_ms)
{
    (void)names;
    *unix_ms = ZONES_CLOCK_MS;
    return true;
}

static const struct engine_zone *zone_names_zone(const struct engine_names *names, struct span name,
                                                 struct arena *arena)
{
    char path[256];
    const char *reason;
    struct engine_zone *zone = arena_alloc(arena, sizeof *zone);
    uint8_t *bytes = arena_alloc(arena, ZONES_FILE_BYTES);
    (void)names;
    if (!engine_zone_name_is_valid(name) || zone == NULL || bytes == NULL) {
        return NULL;
    }
    (void)snprintf(path, sizeof path, ZONES_FOLDER "/%.*s", SPAN_ARG(name));
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return NULL;
    }
    size_t count = fread(bytes, 1, ZONES_FILE_BYTES, stream);
    fclose(stream);
    return engine_zone_parse(span_of(bytes, count), arena, zone, &reason) == RESULT_OK ? zone
                                                                                       : NULL;
}

static inline void zone_names_init(struct zone_names *names)
{
    names->names = (struct engine_names){
        .find = zone_names_find, .zone = zone_names_zone, .clock = zone_names_clock};
}

#endif
