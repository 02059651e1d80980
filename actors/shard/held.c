/*
 * held.c: what a ticket stands for. An actor answers each ticket once, so the pointer itself is the
 * ticket.
 */
#include "actors/shard/state.h"
#include "proto/base/assert.h"

void shard_hold(struct actor_shard *shard, struct actor_held *held, uint32_t magic)
{
    *held = (struct actor_held){.magic = magic, .older = shard->held_newest};
    if (held->older != NULL) {
        held->older->newer = held;
    }
    shard->held_newest = held;
}

void shard_let_go(struct actor_shard *shard, struct actor_held *held)
{
    ASSERT(held->magic != 0);
    *(held->newer == NULL ? &shard->held_newest : &held->newer->older) = held->older;
    if (held->older != NULL) {
        held->older->newer = held->newer;
    }
    held->magic = 0;
}

struct proto_address shard_ticket(struct actor_shard *shard, struct actor_held *held)
{
    return (struct proto_address){.sink = shard->self, .ticket = (uint64_t)(uintptr_t)held};
}

uint32_t shard_ticket_magic(uint64_t ticket)
{
    ASSERT(ticket != 0);
    return ((struct actor_held *)(uintptr_t)ticket)->magic;
}

struct actor_held *shard_of_ticket(uint64_t ticket, uint32_t magic)
{
    return BASE_CAST(actor_held, (void *)(uintptr_t)ticket, magic);
}

void shard_lookups_deleted(struct actor_shard *shard, struct span execution_id)
{
    for (struct actor_held *held = shard->held_newest; held != NULL; held = held->older) {
        if (held->magic == LOOKUP_MAGIC) {
            struct actor_lookup *lookup = ACTOR_OWNER(actor_lookup, held, held);
            lookup->deleted =
                lookup->deleted || span_equal(execution_id_span(&lookup->id), execution_id);
        }
    }
}

void shard_held_free(struct actor_shard *shard)
{
    while (shard->held_newest != NULL) {
        struct actor_held *held = shard->held_newest;
        if (held->magic == GATE_MAGIC) {
            shard_gate_free(shard, ACTOR_OWNER(actor_gate, held, held));
        } else if (held->magic == LOOKUP_MAGIC) {
            shard_lookup_free(shard, ACTOR_OWNER(actor_lookup, held, held));
        } else {
            ASSERT(held->magic == TASKS_MAGIC);
            shard_tasks_free(shard, held);
        }
    }
}
