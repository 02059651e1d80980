/*
 * parts.h: the files that the pages (a replay, the inspector) are made of, as they stand in
 * replay/page/, replay/vendor/ and inspector/page/.
 */
#ifndef TOOLS_STRIDER_PAGE_PARTS_H
#define TOOLS_STRIDER_PAGE_PARTS_H

#include "proto/base/span.h"

/* Styles and scripts stand in the order in which a page holds them. */
enum page_part {
    PAGE_REPLAY,    /* the frame of a replay */
    PAGE_INSPECTOR, /* the frame of the inspector */
    PAGE_BOARD,     /* steps, diagram and details: stands in both */
    PAGE_STYLE_VIEWER,
    PAGE_STYLE_BPMN,
    PAGE_STYLE_BOARD,
    PAGE_STYLE_INSPECTOR,
    PAGE_SCRIPT_VIEWER,
    PAGE_SCRIPT_STORY,
    PAGE_SCRIPT_TREE,
    PAGE_SCRIPT_NAMES,
    PAGE_SCRIPT_DIAGRAM,
    PAGE_SCRIPT_REPLAY,
    PAGE_SCRIPT_EMBEDDED, /* what a replay alone has */
    PAGE_SCRIPT_API,      /* from here on: what the inspector alone has */
    PAGE_SCRIPT_PARTS,
    PAGE_SCRIPT_ASK,
    PAGE_SCRIPT_EXECUTIONS,
    PAGE_SCRIPT_BEGIN,
    PAGE_SCRIPT_EXECUTION,
    PAGE_SCRIPT_LISTS,
    PAGE_SCRIPT_INSPECTOR,
    PAGE_PART_COUNT
};

struct span page_part(enum page_part part);

#endif
