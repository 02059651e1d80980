/*
 * html.c: one page that needs nothing else: styles, scripts and the execution stand in it, and its
 * policy forbids it to load anything.
 *
 * The execution is JSON in a script element of a type that is not run. "<" is written \u003c in it,
 * so no text of a payload, not even "</script>", ends the element; the scripts put texts in as
 * texts, never as markup.
 */
#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/replay/parts.h"
#include "tools/strider/replay/replay.h"

#define POLICY                                                                                     \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "       \
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"

static void write_text(struct wire_writer *page, const char *text)
{
    wire_write_raw(page, span_text(text));
}

static void write_style(struct wire_writer *page, enum replay_part part)
{
    write_text(page, "<style>\n");
    wire_write_raw(page, replay_part(part));
    write_text(page, "</style>\n");
}

static void write_script(struct wire_writer *page, enum replay_part part)
{
    write_text(page, "<script>\n");
    wire_write_raw(page, replay_part(part));
    write_text(page, "</script>\n");
}

/* "<" stands in strings only: JSON has no other use for it. */
static void write_escaped(struct wire_writer *page, struct span json)
{
    size_t from = 0;
    for (size_t i = 0; i < json.count; i++) {
        if (json.bytes[i] == '<') {
            wire_write_raw(page, span_of(json.bytes + from, i - from));
            write_text(page, "\\u003c");
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
    wire_write_map(&held, 2);
    wire_pair_value(&held, "replay", value);
    wire_pair_string(&held, "diagram", replay->diagram);
    if (value.count == 0 || wire_writer_span(&held).count == 0 ||
        json_from_wire(wire_writer_span(&held), JSON_COMPACT, arena, &json) != RESULT_OK) {
        return false;
    }
    write_text(page, "<script type=\"application/json\" id=\"data\">");
    write_escaped(page, json);
    write_text(page, "</script>\n");
    return true;
}

static void write_head(struct wire_writer *page)
{
    write_text(page, POLICY);
    write_style(page, REPLAY_STYLE_VIEWER);
    write_style(page, REPLAY_STYLE_BPMN);
    write_style(page, REPLAY_STYLE);
}

static void write_scripts(struct wire_writer *page)
{
    for (int part = REPLAY_SCRIPT_VIEWER; part <= REPLAY_SCRIPT_EMBEDDED; part++) {
        write_script(page, (enum replay_part)part);
    }
}

/* Where a mark stands in the frame. */
static size_t find(struct span text, const char *mark)
{
    size_t count = strlen(mark);
    for (size_t i = 0; i + count <= text.count; i++) {
        if (memcmp(text.bytes + i, mark, count) == 0) {
            return i;
        }
    }
    ASSERT_UNREACHABLE();
}

struct span replay_html(const struct replay *replay, struct arena *arena)
{
    static const char head[] = "<!--head-->";
    static const char tail[] = "<!--tail-->";
    struct span frame = replay_part(REPLAY_PAGE);
    struct wire_writer page;
    size_t head_at = find(frame, head);
    size_t tail_at = find(frame, tail);
    size_t body_at = head_at + sizeof head - 1;
    size_t end_at = tail_at + sizeof tail - 1;
    wire_writer_init(&page, arena, 512 << 10);
    wire_write_raw(&page, span_of(frame.bytes, head_at));
    write_head(&page);
    wire_write_raw(&page, span_of(frame.bytes + body_at, tail_at - body_at));
    if (!write_execution(&page, replay, arena)) {
        return SPAN_EMPTY;
    }
    write_scripts(&page);
    wire_write_raw(&page, span_of(frame.bytes + end_at, frame.count - end_at));
    return wire_writer_span(&page);
}
