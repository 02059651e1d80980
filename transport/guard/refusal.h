/*
 * refusal.h: the reply that says no: {"v":1,"ok":false,"error":{"code","message"}}. Shared by front
 * and admin.
 */
#ifndef TRANSPORT_GUARD_REFUSAL_H
#define TRANSPORT_GUARD_REFUSAL_H

#include "proto/base/arena.h"
#include "proto/operation.h"

/* `message` is UTF-8 for a person. The value lives in the arena; empty when the arena is full. */
struct span transport_refusal(struct arena *arena, enum proto_error code, const char *message);
/* The error code named in a reply ({"ok":false,"error":{"code":…}}); PROTO_ERROR_NONE when it is ok
 * or names none. */
enum proto_error transport_error_of_reply(struct span reply);

#endif
