/*
 * wire_fuzz.c: any bytes as MessagePack and as a batch of records. Nothing crashes on any of them;
 * what skips also unpacks with msgpack-c, to the same length; what validates reads, walks, merges
 * and becomes JSON.
 */
#include <msgpack.h>

#include "proto/base/limits.h"
#include "proto/record.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES_MAX = 256 << 20, WALK_MAX = 1000 };

static struct arena arena;

static bool is_valid(struct span value, unsigned depth_max)
{
    size_t offset = 0;
    const char *reason = NULL;
    enum result result = wire_validate(value, depth_max, &offset, &reason);
    MUST(offset <= value.count);
    MUST((result == RESULT_OK) == (reason == NULL));
    return result == RESULT_OK;
}

/*
 * msgpack-c is asked only about what we skipped: a claimed count makes it allocate. It refuses
 * nesting over 32.
 */
static void compare_with_msgpack_c(struct span input)
{
    struct wire_cursor cursor = wire_cursor(input);
    if (wire_skip(&cursor) != RESULT_OK) {
        return;
    }
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    msgpack_unpack_return result =
        msgpack_unpack_next(&unpacked, (const char *)input.bytes, input.count, &offset);
    if (result != MSGPACK_UNPACK_NOMEM_ERROR) {
        MUST(result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES);
        MUST(offset == (size_t)(cursor.next - input.bytes));
    }
    msgpack_unpacked_destroy(&unpacked);
}

/* Head by head to the end: as many objects as their containers announced. */
static void check_flat_walk(struct span value)
{
    struct wire_cursor cursor = wire_cursor(value);
    struct wire_value head;
    for (uint64_t left = 1; left > 0; left--) {
        MUST(wire_read(&cursor, &head) == RESULT_OK);
        left += head.type == WIRE_ARRAY ? head.as.count : 0;
        left += head.type == WIRE_MAP ? 2 * (uint64_t)head.as.count : 0;
    }
    MUST(cursor.next == cursor.end);
}

static void check_members(struct span value)
{
    struct span key, member, found;
    uint32_t count = wire_count(value), walked = 0;
    struct wire_map_walk walk = wire_map_begin(value);
    for (; walked < WALK_MAX && wire_map_next(&walk, &key, &member); walked++) {
        MUST(is_valid(member, LIMIT_DEPTH));
        found = wire_find(value, key);
        MUST(found.bytes >= member.bytes); /* itself, or a later one of the same key */
    }
    MUST(!wire_is(value, WIRE_MAP) || walked == count || walked == WALK_MAX);
    walk = wire_array_begin(value);
    for (walked = 0; walked < WALK_MAX && wire_array_next(&walk, &member); walked++) {
        MUST(span_equal(wire_at(value, walked), member));
    }
    MUST(!wire_is(value, WIRE_ARRAY) || walked == count || walked == WALK_MAX);
}

static void check_json(struct span value)
{
    struct span text, read, again;
    struct json_error error;
    MUST(json_from_wire(value, JSON_COMPACT, &arena, &text) == RESULT_OK);
    MUST(json_to_wire(text, LIMIT_DEPTH, &arena, &read, &error) == RESULT_OK);
    MUST(json_from_wire(read, JSON_COMPACT, &arena, &again) == RESULT_OK);
    MUST(span_equal(text, again));
}

/* Nothing may crash, whatever the bytes are. */
static void poke(struct span input)
{
    struct wire_cursor cursor = wire_cursor(input);
    struct wire_value head;
    for (int i = 0; i < WALK_MAX && wire_read(&cursor, &head) == RESULT_OK; i++) {
    }
    struct span text;
    enum result result = json_from_wire(input, JSON_PRETTY, &arena, &text);
    MUST(result == RESULT_OK || text.count == 0);
    wire_find_text(input, "a");
    wire_at(input, 3);
    wire_string_or(input, "");
    wire_int_or(input, 0);
    wire_bool_or(input, false);
}

static void check_merge(struct span base, struct span over)
{
    struct span merged = wire_merge(&arena, base, over), key, value;
    if (!is_valid(base, LIMIT_DEPTH) || !is_valid(over, LIMIT_DEPTH) || !wire_is(over, WIRE_MAP)) {
        return;
    }
    MUST(is_valid(merged, LIMIT_DEPTH));
    struct wire_map_walk walk = wire_map_begin(over);
    for (int i = 0; i < WALK_MAX && wire_map_next(&walk, &key, &value); i++) {
        MUST(span_is(key, "$unset") || span_equal(wire_find(merged, key), wire_find(over, key)));
    }
}

static void check_records(struct span batch)
{
    struct proto_record record;
    struct span rest = batch;
    enum result result;
    struct wire_writer writer;
    wire_writer_init(&writer, &arena, batch.count);
    while ((result = record_read(&rest, &record)) == RESULT_OK) {
        record_write(&writer, &record);
    }
    MUST(result == RESULT_NOT_FOUND || result == RESULT_CORRUPT);
    MUST((result == RESULT_NOT_FOUND) == (rest.count == 0));
    /* Another spelling of the same record may be shorter when written by us, never longer. */
    MUST(wire_writer_span(&writer).count <= batch.count - rest.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    arena_init(&arena, 64u << 10, ARENA_BYTES_MAX);
    struct span input = span_of(bytes, count);
    struct wire_cursor cursor = wire_cursor(input);
    struct span first;
    compare_with_msgpack_c(input);
    poke(input);
    check_records(input);
    if (wire_take(&cursor, &first) == RESULT_OK) {
        struct span second = span_of(cursor.next, (size_t)(cursor.end - cursor.next));
        check_merge(first, second);
    }
    if (is_valid(input, LIMIT_DEPTH)) {
        MUST(first.count == input.count);
        check_flat_walk(input);
        check_members(input);
        check_json(input);
        check_merge(input, input);
    }
    arena_release(&arena);
    return 0;
}
