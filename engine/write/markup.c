/*
 * markup.c: see markup.h.
 */
#include "engine/write/markup.h"

#include "proto/base/assert.h"

void engine_markup_init(struct markup *markup, struct arena *arena)
{
    *markup = (struct markup){.depth = 0};
    wire_writer_init(&markup->out, arena, 16 << 10);
    wire_write_raw(&markup->out, span_text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"));
}

struct span engine_markup_text(const struct markup *markup)
{
    ASSERT(markup->depth == 0);
    return wire_writer_span(&markup->out);
}

static void put(struct markup *markup, const char *text)
{
    wire_write_raw(&markup->out, span_text(text));
}

static void end_tag(struct markup *markup)
{
    if (markup->is_tag_open) {
        put(markup, ">");
        markup->is_tag_open = false;
    }
}

static void begin_line(struct markup *markup)
{
    put(markup, "\n");
    for (unsigned i = 0; i < markup->depth; i++) {
        put(markup, "  ");
    }
}

/* XML 1.0 §2.2: no control characters but tab, line feed and return; no U+FFFE and U+FFFF. */
static bool is_legal(const uint8_t *at, size_t left)
{
    bool is_control = at[0] < 0x20 && at[0] != '\t' && at[0] != '\n' && at[0] != '\r';
    bool is_noncharacter = left >= 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
    return !is_control && !is_noncharacter;
}

/* Line ends within an attribute would come back as spaces, a bare return as a line feed. */
static const char *escape_of(uint8_t at, bool is_attribute)
{
    switch (at) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;";
    case '"':
        return is_attribute ? "&quot;" : NULL;
    case '\n':
        return is_attribute ? "&#10;" : NULL;
    case '\t':
        return is_attribute ? "&#9;" : NULL;
    default:
        return NULL;
    }
}

static void put_escaped(struct markup *markup, struct span text, bool is_attribute)
{
    size_t begin = 0;
    for (size_t i = 0; i < text.count; i++) {
        markup->is_illegal |= !is_legal(text.bytes + i, text.count - i);
        const char *escape = escape_of(text.bytes[i], is_attribute);
        if (escape != NULL) {
            wire_write_raw(&markup->out, span_of(text.bytes + begin, i - begin));
            put(markup, escape);
            begin = i + 1;
        }
    }
    wire_write_raw(&markup->out, span_of(text.bytes + begin, text.count - begin));
}

void engine_markup_open(struct markup *markup, const char *name)
{
    end_tag(markup);
    begin_line(markup);
    put(markup, "<");
    put(markup, name);
    markup->is_tag_open = true;
    markup->depth++;
}

void engine_markup_attribute(struct markup *markup, const char *name, struct span value)
{
    ASSERT(markup->is_tag_open);
    if (value.count == 0) {
        return;
    }
    put(markup, " ");
    put(markup, name);
    put(markup, "=\"");
    put_escaped(markup, value, true);
    put(markup, "\"");
}

void engine_markup_word(struct markup *markup, const char *name, const char *value)
{
    engine_markup_attribute(markup, name, span_text(value));
}

void engine_markup_close(struct markup *markup, const char *name)
{
    ASSERT(markup->depth > 0);
    markup->depth--;
    if (markup->is_tag_open) {
        put(markup, "/>");
        markup->is_tag_open = false;
        return;
    }
    begin_line(markup);
    put(markup, "</");
    put(markup, name);
    put(markup, ">");
}

void engine_markup_leaf(struct markup *markup, const char *name, const char *attributes,
                        struct span text)
{
    if (text.count == 0) {
        return;
    }
    end_tag(markup);
    begin_line(markup);
    put(markup, "<");
    put(markup, name);
    put(markup, attributes);
    put(markup, ">");
    put_escaped(markup, text, false);
    put(markup, "</");
    put(markup, name);
    put(markup, ">");
}
