/*
 * saves.h: blobs that a reply waits for (PROTO_AWAIT) go ahead of the blob drain: the newest
 * version that the journal has is put on its own, before others' uploads. What was stored so is
 * remembered until the drain has passed it, so that the drain puts neither it nor an older version
 * over it. Belongs to the storage thread.
 */
#ifndef ACTORS_DRAIN_SAVES_H
#define ACTORS_DRAIN_SAVES_H

#include "actors/counters.h"
#include "actors/drain/pending.h"
#include "proto/message.h"
#include "storage/blob.h"

struct actor_saves;

enum actor_saved {
    ACTOR_SAVED_NOT,       /* the drain stores it */
    ACTOR_SAVED_UNDER_WAY, /* the drain waits, lest the older bytes come last */
    ACTOR_SAVED_STORED,    /* as new, or newer: the drain leaves it out */
};

struct actor_saves_counters {
    actor_counter stored; /* ahead of the drain */
};

MUST_USE enum result actor_saves_new(struct storage_blob *blob, struct proto_sink *self,
                                     struct actor_pending *pending, struct actor_saves **out);
/* The port has answered everything, or is closed. Nobody is answered. */
void actor_saves_free(struct actor_saves *saves);
/* Takes a PROTO_AWAIT whose position the drain has not passed, and answers it in its time. false:
 * not now, it is still the caller's; `pending` has been read up to its position. */
bool actor_saves_take(struct actor_saves *saves, struct proto_message *await);
/* Is the port's answer for one of them? */
bool actor_saves_has(const struct actor_saves *saves, const struct proto_message *done);
/* It is: whoever waits is answered. The message stays the caller's. */
void actor_saves_done(struct actor_saves *saves, const struct proto_message *done);
/* Whoever has waited since then, or longer, is answered RESULT_TIMEOUT; the saves go on. */
void actor_saves_give_up(struct actor_saves *saves, uint64_t since_ms);
/* Since when the oldest has waited; UINT64_MAX: nobody waits. */
uint64_t actor_saves_since_ms(const struct actor_saves *saves);
/* The drain has stored all before this. */
void actor_saves_passed(struct actor_saves *saves, uint64_t stored);
/* What the drain does with the version of this blob that lies before position `version`. */
enum actor_saved actor_saves_look(const struct actor_saves *saves, struct span name,
                                  uint64_t version);
/* Is one on its way whose name begins so? */
bool actor_saves_under(const struct actor_saves *saves, struct span prefix);
const struct actor_saves_counters *actor_saves_counters(const struct actor_saves *saves);

#endif
