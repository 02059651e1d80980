/*
 * parts.c: the files, put between two labels each by the assembler. tools/CMakeLists.txt says where
 * they are and that this file hangs on them.
 */
#include "tools/strider/replay/parts.h"

#include "proto/base/assert.h"

#define PART(name, file)                                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global replay_" #name "\n"                                                           \
            "replay_" #name ":\n"                                                                  \
            ".incbin \"" REPLAY_FOLDER "/" file "\"\n"                                             \
            ".global replay_" #name "_end\n"                                                       \
            "replay_" #name "_end:\n"                                                              \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const uint8_t replay_##name[];                                                          \
    extern const uint8_t replay_##name##_end[];

PART(page, "page/page.html")
PART(style_viewer, "vendor/diagram-js.css")
PART(style_bpmn, "vendor/bpmn-js.css")
PART(style, "page/page.css")
PART(script_viewer, "vendor/bpmn-navigated-viewer.production.min.js")
PART(script_story, "page/story.js")
PART(script_tree, "page/tree.js")
PART(script_diagram, "page/diagram.js")
PART(script_replay, "page/replay.js")
PART(script_embedded, "page/embedded.js")

static const struct {
    const uint8_t *begin;
    const uint8_t *end;
} parts[REPLAY_PART_COUNT] = {
    [REPLAY_PAGE] = {replay_page, replay_page_end},
    [REPLAY_STYLE_VIEWER] = {replay_style_viewer, replay_style_viewer_end},
    [REPLAY_STYLE_BPMN] = {replay_style_bpmn, replay_style_bpmn_end},
    [REPLAY_STYLE] = {replay_style, replay_style_end},
    [REPLAY_SCRIPT_VIEWER] = {replay_script_viewer, replay_script_viewer_end},
    [REPLAY_SCRIPT_STORY] = {replay_script_story, replay_script_story_end},
    [REPLAY_SCRIPT_TREE] = {replay_script_tree, replay_script_tree_end},
    [REPLAY_SCRIPT_DIAGRAM] = {replay_script_diagram, replay_script_diagram_end},
    [REPLAY_SCRIPT_REPLAY] = {replay_script_replay, replay_script_replay_end},
    [REPLAY_SCRIPT_EMBEDDED] = {replay_script_embedded, replay_script_embedded_end},
};

struct span replay_part(enum replay_part part)
{
    ASSERT(part < REPLAY_PART_COUNT);
    return span_of(parts[part].begin, (size_t)(parts[part].end - parts[part].begin));
}
