/*
 * zone.c: see zone.h.
 */
#include "tools/strider/zone.h"

#include <stdio.h>

#include "tools/strider/input.h"

/* POSIX says nothing of where zones are; every Linux distribution has them here. */
#define ZONE_FOLDER    "/usr/share/zoneinfo"
#define ZONE_BYTES_MAX (1u << 20)

enum result cli_zone_load(struct span name, struct arena *arena, struct engine_zone *out,
                          char problem[512])
{
    char path[sizeof ZONE_FOLDER + 128];
    struct span content;
    const char *reason;
    if (!engine_zone_name_is_valid(name)) {
        (void)snprintf(problem, 512, "\"%.*s\" is no name of a time zone",
                       name.count < 64 ? (int)name.count : 64, (const char *)name.bytes);
        return RESULT_NOT_FOUND;
    }
    if (span_is(name, "UTC")) {
        *out = engine_zone_utc;
        return RESULT_OK;
    }
    (void)snprintf(path, sizeof path, ZONE_FOLDER "/%.*s", SPAN_ARG(name));
    enum result result = cli_read_file(path, ZONE_BYTES_MAX, arena, &content, problem);
    if (result != RESULT_OK) {
        return result;
    }
    result = engine_zone_parse(content, arena, out, &reason);
    if (result != RESULT_OK) {
        (void)snprintf(problem, 512, "%s: %s", path, reason);
    }
    return result;
}

enum result cli_zone_read(struct span name, struct arena *arena, struct engine_zone *out)
{
    char problem[512];
    return cli_zone_load(name, arena, out, problem);
}

const struct engine_zone *cli_zone_find(struct span name, struct arena *arena)
{
    struct engine_zone *zone = arena_alloc(arena, sizeof *zone);
    return zone != NULL && cli_zone_read(name, arena, zone) == RESULT_OK ? zone : NULL;
}
