/*
 * json_fuzz.c: any bytes as JSON. What is refused has a place and a reason; what is read is valid
 * MessagePack, and its JSON reads back as the same bytes, in both styles.
 */
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES_MAX = 256 << 20 };

static void check_error(struct span text, enum result result, const struct json_error *error)
{
    MUST(result == RESULT_INVALID || result == RESULT_LIMIT);
    MUST(error->reason != NULL);
    MUST(error->offset <= text.count);
    MUST(error->line >= 1);
    MUST(error->column >= 1 && error->column <= error->offset + 1);
}

static void check_round_trip(struct span value, enum json_style style, struct arena *arena)
{
    struct span text, again;
    struct json_error error;
    MUST(json_from_wire(value, style, arena, &text) == RESULT_OK);
    MUST(text_utf8_valid_count(text) == text.count);
    MUST(json_to_wire(text, LIMIT_DEPTH, arena, &again, &error) == RESULT_OK);
    MUST(span_equal(again, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena arena;
    arena_init(&arena, 64u << 10, ARENA_BYTES_MAX);
    struct span text = span_of(bytes, count), value;
    struct json_error error;
    enum result result = json_to_wire(text, LIMIT_DEPTH, &arena, &value, &error);
    if (result == RESULT_OK) {
        size_t offset;
        const char *reason;
        MUST(wire_validate(value, LIMIT_DEPTH, &offset, &reason) == RESULT_OK);
        check_round_trip(value, JSON_COMPACT, &arena);
        check_round_trip(value, JSON_PRETTY, &arena);
    } else {
        check_error(text, result, &error);
    }
    arena_release(&arena);
    return 0;
}
