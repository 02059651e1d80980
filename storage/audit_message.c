/* audit_message.c: see audit_message.h. */
#include "storage/audit_message.h"

#include <string.h>

#include "proto/base/hash.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

static const struct span field_names[STORAGE_AUDIT_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) {(const uint8_t *)field, sizeof field - 1},
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

/* Fields come in the table's order as a rule, so the search begins where the last one ended. */
bool storage_audit_message_read(struct span map, struct storage_audit_message *out)
{
    *out = (struct storage_audit_message){0};
    size_t next = 0;
    struct span key;
    struct span value;
    struct wire_map_walk walk = wire_map_begin(map);
    while (wire_map_next(&walk, &key, &value)) {
        if (span_is(key, "logs")) {
            out->logs = value;
            continue;
        }
        for (size_t tried = 0; tried < STORAGE_AUDIT_COLUMN_COUNT; tried++) {
            size_t at = (next + tried) % STORAGE_AUDIT_COLUMN_COUNT;
            if (span_equal(key, field_names[at])) {
                out->fields[at] = value;
                next = at + 1;
                break;
            }
        }
    }
    out->execution_id = wire_string_or(out->fields[STORAGE_AUDIT_EXECUTION_ID], "");
    out->revision = wire_int_or(out->fields[STORAGE_AUDIT_REVISION], INT64_MIN);
    return out->execution_id.count > 0 && out->revision != INT64_MIN;
}

/* Enters message `at` into the hash table of the newest of each execution (numbers + 1). */
static void fold(const struct storage_audit_message *messages, bool *newest, size_t at,
                 uint32_t *slots, size_t slot_count)
{
    size_t mask = slot_count - 1;
    size_t slot = (size_t)base_hash(messages[at].execution_id, 0) & mask;
    while (slots[slot] != 0 &&
           !span_equal(messages[slots[slot] - 1].execution_id, messages[at].execution_id)) {
        slot = (slot + 1) & mask;
    }
    size_t known = slots[slot];
    newest[at] = known == 0 || messages[at].revision > messages[known - 1].revision;
    if (newest[at]) {
        if (known != 0) {
            newest[known - 1] = false;
        }
        slots[slot] = (uint32_t)at + 1;
    }
}

enum result storage_audit_messages_read(const struct span *messages, size_t count,
                                        struct arena *arena, struct storage_audit_message **out,
                                        bool **newest, size_t *out_count)
{
    size_t slot_count = 16;
    while (slot_count < count * 2) {
        slot_count *= 2;
    }
    uint32_t *slots = arena_zero(arena, slot_count * sizeof *slots);
    *out = arena_alloc(arena, count * sizeof **out);
    *newest = arena_alloc(arena, count * sizeof **newest);
    *out_count = 0;
    if (slots == NULL || *out == NULL || *newest == NULL) {
        return RESULT_LIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = *out_count;
        if (!storage_audit_message_read(messages[i], &(*out)[at])) {
            log_line(LOG_ERROR, "STORAGE-AUDIT-MESSAGE-INVALID", "bytes=%zu", messages[i].count);
            continue;
        }
        fold(*out, *newest, at, slots, slot_count);
        (*out_count)++;
    }
    return RESULT_OK;
}
