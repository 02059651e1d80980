/*
 * pending.h: which blobs the journal has and the blob tier does not have yet, so that a reader is
 * answered from the journal and waits for no drain. A reader of its own runs ahead of the blob
 * drain and notes where in the journal the newest version of each name is; what the drain has
 * passed is forgotten. Belongs to the storage thread.
 */
#ifndef ACTORS_DRAIN_PENDING_H
#define ACTORS_DRAIN_PENDING_H

#include "proto/base/arena.h"
#include "proto/base/id.h"
#include "proto/base/result.h"
#include "proto/base/span.h"
#include "storage/journal.h"

struct actor_pending;

struct actor_pending_options {
    struct storage_journal *log;
    uint64_t position;  /* the blob drain begins there */
    uint32_t names_max; /* a power of two: places of the table, of which half are used. Names beyond
                           them are not known, and whoever asks is told so */
};

/* One blob's name in its parts, as the records have them. */
struct actor_blob_id {
    struct span workspace;
    struct span execution_id;
    struct span name; /* the step's id, or "execution" */
};

/* Of an execution's own blob. */
static inline struct actor_blob_id actor_blob_id_of(struct span workspace,
                                                    const struct execution_id *id)
{
    return (struct actor_blob_id){workspace, execution_id_span(id), span_text("execution")};
}

enum actor_pending_found {
    ACTOR_PENDING_NOTHING, /* the tier has the newest */
    ACTOR_PENDING_BYTES,   /* these are the newest */
    ACTOR_PENDING_GONE,    /* deleted since, though the tier may have it yet */
    ACTOR_PENDING_UNKNOWN, /* only when the drain has passed all that was asked for */
};

MUST_USE enum result actor_pending_new(const struct actor_pending_options *options,
                                       struct actor_pending **out);
void actor_pending_free(struct actor_pending *pending);
/* The drain has stored all before this. */
void actor_pending_passed(struct actor_pending *pending, uint64_t stored);
/* Reads on, at most about so many bytes. true: there is more. */
bool actor_pending_read(struct actor_pending *pending, uint64_t bytes_max);
/* Everything before this has been entered, or stored. */
uint64_t actor_pending_known(const struct actor_pending *pending);
/*
 * The newest that the journal has of a blob, as far as it has been read. BYTES: *bytes in the arena
 * (empty and UNKNOWN where that is full), *version the position behind the batch that holds it.
 */
enum actor_pending_found actor_pending_find(struct actor_pending *pending,
                                            const struct actor_blob_id *id, struct arena *arena,
                                            struct span *bytes, uint64_t *version);
/* Is a deletion of this execution still before the drain? Then its blobs must go in order. */
bool actor_pending_forgotten(const struct actor_pending *pending, const struct actor_blob_id *id);

#endif
