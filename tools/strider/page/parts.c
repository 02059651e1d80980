/*
 * parts.c: the files, put between two labels each by the assembler. tools/CMakeLists.txt says where
 * they are and that this file hangs on them.
 */
#include "tools/strider/page/parts.h"

#include "proto/base/assert.h"

#define PART(name, file)                                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global page_" #name "\n"                                                             \
            "page_" #name ":\n"                                                                    \
            ".incbin \"" PAGE_FOLDER "/" file "\"\n"                                               \
            ".global page_" #name "_end\n"                                                         \
            "page_" #name "_end:\n"                                                                \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const uint8_t page_##name[];                                                            \
    extern const uint8_t page_##name##_end[];

PART(replay, "replay/page/page.html")
PART(inspector, "inspector/page/inspector.html")
PART(board, "replay/page/board.html")
PART(style_viewer, "replay/vendor/diagram-js.css")
PART(style_bpmn, "replay/vendor/bpmn-js.css")
PART(style_board, "replay/page/page.css")
PART(style_inspector, "inspector/page/inspector.css")
PART(script_viewer, "replay/vendor/bpmn-navigated-viewer.production.min.js")
PART(script_story, "replay/page/story.js")
PART(script_tree, "replay/page/tree.js")
PART(script_names, "replay/page/names.js")
PART(script_diagram, "replay/page/diagram.js")
PART(script_replay, "replay/page/replay.js")
PART(script_embedded, "replay/page/embedded.js")
PART(script_api, "inspector/page/api.js")
PART(script_parts, "inspector/page/parts.js")
PART(script_ask, "inspector/page/ask.js")
PART(script_executions, "inspector/page/executions.js")
PART(script_begin, "inspector/page/begin.js")
PART(script_execution, "inspector/page/execution.js")
PART(script_lists, "inspector/page/lists.js")
PART(script_inspector, "inspector/page/inspector.js")

static const struct {
    const uint8_t *begin;
    const uint8_t *end;
} parts[PAGE_PART_COUNT] = {
    [PAGE_REPLAY] = {page_replay, page_replay_end},
    [PAGE_INSPECTOR] = {page_inspector, page_inspector_end},
    [PAGE_BOARD] = {page_board, page_board_end},
    [PAGE_STYLE_VIEWER] = {page_style_viewer, page_style_viewer_end},
    [PAGE_STYLE_BPMN] = {page_style_bpmn, page_style_bpmn_end},
    [PAGE_STYLE_BOARD] = {page_style_board, page_style_board_end},
    [PAGE_STYLE_INSPECTOR] = {page_style_inspector, page_style_inspector_end},
    [PAGE_SCRIPT_VIEWER] = {page_script_viewer, page_script_viewer_end},
    [PAGE_SCRIPT_STORY] = {page_script_story, page_script_story_end},
    [PAGE_SCRIPT_TREE] = {page_script_tree, page_script_tree_end},
    [PAGE_SCRIPT_NAMES] = {page_script_names, page_script_names_end},
    [PAGE_SCRIPT_DIAGRAM] = {page_script_diagram, page_script_diagram_end},
    [PAGE_SCRIPT_REPLAY] = {page_script_replay, page_script_replay_end},
    [PAGE_SCRIPT_EMBEDDED] = {page_script_embedded, page_script_embedded_end},
    [PAGE_SCRIPT_API] = {page_script_api, page_script_api_end},
    [PAGE_SCRIPT_PARTS] = {page_script_parts, page_script_parts_end},
    [PAGE_SCRIPT_ASK] = {page_script_ask, page_script_ask_end},
    [PAGE_SCRIPT_EXECUTIONS] = {page_script_executions, page_script_executions_end},
    [PAGE_SCRIPT_BEGIN] = {page_script_begin, page_script_begin_end},
    [PAGE_SCRIPT_EXECUTION] = {page_script_execution, page_script_execution_end},
    [PAGE_SCRIPT_LISTS] = {page_script_lists, page_script_lists_end},
    [PAGE_SCRIPT_INSPECTOR] = {page_script_inspector, page_script_inspector_end},
};

struct span page_part(enum page_part part)
{
    ASSERT(part < PAGE_PART_COUNT);
    return span_of(parts[part].begin, (size_t)(parts[part].end - parts[part].begin));
}
