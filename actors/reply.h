/*
 * reply.h: the replies of interfaces.md 2, built as messages. The envelope is {"v":1,"ok":…}.
 */
#ifndef ACTORS_REPLY_H
#define ACTORS_REPLY_H

#include "proto/base/arena.h"
#include "proto/message.h"
#include "proto/wire/writer.h"

/* A refusal. Only `error` must be set. */
struct actor_refusal {
    enum proto_error error;
    struct span message;      /* a sentence for a person */
    struct span details;      /* MAP value, or empty */
    struct span execution_id; /* which execution it is about, or empty */
};

/* Begins {"v":1,"ok":true, … and leaves the map open: *pairs counts what is in it. */
size_t actor_reply_open(struct wire_writer *writer, uint32_t *pairs);
/* Ends it; the body lives in the writer's arena, empty when that overflowed. */
struct span actor_reply_close(struct wire_writer *writer, size_t mark, uint32_t pairs);
/* The body of a refusal, in the arena. */
struct span actor_reply_refusal(struct arena *arena, const struct actor_refusal *refusal);

/* A PROTO_REPLY with a copy of the body; NULL: no memory. */
struct proto_message *actor_reply_new(enum proto_spelling spelling, bool ok, struct span body);
/* Answers a request (not freed here) with a refusal, at once. */
void actor_reply_refuse(const struct proto_message *request, struct arena *arena,
                        const struct actor_refusal *refusal);
/* The same with a fixed text. */
void actor_reply_refuse_text(const struct proto_message *request, struct arena *arena,
                             enum proto_error error, const char *message);

#endif
