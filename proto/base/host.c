/* host.c: see host.h. */
#include "proto/base/host.h"

#include "proto/base/text.h"

const char *host_read(struct span text, char *host, size_t capacity, uint16_t *port)
{
    struct span name = text;
    bool bracketed = text.count > 0 && text.bytes[0] == '[';
    const uint8_t *end = bracketed ? memchr(text.bytes, ']', text.count) : text.bytes;
    if (bracketed && end == NULL) {
        return "the host begins with [ but has no ]";
    }
    size_t before = text.count == 0 ? 0 : (size_t)(end - text.bytes);
    const uint8_t *colon =
        text.count == 0 ? NULL : memchr(text.bytes + before, ':', text.count - before);
    if (colon != NULL) {
        uint32_t number = 0;
        name.count = (size_t)(colon - text.bytes);
        if (!text_read_number(span_of(colon + 1, text.count - name.count - 1), UINT16_MAX,
                              &number) ||
            number == 0) {
            return "the port must be a number from 1 to 65535";
        }
        *port = (uint16_t)number;
    }
    if (bracketed) {
        if (name.count != before + 1) {
            return "between ] and the port there must be a colon";
        }
        name = span_of(name.bytes + 1, name.count - 2);
    }
    if (name.count == 0 || name.count >= capacity) {
        return "the URL names no host, or one that is too long";
    }
    memcpy(host, name.bytes, name.count);
    host[name.count] = '\0';
    return NULL;
}
