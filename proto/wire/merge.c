/*
 * merge.c: the top-level merge of module results into a payload (engine.md 6).
 *
 * Few keys are compared one by one; many are sorted first, so that no input makes the merge
 * quadratic.
 */
#include <stdlib.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum { CHANGES_SORTED_FROM = 9 };

/* What the merge does to one key: give it a value, or (empty value) delete it. */
struct change {
    struct span key;
    struct span value;
    uint32_t order; /* later ones win: pairs come behind the keys of $unset */
    bool applied;
};

struct changes {
    struct change *rows;
    uint32_t count;
};

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    int order = span_compare(a->key, b->key);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

/* The last change to this key, or NULL. */
static struct change *find_change(const struct changes *changes, struct span key)
{
    if (changes->count < CHANGES_SORTED_FROM) {
        for (uint32_t i = changes->count; i > 0; i--) {
            if (span_equal(changes->rows[i - 1].key, key)) {
                return &changes->rows[i - 1];
            }
        }
        return NULL;
    }
    uint32_t low = 0,
             high = changes->count; /* rows before low are <= key, rows from high on are > key */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (span_compare(changes->rows[middle].key, key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && span_equal(changes->rows[low - 1].key, key) ? &changes->rows[low - 1] : NULL;
}

static bool collect_changes(struct arena *arena, struct span over, struct changes *changes)
{
    struct span unset = wire_find_text(over, "$unset");
    size_t capacity =
        (size_t)wire_count(over) + (wire_is(unset, WIRE_ARRAY) ? wire_count(unset) : 0);
    *changes = (struct changes){.rows = arena_alloc(arena, capacity * sizeof(struct change))};
    if (changes->rows == NULL) {
        return false;
    }
    struct span key, value;
    struct wire_map_walk walk = wire_array_begin(unset);
    while (wire_array_next(&walk, &value)) {
        key = wire_string_or(value, NULL);
        changes->rows[changes->count] = (struct change){key, SPAN_EMPTY, changes->count, false};
        changes->count += wire_is(value, WIRE_STRING);
    }
    walk = wire_map_begin(over);
    while (wire_map_next(&walk, &key, &value)) {
        if (!span_is(key, "$unset")) {
            changes->rows[changes->count] = (struct change){key, value, changes->count, false};
            changes->count++;
        }
    }
    if (changes->count >= CHANGES_SORTED_FROM) {
        qsort(changes->rows, changes->count, sizeof changes->rows[0], compare_changes);
    }
    return true;
}

/*
 * Writes the change's pair unless it deletes or was written before; returns the number of pairs
 * written.
 */
static uint32_t apply(struct wire_writer *writer, struct change *change)
{
    if (change->value.count == 0 || change->applied) {
        return 0;
    }
    change->applied = true;
    wire_write_string(writer, change->key);
    wire_write_value(writer, change->value);
    return 1;
}

struct span wire_merge(struct arena *arena, struct span base, struct span over)
{
    if (!wire_is(over, WIRE_MAP)) {
        return arena_copy(arena, base);
    }
    struct changes changes;
    if (!collect_changes(arena, over, &changes)) {
        return SPAN_EMPTY;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, arena, base.count + over.count + 8);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 0;
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(base);
    while (wire_map_next(&walk, &key, &value)) {
        struct change *change = find_change(&changes, key);
        if (change != NULL) {
            count += apply(&writer, change);
        } else {
            wire_write_string(&writer, key);
            wire_write_value(&writer, value);
            count++;
        }
    }
    walk = wire_map_begin(over);
    while (wire_map_next(&walk, &key, &value)) {
        if (!span_is(key, "$unset")) {
            count += apply(&writer, find_change(&changes, key));
        }
    }
    wire_close_map(&writer, mark, count);
    return wire_writer_span(&writer);
}
