/* text.h: strings as code points. Texts are valid UTF-8. Pure functions. */
#ifndef ENGINE_EXPRESSION_TEXT_H
#define ENGINE_EXPRESSION_TEXT_H

#include "proto/base/arena.h"
#include "proto/base/span.h"

#define EXPRESSION_NOT_FOUND SIZE_MAX

/* Decodes the code point at *offset (< text.count) and moves behind it. */
uint32_t expression_text_decode(struct span text, size_t *offset);
/* Writes 1..4 bytes of UTF-8; returns how many. */
size_t expression_text_encode(uint32_t point, uint8_t out[4]);
/* Number of code points. */
size_t expression_text_count(struct span text);
/* Byte offset of code point `index`; text.count when there are fewer. */
size_t expression_text_offset(struct span text, size_t index);
/* Byte offset of the first (last) occurrence, or EXPRESSION_NOT_FOUND. */
size_t expression_text_find(struct span text, struct span part);
size_t expression_text_find_last(struct span text, struct span part);
bool expression_text_ends_with(struct span text, struct span part);
/* All letters in upper (lower) case, as Unicode has them: "ß" becomes "SS". Empty when the arena is
 * full. */
struct span expression_text_upper(struct arena *arena, struct span text);
struct span expression_text_lower(struct arena *arena, struct span text);
/* One code point in its upper (lower) case where that is one too; unicode_case.c. */
uint32_t expression_point_upper(uint32_t point);
uint32_t expression_point_lower(uint32_t point);
/* The two or three code points that its upper case is, then 0; NULL where that is one. */
const uint32_t *expression_point_upper_long(uint32_t point);
/* Another case of it; then the next, and so on until it is back. Itself where it has no cases. */
uint32_t expression_point_next_case(uint32_t point);
struct span expression_text_concatenate(struct arena *arena, struct span a, struct span b);

/* Text under construction; a full arena drops what does not fit and is latched there. */
struct expression_buffer {
    struct arena *arena;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
};

void expression_buffer_add(struct expression_buffer *buffer, struct span text);
struct span expression_buffer_span(const struct expression_buffer *buffer);

/* May a name begin with, or go on with, this code point? (DMN 1.5 §10.3.1.2 grammar rules 27
 * to 29.) */
bool expression_text_is_name_start(uint32_t point);
bool expression_text_is_name_part(uint32_t point);
/* White space and line ends of the FEEL grammar (rules 61 to 63). */
bool expression_text_is_space(uint32_t point);

enum expression_escapes {
    ESCAPES_FEEL, /* \n \r \t \' \" \\ \uXXXX \UXXXXXX; any other backslash stands for itself
                     (grammar rule 64) */
    ESCAPES_JUEL, /* \\ and the quotes; any other is an error */
};

/*
 * Decodes what stands between the quotes of a string literal. Returns NULL, or why it cannot be:
 * then *offset is the byte in `raw`. *out is borrowed from `raw` where nothing is escaped, else in
 * the arena.
 */
const char *expression_text_unescape(struct arena *arena, struct span raw,
                                     enum expression_escapes escapes, struct span *out,
                                     size_t *offset);

#endif
