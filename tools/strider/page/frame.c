/*
 * frame.c: see frame.h. Parts are our own files, so nothing is escaped here.
 */
#include "tools/strider/page/frame.h"

#include <string.h>

#include "proto/base/assert.h"

void page_write_text(struct wire_writer *page, const char *text)
{
    wire_write_raw(page, span_text(text));
}

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

void page_write_up_to(struct wire_writer *page, struct span *frame, const char *mark)
{
    size_t at = find(*frame, mark);
    size_t behind = at + strlen(mark);
    wire_write_raw(page, span_of(frame->bytes, at));
    *frame = span_of(frame->bytes + behind, frame->count - behind);
}

static void write_elements(struct wire_writer *page, const char *name, enum page_part first,
                           enum page_part last)
{
    ASSERT(first <= last && last < PAGE_PART_COUNT);
    for (int part = (int)first; part <= (int)last; part++) {
        page_write_text(page, "<");
        page_write_text(page, name);
        page_write_text(page, ">");
        wire_write_raw(page, page_part((enum page_part)part));
        page_write_text(page, "</");
        page_write_text(page, name);
        page_write_text(page, ">\n");
    }
}

void page_write_styles(struct wire_writer *page, enum page_part first, enum page_part last)
{
    write_elements(page, "style", first, last);
}

void page_write_scripts(struct wire_writer *page, enum page_part first, enum page_part last)
{
    write_elements(page, "script", first, last);
}
