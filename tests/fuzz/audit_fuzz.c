/* audit_fuzz.c: an audit message as it comes by the bus: any bytes become a sound value or a
 * reason. */
#include <string.h>

#include "audit/bus.h"
#include "audit/message.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena arena;
    struct span map;
    char reason[AUDIT_REASON_BYTES] = "";
    arena_init(&arena, 65536, 64u << 20);
    enum result result = audit_message_read(span_of(bytes, count), &arena, &map, reason);
    size_t offset;
    const char *why;
    if (result == RESULT_OK) {
        MUST(wire_validate(map, LIMIT_WIRE_DEPTH, &offset, &why) == RESULT_OK);
        MUST(wire_string_or(wire_find_text(map, "executionId"), "").count > 0);
        MUST(wire_int_or(wire_find_text(map, "revision"), -1) >= 0);
    } else if (result == RESULT_INVALID) {
        MUST(strlen(reason) > 0);
    }
    arena_release(&arena);
    return 0;
}
