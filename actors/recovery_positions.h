/*
 * recovery_positions.h: the part of recovery that finds where each drain goes on.
 */
#ifndef ACTORS_RECOVERY_POSITIONS_H
#define ACTORS_RECOVERY_POSITIONS_H

#include "actors/recovery.h"

/* Places in the journal, before which each store has all, durably. RESULT_IO, RESULT_CORRUPT: a
 * store could not be read. */
MUST_USE enum result actor_recover_positions(const struct actor_recovery_options *options,
                                             struct actor_positions *positions);

#endif
