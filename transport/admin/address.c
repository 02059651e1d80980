/*
 * address.c: see address.h.
 */
#include "transport/admin/address.h"

#include <string.h>

#include "proto/base/text.h"

struct span address_decode(struct arena *arena, struct span text, bool plus_is_space)
{
    uint8_t *out = arena_alloc(arena, text.count);
    if (out == NULL) {
        return SPAN_EMPTY;
    }
    size_t count = 0;
    for (size_t index = 0; index < text.count; index++) {
        uint8_t byte = text.bytes[index];
        if (byte == '+' && plus_is_space) {
            byte = ' ';
        } else if (byte == '%' && index + 2 < text.count) {
            int high = text_hex_digit(text.bytes[index + 1]);
            int low = text_hex_digit(text.bytes[index + 2]);
            if (high >= 0 && low >= 0) {
                byte = (uint8_t)(high * 16 + low);
                index += 2;
            }
        }
        out[count++] = byte;
    }
    return span_of(out, count);
}

const char *address_query(const char *uri)
{
    return strchr(uri, '?');
}

bool address_query_next(const char **at, struct arena *arena, struct span *name, struct span *value)
{
    while (*at != NULL && **at != '\0' && **at != '#') {
        const char *pair = *at + 1;
        size_t pair_bytes = strcspn(pair, "&#");
        size_t name_bytes = strcspn(pair, "=&#");
        struct span raw = name_bytes < pair_bytes
                              ? span_of(pair + name_bytes + 1, pair_bytes - name_bytes - 1)
                              : SPAN_EMPTY;
        *at = pair + pair_bytes;
        *name = address_decode(arena, span_of(pair, name_bytes), true);
        *value = address_decode(arena, raw, true);
        if (name->count > 0) {
            return true;
        }
    }
    return false;
}
