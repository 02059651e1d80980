/*
 * numbering.h: fresh ids for what a file gives none, past every id that is there (S3: "advance
 * nextNodeId past all existing IDs to prevent collisions").
 */
#ifndef ENGINE_READ_NUMBERING_H
#define ENGINE_READ_NUMBERING_H

#include "proto/base/arena.h"
#include "proto/base/span.h"

struct numbering {
    uint64_t next; /* greater than the number behind every id that was met; begin with 1 */
};

/* Numbers over 2^53 are no counter's, so they are passed over. */
void engine_numbering_meet(struct numbering *numbering, struct span id);
/* "edge_17", in the arena. */
struct span engine_numbering_make(struct numbering *numbering, const char *prefix,
                                  struct arena *arena);

#endif
