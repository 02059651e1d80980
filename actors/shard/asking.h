/*
 * asking.h: one request on its way through a shard: what it says, and the ways it can end. Exactly
 * one of these ends it: it is refused, concluded, left to wait for its segment's end, or taken by a
 * lookup that brings it back.
 */
#ifndef ACTORS_SHARD_ASKING_H
#define ACTORS_SHARD_ASKING_H

#include "actors/request.h"
#include "actors/shard/state.h"
#include "proto/wire/reader.h"

struct asking {
    struct proto_message *message; /* NULL once it has ended */
    enum proto_operation operation;
    struct execution_id id;
    struct actor_request fields;
    struct actor_remembered *remembered; /* NULL: no requestId */
    struct actor_lookup *lookup;         /* what a fetch has found, or NULL */
};

static inline struct span asking_field(const struct asking *asking, enum actor_field field)
{
    return asking->fields.at[field];
}

static inline struct span asking_text(const struct asking *asking, enum actor_field field,
                                      const char *fallback)
{
    return actor_request_text(&asking->fields, field, fallback);
}

static inline bool asking_wants_accepted(const struct asking *asking)
{
    return span_is(asking_text(asking, ACTOR_FIELD_WAIT, ""), "accepted");
}

/* The message is done with: whoever asked has been answered, or will be as a waiter. */
void asking_done(struct asking *asking);
void asking_refuse(struct actor_shard *shard, struct asking *asking,
                   const struct actor_refusal *refusal, struct actor_work *work);
void asking_refuse_text(struct actor_shard *shard, struct asking *asking, enum proto_error error,
                        const char *message);
/* Any result of shard_locate but LIVE and PENDING. */
void asking_refuse_located(struct actor_shard *shard, struct asking *asking,
                           enum shard_located located);
/* The execution that is asked for, where it lives. NULL: refused, or it will be asked again. */
struct actor_work *asking_find(struct actor_shard *shard, struct asking *asking);
/* With what the engine said when it refused the work's input. */
void asking_refuse_accept(struct actor_shard *shard, struct asking *asking,
                          struct actor_work *work);
/* With the work's state as it is. */
void asking_conclude(struct actor_shard *shard, struct asking *asking, struct actor_work *work);
/* Waits for the segment's end: begun before the input, so that whatever ends it answers. NULL:
 * refused. */
struct actor_waiter *asking_wait(struct actor_shard *shard, struct asking *asking,
                                 struct actor_work *work);
/*
 * One input for the request: its caller waits for the segment's end, or (at_once) is told the state
 * right after it. RESULT_OK: ended well. RESULT_LIMIT: the work is broken, and who waits is
 * answered when it is set aside. RESULT_AGAIN: refused for want of room. Else the engine refused,
 * nobody waits, and the request is still here.
 */
enum result asking_submit(struct actor_shard *shard, struct asking *asking, struct actor_work *work,
                          const struct engine_input *input, bool at_once);

/* ---- start.c, look.c, steps.c, deliver.c, hook.c: the operations with a file of their own ---- */
void asking_start(struct actor_shard *shard, struct asking *asking);
void asking_publish(struct actor_shard *shard, struct asking *asking); /* message, signal */
void asking_get(struct actor_shard *shard, struct asking *asking);
void asking_steps(struct actor_shard *shard, struct asking *asking);
void asking_hook(struct actor_shard *shard, struct asking *asking);

#endif
