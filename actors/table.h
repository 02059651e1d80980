/*
 * table.h: an intrusive hash table: the link is part of what is kept, so adding takes no memory but
 * the bucket array's. Not thread-safe: it belongs to one actor.
 */
#ifndef ACTORS_TABLE_H
#define ACTORS_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Embedded in what is kept. */
struct actor_link {
    struct actor_link *next;
    uint64_t hash;
};

struct actor_table {
    /* private to table.c */
    struct actor_link **buckets;
    struct actor_link
        *only; /* the one bucket before any memory was taken, and when none is given */
    uint32_t count;
    uint32_t mask;
};

void actor_table_init(struct actor_table *table);
/* Frees the buckets, not what was kept. */
void actor_table_release(struct actor_table *table);
/* Never fails: without memory for more buckets the chains grow longer. */
void actor_table_add(struct actor_table *table, struct actor_link *link, uint64_t hash);
/* The link must be in the table. */
void actor_table_remove(struct actor_table *table, struct actor_link *link);
/* The first and each further link of that hash, or NULL; the caller compares the keys. */
struct actor_link *actor_table_find(const struct actor_table *table, uint64_t hash);
struct actor_link *actor_table_again(const struct actor_link *link);
/* Empties the table: all links in one chain, in no order. */
struct actor_link *actor_table_take_all(struct actor_table *table);

static inline uint32_t actor_table_count(const struct actor_table *table)
{
    return table->count;
}

/* From an embedded member to its owner. */
#define ACTOR_OWNER(type, member, pointer)                                                         \
    ((struct type *)((char *)(pointer)-offsetof(struct type, member)))

#endif
