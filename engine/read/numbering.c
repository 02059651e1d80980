/*
 * numbering.c: see numbering.h.
 */
#include "engine/read/numbering.h"

#include "proto/base/assert.h"

#define NUMBER_MAX (1ull << 53) /* what JSON numbers hold in every program */

void engine_numbering_meet(struct numbering *numbering, struct span id)
{
    uint64_t number = 0;
    uint64_t unit = 1;
    for (size_t i = id.count; i > 0 && id.bytes[i - 1] >= '0' && id.bytes[i - 1] <= '9'; i--) {
        uint64_t digit = (uint64_t)(id.bytes[i - 1] - '0');
        if (unit > NUMBER_MAX && digit > 0) {
            return;
        }
        number += unit > NUMBER_MAX ? 0 : digit * unit;
        unit = unit > NUMBER_MAX ? unit : unit * 10;
    }
    if (number < NUMBER_MAX && number >= numbering->next) {
        numbering->next = number + 1;
    }
}

struct span engine_numbering_make(struct numbering *numbering, const char *prefix,
                                  struct arena *arena)
{
    ASSERT(numbering->next > 0);
    return arena_format(arena, "%s_%llu", prefix, (unsigned long long)numbering->next++);
}
