/* listing.c: see listing.h. */
#include "storage/http/listing.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

#define TEXT_BYTES_MAX 4096u /* of a name or marker */

struct reader {
    const struct storage_listing_words *words;
    struct arena *arena;
    void (*each)(void *owner, struct span name);
    void *owner;
    struct span *marker;
    XML_Parser parser;
    bool in_item;
    bool gathers; /* inside an element whose text counts */
    bool refused;
    size_t count;
    char text[TEXT_BYTES_MAX];
};

static void on_start(void *owner, const XML_Char *name, const XML_Char **attributes)
{
    (void)attributes;
    struct reader *reader = owner;
    const struct storage_listing_words *words = reader->words;
    reader->in_item = reader->in_item || strcmp(name, words->item) == 0;
    reader->gathers = strcmp(name, reader->in_item ? words->name : words->marker) == 0;
    reader->count = 0;
}

static void on_text(void *owner, const XML_Char *text, int count)
{
    struct reader *reader = owner;
    if (!reader->gathers) {
        return;
    }
    if (reader->count + (size_t)count > sizeof reader->text) {
        reader->refused = true;
        XML_StopParser(reader->parser, XML_FALSE);
        return;
    }
    memcpy(reader->text + reader->count, text, (size_t)count);
    reader->count += (size_t)count;
}

static void on_end(void *owner, const XML_Char *name)
{
    struct reader *reader = owner;
    struct span text = span_of(reader->text, reader->count);
    if (reader->gathers && reader->in_item) {
        reader->each(reader->owner, text);
    } else if (reader->gathers) {
        *reader->marker = arena_copy(reader->arena, text);
    }
    reader->gathers = false;
    reader->in_item = reader->in_item && strcmp(name, reader->words->item) != 0;
}

/* Neither service sends one, and without it there are no entities to blow up. */
static void on_doctype(void *owner, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int has_internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    struct reader *reader = owner;
    XML_StopParser(reader->parser, XML_FALSE);
}

enum result storage_listing_read(struct span xml, const struct storage_listing_words *words,
                                 struct arena *arena, void (*each)(void *owner, struct span name),
                                 void *owner, struct span *marker)
{
    *marker = SPAN_EMPTY;
    XML_Parser parser = XML_ParserCreate("UTF-8");
    if (parser == NULL || xml.count > INT_MAX) {
        XML_ParserFree(parser);
        return RESULT_LIMIT;
    }
    struct reader reader = {.words = words,
                            .arena = arena,
                            .each = each,
                            .owner = owner,
                            .marker = marker,
                            .parser = parser};
    XML_SetUserData(parser, &reader);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    enum XML_Status status =
        XML_Parse(parser, (const char *)xml.bytes, (int)xml.count, /* isFinal */ 1);
    XML_ParserFree(parser);
    if (reader.refused || arena->overflowed) {
        return RESULT_LIMIT;
    }
    return status == XML_STATUS_OK ? RESULT_OK : RESULT_INVALID;
}
