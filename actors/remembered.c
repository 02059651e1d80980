/*
 * remembered.c: a hash table, and the replied ones in the order of their replies, which is the
 * order of their expiry.
 */
#include "actors/remembered.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"

static uint64_t hash_of(struct span workspace, struct span request_id)
{
    return base_hash(request_id, base_hash(workspace, 1));
}

void actor_remembered_init(struct actor_remembered_table *requests, uint32_t replied_max)
{
    ASSERT(replied_max > 0);
    *requests = (struct actor_remembered_table){.replied_max = replied_max};
    actor_table_init(&requests->table);
}

static void free_remembered(struct actor_remembered *remembered)
{
    actor_queue_clear(&remembered->attached);
    free((void *)remembered->reply.bytes);
    free(remembered);
}

static void forget(struct actor_remembered_table *requests, struct actor_remembered *remembered)
{
    actor_table_remove(&requests->table, &remembered->link);
    free_remembered(remembered);
}

static void forget_replied(struct actor_remembered_table *requests,
                           struct actor_remembered *remembered)
{
    ASSERT(remembered->replied);
    *(remembered->older == NULL ? &requests->oldest : &remembered->older->newer) =
        remembered->newer;
    *(remembered->newer == NULL ? &requests->newest : &remembered->newer->older) =
        remembered->older;
    requests->replied_count--;
    forget(requests, remembered);
}

void actor_remembered_release(struct actor_remembered_table *requests)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&requests->table); link != NULL;
         link = next) {
        next = link->next;
        free_remembered(ACTOR_OWNER(actor_remembered, link, link));
    }
    actor_table_release(&requests->table);
}

struct actor_remembered *actor_remembered_find(struct actor_remembered_table *requests,
                                               struct span workspace, struct span request_id)
{
    for (struct actor_link *link =
             actor_table_find(&requests->table, hash_of(workspace, request_id));
         link != NULL; link = actor_table_again(link)) {
        struct actor_remembered *remembered = ACTOR_OWNER(actor_remembered, link, link);
        if (span_equal(actor_remembered_workspace(remembered), workspace) &&
            span_equal(actor_remembered_request_id(remembered), request_id)) {
            return remembered;
        }
    }
    return NULL;
}

struct actor_remembered *actor_remembered_add(struct actor_remembered_table *requests,
                                              struct span workspace, struct span request_id,
                                              uint64_t body_hash, int64_t at_ms)
{
    ASSERT(workspace.count <= LIMIT_ID_BYTES);
    ASSERT(request_id.count > 0 && request_id.count <= LIMIT_REQUEST_ID_BYTES);
    size_t key_bytes = workspace.count + 1 + request_id.count;
    struct actor_remembered *remembered = malloc(sizeof *remembered + key_bytes);
    if (remembered == NULL) {
        return NULL;
    }
    *remembered = (struct actor_remembered){.body_hash = body_hash,
                                            .at_ms = at_ms,
                                            .workspace_bytes = (uint32_t)workspace.count,
                                            .key_bytes = (uint32_t)key_bytes};
    if (workspace.count > 0) {
        memcpy(remembered->key, workspace.bytes, workspace.count);
    }
    remembered->key[workspace.count] = 0;
    memcpy(remembered->key + workspace.count + 1, request_id.bytes, request_id.count);
    actor_table_add(&requests->table, &remembered->link, hash_of(workspace, request_id));
    return remembered;
}

enum result actor_remembered_reply(struct actor_remembered_table *requests,
                                   struct actor_remembered *remembered, struct span reply,
                                   uint64_t expires_ms)
{
    ASSERT(!remembered->replied);
    ASSERT(reply.count > 0);
    uint8_t *copy = malloc(reply.count);
    if (copy == NULL) {
        return RESULT_LIMIT;
    }
    memcpy(copy, reply.bytes, reply.count);
    remembered->reply = span_of(copy, reply.count);
    remembered->replied = true;
    remembered->expires_ms = expires_ms;
    remembered->newer = NULL;
    remembered->older = requests->newest;
    *(requests->newest == NULL ? &requests->oldest : &requests->newest->newer) = remembered;
    requests->newest = remembered;
    requests->replied_count++;
    if (requests->replied_count > requests->replied_max) {
        forget_replied(requests, requests->oldest);
    }
    return RESULT_OK;
}

void actor_remembered_drop(struct actor_remembered_table *requests,
                           struct actor_remembered *remembered)
{
    ASSERT(remembered->attached.oldest == NULL);
    if (remembered->replied) {
        forget_replied(requests, remembered);
    } else {
        forget(requests, remembered);
    }
}

void actor_remembered_expire(struct actor_remembered_table *requests, uint64_t now_ms)
{
    while (requests->oldest != NULL && requests->oldest->expires_ms <= now_ms) {
        forget_replied(requests, requests->oldest);
    }
}

uint64_t actor_remembered_next_ms(const struct actor_remembered_table *requests)
{
    return requests->oldest == NULL ? UINT64_MAX : requests->oldest->expires_ms;
}
