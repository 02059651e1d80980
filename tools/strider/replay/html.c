/*
 * html.c: one page that needs nothing else: styles, scripts and the execution stand in it, and its
 * policy forbids it to load anything.
 *
 * The execution is JSON in a script element of a type that is not run. "<" is written \u003c in it,
 * so no text of a payload, not even "</script>", ends the element; the scripts put texts in as
 * texts, never as markup.
 */
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/page/frame.h"
#include "tools/strider/replay/replay.h"

#define POLICY                                                                                     \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "       \
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"

/* "<" stands in strings only: JSON has no other use for it. */
static void write_escaped(struct wire_writer *page, struct span json)
{
    size_t from = 0;
    for (size_t i = 0; i < json.count; i++) {
        if (json.bytes[i] == '<') {
            wire_write_raw(page, span_of(json.bytes + from, i - from));
            page_write_text(page, "\\u003c");
            from = i + 1;
        }
    }
    wire_write_raw(page, span_of(json.bytes + from, json.count - from));
}

static bool write_execution(struct wire_writer *page, const struct replay *replay,
                            struct arena *arena)
{
    struct wire_writer held;
    struct span json;
    struct span value = replay_value(replay, arena);
    wire_writer_init(&held, arena, value.count + replay->diagram.count + 64);
    wire_write_map(&held, 3);
    wire_pair_value(&held, "replay", value);
    wire_pair_string(&held, "diagram", replay->diagram);
    wire_write_text(&held, "called");
    wire_write_map(&held, replay->called_count);
    for (uint32_t i = 0; i < replay->called_count; i++) {
        wire_write_string(&held, replay->called[i].process);
        wire_write_string(&held, replay->called[i].diagram);
    }
    if (value.count == 0 || wire_writer_span(&held).count == 0 ||
        json_from_wire(wire_writer_span(&held), JSON_COMPACT, arena, &json) != RESULT_OK) {
        return false;
    }
    page_write_text(page, "<script type=\"application/json\" id=\"data\">");
    write_escaped(page, json);
    page_write_text(page, "</script>\n");
    return true;
}

struct span replay_html(const struct replay *replay, struct arena *arena)
{
    struct span frame = page_part(PAGE_REPLAY);
    struct wire_writer page;
    wire_writer_init(&page, arena, 512 << 10);
    page_write_up_to(&page, &frame, "<!--head-->");
    page_write_text(&page, POLICY);
    page_write_styles(&page, PAGE_STYLE_VIEWER, PAGE_STYLE_BOARD);
    page_write_up_to(&page, &frame, "<!--board-->");
    wire_write_raw(&page, page_part(PAGE_BOARD));
    page_write_up_to(&page, &frame, "<!--tail-->");
    if (!write_execution(&page, replay, arena)) {
        return SPAN_EMPTY;
    }
    page_write_scripts(&page, PAGE_SCRIPT_VIEWER, PAGE_SCRIPT_EMBEDDED);
    wire_write_raw(&page, frame);
    return wire_writer_span(&page);
}
