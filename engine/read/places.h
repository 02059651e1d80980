/*
 * places.h: where in a JSON text its objects begin. A parsed value knows no lines; but objects come
 * in the same order in both, so the n-th map of the value began at the n-th "{" of the text.
 */
#ifndef ENGINE_READ_PLACES_H
#define ENGINE_READ_PLACES_H

#include "engine/read/compose.h"

struct places {
    const uint8_t **maps; /* ascending: where in the value each map begins */
    struct compose_place *at;
    uint32_t count;
};

/* `value` was read from `text` by json_to_wire and lies in one piece. RESULT_LIMIT: arena full. */
MUST_USE enum result engine_places_init(struct places *places, struct span text, struct span value,
                                        struct arena *arena);
/* Of a map of that value; {0, 0} for anything else. */
struct compose_place engine_places_find(const struct places *places, struct span map);

#endif
