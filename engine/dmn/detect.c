/* detect.c: whether a file is a decision model, by the namespace of its root element. */
#include "engine/dmn/reading.h"

/* The longest beginning of a file in UTF-16 that is looked at, in characters. */
#define LOOKED_AT_MAX 8192u

bool engine_dmn_is_namespace(struct span uri)
{
    return span_starts_with(uri, "https://www.omg.org/spec/DMN/") ||
           span_starts_with(uri, "http://www.omg.org/spec/DMN/");
}

/* Behind the next `mark`; empty when there is none. */
static struct span behind(struct span text, const char *mark)
{
    size_t count = strlen(mark);
    const uint8_t *found = text.count == 0 ? NULL : memmem(text.bytes, text.count, mark, count);
    if (found == NULL) {
        return SPAN_EMPTY;
    }
    size_t skipped = (size_t)(found - text.bytes) + count;
    return span_of(text.bytes + skipped, text.count - skipped);
}

/* What follows the "<" of the root element: behind declaration, comments and a document type. */
static struct span root_of(struct span text)
{
    for (text = behind(text, "<"); text.count > 0; text = behind(text, "<")) {
        if (text.bytes[0] != '?' && text.bytes[0] != '!') {
            return text;
        }
        bool is_comment = span_starts_with(text, "!--");
        text = behind(text, is_comment ? "-->" : ">");
    }
    return SPAN_EMPTY;
}

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Walks over one attribute of a tag: name = "value". */
static bool next_attribute(struct span *tag, struct span *name, struct span *value)
{
    size_t at = 0;
    while (at < tag->count && is_space(tag->bytes[at])) {
        at++;
    }
    size_t begin = at;
    while (at < tag->count && !is_space(tag->bytes[at]) && tag->bytes[at] != '=' &&
           tag->bytes[at] != '>') {
        at++;
    }
    *name = span_of(tag->bytes + begin, at - begin);
    while (at < tag->count && (is_space(tag->bytes[at]) || tag->bytes[at] == '=')) {
        at++;
    }
    if (name->count == 0 || at >= tag->count || (tag->bytes[at] != '"' && tag->bytes[at] != '\'')) {
        return false;
    }
    uint8_t quote = tag->bytes[at++];
    const uint8_t *end = memchr(tag->bytes + at, quote, tag->count - at);
    if (end == NULL) {
        return false;
    }
    *value = span_of(tag->bytes + at, (size_t)(end - tag->bytes) - at);
    size_t used = at + value->count + 1;
    *tag = span_of(tag->bytes + used, tag->count - used);
    return true;
}

static bool is_model(struct span text)
{
    struct span tag = root_of(text);
    size_t count = 0;
    if (tag.count == 0) {
        return false;
    }
    while (count < tag.count && !is_space(tag.bytes[count]) && tag.bytes[count] != '>') {
        count++;
    }
    struct span root = span_of(tag.bytes, count);
    const uint8_t *colon = count == 0 ? NULL : memchr(root.bytes, ':', count);
    struct span prefix = span_of(root.bytes, colon == NULL ? 0 : (size_t)(colon - root.bytes));
    struct span name;
    struct span value;
    tag = span_of(tag.bytes + count, tag.count - count);
    while (next_attribute(&tag, &name, &value)) {
        bool declares = colon == NULL
                            ? span_is(name, "xmlns")
                            : span_starts_with(name, "xmlns:") &&
                                  span_equal(span_of(name.bytes + 6, name.count - 6), prefix);
        if (declares) {
            return engine_dmn_is_namespace(value);
        }
    }
    return false;
}

/* UTF-16 of the order in which `low` is the place of the low byte; what is not ASCII is "?". */
static bool is_model_utf16(struct span content, size_t low)
{
    uint8_t text[LOOKED_AT_MAX];
    size_t count = 0;
    while (count < LOOKED_AT_MAX && 2 * count + 1 < content.count) {
        const uint8_t *unit = content.bytes + 2 * count;
        text[count++] = unit[1 - low] == 0 && unit[low] < 0x80 ? unit[low] : '?';
    }
    return is_model(span_of(text, count));
}

bool engine_dmn_is_model(struct span content)
{
    /* With a byte order mark, or by the "<" that XML begins with (XML 1.0 appendix F). */
    if (span_starts_with(content, "\xff\xfe") ||
        (content.count >= 2 && content.bytes[0] == '<' && content.bytes[1] == 0)) {
        return is_model_utf16(content, 0);
    }
    if (span_starts_with(content, "\xfe\xff") ||
        (content.count >= 2 && content.bytes[0] == 0 && content.bytes[1] == '<')) {
        return is_model_utf16(content, 1);
    }
    return is_model(content);
}
