/*
 * io.h: the actor that hands module calls to the dispatcher on its loop. It has no state but what
 * the dispatcher did not take: that waits here, in order.
 */
#ifndef ACTORS_IO_H
#define ACTORS_IO_H

#include "actors/clock.h"
#include "proto/message.h"

struct actor_io;

MUST_USE enum result actor_io_new(struct actor_io **out);
void actor_io_free(struct actor_io *io);
/* Before the first turn. NULL: every call is answered as unreachable. */
void actor_io_set_modules(struct actor_io *io, struct proto_sink *modules);
/* An actor_turn_fn: PROTO_CALL, PROTO_CALL_CANCEL. */
uint64_t actor_io_turn(void *io, struct proto_message *batch, struct actor_time now);

#endif
