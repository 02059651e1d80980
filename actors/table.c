/*
 * table.c: chained buckets, a power of two of them, doubled when there are as many links as
 * buckets.
 */
#include "actors/table.h"

#include <stdlib.h>

#include "proto/base/assert.h"

enum { TABLE_BUCKETS_FIRST = 64 };

void actor_table_init(struct actor_table *table)
{
    *table = (struct actor_table){0};
    table->buckets = &table->only;
}

void actor_table_release(struct actor_table *table)
{
    if (table->buckets != &table->only) {
        free(table->buckets);
    }
    actor_table_init(table);
}

static void grow(struct actor_table *table)
{
    uint32_t buckets_count = table->mask == 0 ? TABLE_BUCKETS_FIRST : (table->mask + 1) * 2;
    struct actor_link **buckets = calloc(buckets_count, sizeof *buckets);
    if (buckets == NULL) {
        return;
    }
    for (uint32_t i = 0; i <= table->mask; i++) {
        struct actor_link *next;
        for (struct actor_link *link = table->buckets[i]; link != NULL; link = next) {
            next = link->next;
            link->next = buckets[link->hash & (buckets_count - 1)];
            buckets[link->hash & (buckets_count - 1)] = link;
        }
    }
    if (table->buckets != &table->only) {
        free(table->buckets);
    }
    table->buckets = buckets;
    table->mask = buckets_count - 1;
}

void actor_table_add(struct actor_table *table, struct actor_link *link, uint64_t hash)
{
    if (table->count > table->mask && table->mask < UINT32_MAX / 2) {
        grow(table);
    }
    link->hash = hash;
    link->next = table->buckets[hash & table->mask];
    table->buckets[hash & table->mask] = link;
    table->count++;
}

void actor_table_remove(struct actor_table *table, struct actor_link *link)
{
    struct actor_link **place = &table->buckets[link->hash & table->mask];
    while (*place != link) {
        ASSERT(*place != NULL);
        place = &(*place)->next;
    }
    *place = link->next;
    link->next = NULL;
    table->count--;
}

static struct actor_link *of_hash(struct actor_link *link, uint64_t hash)
{
    while (link != NULL && link->hash != hash) {
        link = link->next;
    }
    return link;
}

struct actor_link *actor_table_find(const struct actor_table *table, uint64_t hash)
{
    return of_hash(table->buckets[hash & table->mask], hash);
}

struct actor_link *actor_table_again(const struct actor_link *link)
{
    return of_hash(link->next, link->hash);
}

struct actor_link *actor_table_take_all(struct actor_table *table)
{
    struct actor_link *all = NULL;
    for (uint32_t i = 0; i <= table->mask; i++) {
        struct actor_link *next;
        for (struct actor_link *link = table->buckets[i]; link != NULL; link = next) {
            next = link->next;
            link->next = all;
            all = link;
        }
        table->buckets[i] = NULL;
    }
    table->count = 0;
    return all;
}
