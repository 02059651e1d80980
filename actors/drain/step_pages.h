/*
 * step_pages.h: reading step blobs for replay: a page of them at a time, some at once, in the order
 * asked for. Lives on the storage thread; tickets of its requests of the blob port are addresses of
 * its own, so their answers are told from others'.
 */
#ifndef ACTORS_DRAIN_STEP_PAGES_H
#define ACTORS_DRAIN_STEP_PAGES_H

#include "actors/drain/pending.h"
#include "proto/message.h"
#include "storage/blob.h"

struct actor_step_page;

/* Zeroed but for blob, self and pending: none under way. */
struct actor_step_pages {
    struct storage_blob *blob;
    struct proto_sink *self;       /* answers of the port come back here */
    struct actor_pending *pending; /* is looked at first; NULL: the port has them all */
    struct actor_step_page *first;
};

/* Takes a PROTO_FETCH of steps (proto/message.h), and answers it in its time. */
void actor_step_pages_fetch(struct actor_step_pages *pages, struct proto_message *fetch);
/* true: the port's answer was for one of them, and has been taken. */
bool actor_step_pages_take(struct actor_step_pages *pages, struct proto_message *done);
/* Forgets all; nobody is answered. */
void actor_step_pages_release(struct actor_step_pages *pages);

#endif
