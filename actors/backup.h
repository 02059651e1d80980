/*
 * backup.h: the actor that copies a running engine (storage/backup.h), one backup at a time, on a
 * thread of its own, as it blocks on the disk.
 */
#ifndef ACTORS_BACKUP_H
#define ACTORS_BACKUP_H

#include "actors/clock.h"
#include "actors/counters.h"
#include "proto/message.h"
#include "storage/backup.h"

struct actor_backup;

struct actor_backup_options {
    struct storage_backup *port;
    struct proto_sink *self;
    struct proto_sink *journal; /* told to trim nothing meanwhile */
    struct proto_sink *storage; /* told to copy its tables */
};

MUST_USE enum result actor_backup_new(const struct actor_backup_options *options,
                                      struct actor_backup **out);
void actor_backup_free(struct actor_backup *backup);
/* An actor_turn_fn: PROTO_REQUEST backup, PROTO_DONE. */
uint64_t actor_backup_turn(void *backup, struct proto_message *batch, struct actor_time now);

#endif
