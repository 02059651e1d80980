/*
 * frame.h: writing a page: a frame of HTML with marks "<!--name-->", in whose places styles,
 * scripts and the rest are put, in their order.
 */
#ifndef TOOLS_STRIDER_PAGE_FRAME_H
#define TOOLS_STRIDER_PAGE_FRAME_H

#include "proto/wire/writer.h"
#include "tools/strider/page/parts.h"

void page_write_text(struct wire_writer *page, const char *text);
/* The frame up to a mark, which it must have; `frame` is then what stands behind the mark. */
void page_write_up_to(struct wire_writer *page, struct span *frame, const char *mark);
/* An element each, which holds the part and no more. */
void page_write_styles(struct wire_writer *page, enum page_part first, enum page_part last);
void page_write_scripts(struct wire_writer *page, enum page_part first, enum page_part last);

#endif
