/*
 * ids.c: an open-addressed hash table, never more than half full.
 */
#include "engine/read/ids.h"

#include "proto/base/assert.h"
#include "proto/base/hash.h"

enum result engine_ids_init(struct ids *ids, size_t capacity, struct arena *arena)
{
    size_t slots = 16;
    while (slots < capacity * 2) {
        slots *= 2;
    }
    *ids = (struct ids){.mask = slots - 1, .capacity = capacity};
    ids->slots = arena_zero(arena, slots * sizeof ids->slots[0]);
    return ids->slots == NULL ? RESULT_LIMIT : RESULT_OK;
}

/* Where `text` is, or the free slot where it belongs. */
static struct id *slot_of(const struct ids *ids, struct span text)
{
    size_t at = (size_t)base_hash(text, 0) & ids->mask;
    while (ids->slots[at].element != NULL && !span_equal(ids->slots[at].text, text)) {
        at = (at + 1) & ids->mask;
    }
    return &ids->slots[at];
}

struct id *engine_ids_put(struct ids *ids, struct span text, struct xml_element *element)
{
    ASSERT(element != NULL);
    struct id *slot = slot_of(ids, text);
    if (slot->element == NULL) {
        ASSERT(ids->count < ids->capacity);
        ids->count++;
        *slot = (struct id){.text = text, .element = element};
    }
    return slot;
}

struct id *engine_ids_find(const struct ids *ids, struct span reference)
{
    struct id *slot = slot_of(ids, reference);
    if (slot->element == NULL && reference.count > 0) {
        const uint8_t *colon = memrchr(reference.bytes, ':', reference.count);
        if (colon != NULL) {
            size_t cut = (size_t)(colon - reference.bytes) + 1;
            slot = slot_of(ids, span_of(reference.bytes + cut, reference.count - cut));
        }
    }
    return slot->element == NULL ? NULL : slot;
}
