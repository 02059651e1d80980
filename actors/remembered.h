/*
 * remembered.h: what makes a requestId idempotent for 10 minutes (interfaces.md 2): one table of
 * remembered requests.
 *
 * A request is in flight until its first reply; repeats attach to it. Then its reply is kept, the
 * newest LIMIT_REQUESTS_REMEMBERED of them. Key: (workspaceId, requestId). Not thread-safe: one
 * actor's.
 */
#ifndef ACTORS_REMEMBERED_H
#define ACTORS_REMEMBERED_H

#include "actors/queue.h"
#include "actors/table.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct actor_remembered {
    struct actor_link link;
    struct actor_remembered *older, *newer; /* among the replied ones */
    uint64_t body_hash;
    uint64_t expires_ms; /* monotonic */
    int64_t at_ms;       /* Unix: when it came */
    uint64_t commit;     /* the reply may leave when this commit is durable */
    struct actor_queue
        attached; /* repeats that came in flight: the PROTO_REQUEST messages themselves */
    bool replied;
    bool recorded;     /* the journal knows of it */
    struct span reply; /* MAP value, own memory; valid when replied */
    uint32_t workspace_bytes;
    uint32_t key_bytes;
    uint8_t key[]; /* workspaceId NUL requestId */
};

struct actor_remembered_table {
    /* private to remembered.c */
    struct actor_table table;
    struct actor_remembered *oldest;
    struct actor_remembered *newest;
    uint32_t replied_count;
    uint32_t replied_max;
};

void actor_remembered_init(struct actor_remembered_table *requests, uint32_t replied_max);
/* Frees everything, attached messages included. */
void actor_remembered_release(struct actor_remembered_table *requests);

/* NULL when not remembered. */
struct actor_remembered *actor_remembered_find(struct actor_remembered_table *requests,
                                               struct span workspace, struct span request_id);
/* A new one in flight; it must not be remembered yet. NULL: no memory. */
struct actor_remembered *actor_remembered_add(struct actor_remembered_table *requests,
                                              struct span workspace, struct span request_id,
                                              uint64_t body_hash, int64_t at_ms);
/* The first reply, copied: from now on it is forgotten at expires_ms. RESULT_LIMIT: no memory, and
 * it is in flight still. */
MUST_USE enum result actor_remembered_reply(struct actor_remembered_table *requests,
                                            struct actor_remembered *remembered, struct span reply,
                                            uint64_t expires_ms);
/* One that came to nothing (it was refused): as if it had never come. Attached must be empty. */
void actor_remembered_drop(struct actor_remembered_table *requests,
                           struct actor_remembered *remembered);
/* Forgets what has expired. */
void actor_remembered_expire(struct actor_remembered_table *requests, uint64_t now_ms);
/* monotonic ms of the next expiry, UINT64_MAX: none */
uint64_t actor_remembered_next_ms(const struct actor_remembered_table *requests);

static inline struct span actor_remembered_workspace(const struct actor_remembered *remembered)
{
    return span_of(remembered->key, remembered->workspace_bytes);
}

static inline struct span actor_remembered_request_id(const struct actor_remembered *remembered)
{
    return span_of(remembered->key + remembered->workspace_bytes + 1,
                   remembered->key_bytes - remembered->workspace_bytes - 1);
}

#endif
