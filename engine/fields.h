/*
 * fields.h: reads a MAP value of known keys in one pass, whatever their order; unknown keys are
 * skipped.
 */
#ifndef ENGINE_FIELDS_H
#define ENGINE_FIELDS_H

#include "proto/base/arena.h"
#include "proto/wire/reader.h"

/* A name for such a table. */
#define ENGINE_NAME(literal)                                                                       \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }

/* out[i] becomes the value of names[i], or empty. Keys come mostly in the order of `names`, which
 * makes this linear. */
void engine_fields_read(struct span map, const struct span *names, uint32_t count,
                        struct span *out);

/* {key: value} as a MAP in the arena; an empty value becomes nil. */
struct span engine_fields_single(struct arena *arena, struct span key, struct span value);

/* An unsigned integer of at most `most`; `fallback` when absent. False: of another type or too
 * large. */
bool engine_fields_uint(struct span value, uint64_t fallback, uint64_t most, uint64_t *out);
/* RFC 3339 text; `fallback` when absent. */
bool engine_fields_time(struct span value, int64_t fallback, int64_t *out);
/* Absent, or of that type. */
bool engine_fields_is(struct span value, enum wire_type type);

#endif
