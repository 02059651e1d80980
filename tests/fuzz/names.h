/* names.h: what expressions under fuzzing see: values of every kind, a zone, a clock that stands.
 */
#ifndef TESTS_FUZZ_NAMES_H
#define TESTS_FUZZ_NAMES_H

#include "engine/expression/rows.h"
#include "tests/fuzz/fuzz.h"

static const char fuzz_context[] =
    "{\"a\": 7, \"b\": -2.50, \"x\": null, \"s\": \"text \\ud83d\\ude00\", \"t\": true, \"e\": "
    "\"\","
    " \"list\": [3, 1, 2.0, \"z\", null, [1, [2]]], \"m\": {\"k\": {\"v\": [1, 2]}, \"n\": \"12\"},"
    " \"items\": [{\"n\": 1, \"q\": \"a\"}, {\"n\": 2}, 5], \"big\": 18446744073709551615,"
    " \"far\": 1e6144, \"execution\": {\"x\": 3}, \"Full Name\": \"Jo\", \"?\": 7}";

/* One zone whose clock changes twice a year, under any name of two letters or more. */
static inline const struct engine_zone *fuzz_zone(const struct engine_names *names,
                                                  struct span name, struct arena *arena)
{
    return name.count < 2 ? NULL : row_zone(names, span_text("Test/Summer"), arena);
}

/* Nothing of long names, null of one byte, else the name itself. */
static inline struct span fuzz_attribute(const struct engine_names *names, struct span of,
                                         struct span name, struct arena *arena)
{
    (void)names;
    if (name.count == 1) {
        return span_of("\xc0", 1);
    }
    uint8_t *text = arena_alloc(arena, 1 + name.count);
    if (text == NULL || name.count == 0 || name.count > 31 || of.count > 9) {
        return SPAN_EMPTY;
    }
    text[0] = (uint8_t)(0xa0 + name.count);
    memcpy(text + 1, name.bytes, name.count);
    return span_of(text, 1 + name.count);
}

static inline void fuzz_names_init(struct row_names *names, struct arena *arena)
{
    struct json_error error;
    names->names = (struct engine_names){
        .find = row_find, .zone = fuzz_zone, .clock = row_clock, .attribute = fuzz_attribute};
    MUST(json_to_wire(span_text(fuzz_context), LIMIT_DEPTH, arena, &names->map, &error) ==
         RESULT_OK);
}

#endif
