/* percent.c: see percent.h. */
#include "storage/http/percent.h"

static bool is_plain(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

struct span storage_percent_encode(struct arena *arena, struct span text, bool path)
{
    static const char digits[] = "0123456789ABCDEF";
    uint8_t *out = arena_alloc(arena, text.count * 3 + 1);
    size_t count = 0;
    if (out == NULL) {
        return SPAN_EMPTY;
    }
    for (size_t i = 0; i < text.count; i++) {
        uint8_t byte = text.bytes[i];
        if (is_plain(byte) || (path && byte == '/')) {
            out[count++] = byte;
        } else {
            out[count++] = '%';
            out[count++] = (uint8_t)digits[byte >> 4];
            out[count++] = (uint8_t)digits[byte & 15];
        }
    }
    out[count] = '\0';
    return span_of(out, count);
}
