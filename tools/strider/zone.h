/*
 * zone.h: time zones by name from the system's zone database (package tzdata): the I/O that
 * engine/time/zone.h leaves to its caller.
 */
#ifndef TOOLS_STRIDER_ZONE_H
#define TOOLS_STRIDER_ZONE_H

#include "engine/time/zone.h"

/*
 * The zone of an IANA name ("Europe/London"; "UTC" needs no file), its table in the arena. On
 * failure `problem` is a sentence. Errors: RESULT_NOT_FOUND no such zone, or no zone database on
 * this system; RESULT_INVALID the file is no zone; RESULT_IO; RESULT_LIMIT the arena is full.
 */
MUST_USE enum result cli_zone_load(struct span name, struct arena *arena, struct engine_zone *out,
                                   char problem[512]);

/* The same without a reason, and as a zone in the arena or NULL. Any thread. */
MUST_USE enum result cli_zone_read(struct span name, struct arena *arena, struct engine_zone *out);
const struct engine_zone *cli_zone_find(struct span name, struct arena *arena);

#endif
