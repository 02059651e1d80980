/*
 * span.c: comparing and cutting of borrowed bytes.
 */
#include "proto/base/span.h"

static bool is_space(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

int span_compare(struct span a, struct span b)
{
    size_t common = a.count < b.count ? a.count : b.count;
    int order = common == 0 ? 0 : memcmp(a.bytes, b.bytes, common);
    if (order != 0) {
        return order;
    }
    return (a.count > b.count) - (a.count < b.count);
}

bool span_starts_with(struct span span, const char *prefix)
{
    size_t count = strlen(prefix);
    return span.count >= count && (count == 0 || memcmp(span.bytes, prefix, count) == 0);
}

struct span span_trim(struct span span)
{
    while (span.count > 0 && is_space(span.bytes[0])) {
        span.bytes++;
        span.count--;
    }
    while (span.count > 0 && is_space(span.bytes[span.count - 1])) {
        span.count--;
    }
    return span;
}
