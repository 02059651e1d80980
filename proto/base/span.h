/*
 * span.h: a borrowed run of bytes. Owns nothing; whoever hands one out says how long it lives.
 */
#ifndef PROTO_BASE_SPAN_H
#define PROTO_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const uint8_t *bytes; /* may be NULL only when count is 0 */
    size_t count;
};

#define SPAN_EMPTY ((struct span){0})
/* For printf: "%.*s", SPAN_ARG(name). */
#define SPAN_ARG(span) (int)(span).count, (const char *)(span).bytes

static inline struct span span_of(const void *bytes, size_t count)
{
    return (struct span){bytes, count};
}

/* From a NUL-terminated string; NULL gives an empty span. */
static inline struct span span_text(const char *text)
{
    return text == NULL ? SPAN_EMPTY : (struct span){(const uint8_t *)text, strlen(text)};
}

static inline bool span_equal(struct span a, struct span b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.bytes, b.bytes, a.count) == 0);
}

static inline bool span_is(struct span span, const char *text)
{
    return span_equal(span, span_text(text));
}

/* Bytewise order, as memcmp; a prefix comes first. */
int span_compare(struct span a, struct span b);
bool span_starts_with(struct span span, const char *prefix);
/* Without leading and trailing ASCII white space. */
struct span span_trim(struct span span);

#endif
