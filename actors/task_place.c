/*
 * task_place.c: see task_place.h.
 */
#include "actors/task_place.h"

#include "actors/order.h"

bool actor_task_place_is_before(const struct actor_task_place *left,
                                const struct actor_task_place *right)
{
    if (left->at_ms == right->at_ms && span_equal(left->id, right->id)) {
        return left->position < right->position;
    }
    return actor_order_is_before(left->at_ms, left->id, right->at_ms, right->id);
}

struct span actor_task_place_text(const struct actor_task_place *place, struct arena *arena)
{
    return arena_format(arena, "%lld.%u.%.*s", (long long)place->at_ms, place->position,
                        SPAN_ARG(place->id));
}

/* A number and the dot behind it. */
static bool take_number(struct span *text, uint64_t max, uint64_t *number)
{
    size_t at = 0;
    *number = 0;
    for (; at < text->count && text->bytes[at] >= '0' && text->bytes[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(text->bytes[at] - '0');
        if (*number > (max - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    if (at == 0 || at == text->count || text->bytes[at] != '.') {
        return false;
    }
    *text = span_of(text->bytes + at + 1, text->count - at - 1);
    return true;
}

enum result actor_task_place_parse(struct span text, struct actor_task_place *out)
{
    uint64_t at_ms;
    uint64_t position;
    if (!take_number(&text, INT64_MAX, &at_ms) || !take_number(&text, UINT32_MAX, &position) ||
        text.count == 0) {
        return RESULT_INVALID;
    }
    *out = (struct actor_task_place){
        .at_ms = (int64_t)at_ms, .id = text, .position = (uint32_t)position};
    return RESULT_OK;
}
