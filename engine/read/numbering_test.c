#include "engine/read/numbering.h"

#include <criterion/criterion.h>

Test(numbering, goes_past_the_number_behind_every_id)
{
    static const struct {
        const char *id;
        uint64_t next;
    } rows[] = {
        {"node_7", 8},
        {"node_3", 8},
        {"12", 13},
        {"", 13},
        {"a1b", 13},
        {"x0099", 100},
        {"x9007199254740991", 9007199254740992},
        {"x9007199254740992", 9007199254740992},
        {"x99999999999999999999999999", 9007199254740992},
        {"00000000000000000000000000005", 9007199254740992},
    };
    struct numbering numbering = {.next = 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        engine_numbering_meet(&numbering, span_text(rows[i].id));
        cr_expect_eq(numbering.next, rows[i].next, "%s: %llu", rows[i].id,
                     (unsigned long long)numbering.next);
    }
}

Test(numbering, makes_each_id_once)
{
    struct arena arena;
    struct numbering numbering = {.next = 5};
    arena_init(&arena, 256, 4096);

    cr_expect(span_is(engine_numbering_make(&numbering, "edge", &arena), "edge_5"));
    cr_expect(span_is(engine_numbering_make(&numbering, "edge", &arena), "edge_6"));
    cr_expect_eq(numbering.next, 7);
    arena_release(&arena);
}
