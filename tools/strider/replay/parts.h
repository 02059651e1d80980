/*
 * parts.h: the files that the replay page is made of, as they stand in page/ and vendor/.
 */
#ifndef TOOLS_STRIDER_REPLAY_PARTS_H
#define TOOLS_STRIDER_REPLAY_PARTS_H

#include "proto/base/span.h"

enum replay_part {
    REPLAY_PAGE,
    REPLAY_STYLE_VIEWER,
    REPLAY_STYLE_BPMN,
    REPLAY_STYLE,
    REPLAY_SCRIPT_VIEWER,
    REPLAY_SCRIPT_STORY,
    REPLAY_SCRIPT_TREE,
    REPLAY_SCRIPT_DIAGRAM,
    REPLAY_SCRIPT_REPLAY,
    REPLAY_SCRIPT_EMBEDDED,
    REPLAY_PART_COUNT
};

struct span replay_part(enum replay_part part);

#endif
