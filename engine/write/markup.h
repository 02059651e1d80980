/*
 * markup.h: XML text, element by element, indented. Private to engine/write.
 */
#ifndef ENGINE_WRITE_MARKUP_H
#define ENGINE_WRITE_MARKUP_H

#include "proto/wire/writer.h"

struct markup {
    struct wire_writer out; /* used as a growing text */
    unsigned depth;
    bool is_tag_open; /* attributes may follow */
    bool is_illegal;  /* a character was given that XML 1.0 cannot hold */
};

void engine_markup_init(struct markup *markup, struct arena *arena);
struct span engine_markup_text(const struct markup *markup);
void engine_markup_open(struct markup *markup, const char *name);
/* Left out when the value is empty. */
void engine_markup_attribute(struct markup *markup, const char *name, struct span value);
void engine_markup_word(struct markup *markup, const char *name, const char *value);
void engine_markup_close(struct markup *markup, const char *name);
/* <name attribute>text</name>; nothing when the text is empty. `attributes`: ready text or "". */
void engine_markup_leaf(struct markup *markup, const char *name, const char *attributes,
                        struct span text);

#endif
