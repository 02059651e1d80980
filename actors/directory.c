/*
 * directory.c: one entry a pair, all of a session in one hash chain.
 */
#include "actors/directory.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"

struct binding {
    struct actor_link link;
    uint64_t since_ms;
    uint64_t order; /* of binding, from 1 */
    uint16_t session_bytes;
    uint16_t execution_bytes;
    uint8_t text[]; /* session, then execution id */
};

static struct span session_of(const struct binding *binding)
{
    return span_of(binding->text, binding->session_bytes);
}

static struct span execution_of(const struct binding *binding)
{
    return span_of(binding->text + binding->session_bytes, binding->execution_bytes);
}

static struct binding *next_of(struct actor_link *link, struct span session)
{
    for (; link != NULL; link = actor_table_again(link)) {
        struct binding *binding = ACTOR_OWNER(binding, link, link);
        if (span_equal(session_of(binding), session)) {
            return binding;
        }
    }
    return NULL;
}

static struct binding *find(const struct actor_directory *directory, struct span session,
                            struct span execution_id)
{
    struct binding *binding =
        next_of(actor_table_find(&directory->table, base_hash(session, 0)), session);
    while (binding != NULL && !span_equal(execution_of(binding), execution_id)) {
        binding = next_of(actor_table_again(&binding->link), session);
    }
    return binding;
}

void actor_directory_init(struct actor_directory *directory)
{
    directory->bound = 0;
    actor_table_init(&directory->table);
}

void actor_directory_release(struct actor_directory *directory)
{
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&directory->table); link != NULL;
         link = next) {
        next = link->next;
        free(ACTOR_OWNER(binding, link, link));
    }
    actor_table_release(&directory->table);
}

enum result actor_directory_bind(struct actor_directory *directory, struct span session,
                                 struct span execution_id, uint64_t since_ms)
{
    ASSERT(session.count > 0 && session.count <= LIMIT_CHANNEL_SESSION_BYTES);
    ASSERT(execution_id.count > 0 && execution_id.count <= LIMIT_ID_BYTES);
    struct binding *binding = find(directory, session, execution_id);
    if (binding != NULL) {
        if (binding->since_ms !=
            since_ms) { /* else the same wait, told again: no newer than it was */
            binding->since_ms = since_ms;
            binding->order = ++directory->bound;
        }
        return RESULT_OK;
    }
    binding = malloc(sizeof *binding + session.count + execution_id.count);
    if (binding == NULL) {
        return RESULT_LIMIT;
    }
    *binding = (struct binding){.since_ms = since_ms,
                                .order = ++directory->bound,
                                .session_bytes = (uint16_t)session.count,
                                .execution_bytes = (uint16_t)execution_id.count};
    memcpy(binding->text, session.bytes, session.count);
    memcpy(binding->text + session.count, execution_id.bytes, execution_id.count);
    actor_table_add(&directory->table, &binding->link, base_hash(session, 0));
    return RESULT_OK;
}

void actor_directory_drop(struct actor_directory *directory, struct span session,
                          struct span execution_id)
{
    struct binding *binding = find(directory, session, execution_id);
    if (binding != NULL) {
        actor_table_remove(&directory->table, &binding->link);
        free(binding);
    }
}

enum result actor_directory_resolve(const struct actor_directory *directory, struct span session,
                                    struct execution_id *out)
{
    const struct binding *newest = NULL;
    for (const struct binding *binding =
             next_of(actor_table_find(&directory->table, base_hash(session, 0)), session);
         binding != NULL; binding = next_of(actor_table_again(&binding->link), session)) {
        /* Of two that began in the same millisecond the later bound one wins. */
        if (newest == NULL || binding->since_ms > newest->since_ms ||
            (binding->since_ms == newest->since_ms && binding->order > newest->order)) {
            newest = binding;
        }
    }
    return newest == NULL ? RESULT_NOT_FOUND : execution_id_parse(execution_of(newest), out);
}

uint32_t actor_directory_count(const struct actor_directory *directory)
{
    return actor_table_count(&directory->table);
}
