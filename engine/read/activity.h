/*
 * activity.h: tasks, sub-processes, call activities and their loop markers, as plain BPMN writes
 * them.
 */
#ifndef ENGINE_READ_ACTIVITY_H
#define ENGINE_READ_ACTIVITY_H

#include "engine/read/draft.h"

/* Is this a task, of any kind? */
bool engine_activity_is_task(enum engine_kind kind);
/* A task, sub-process of any kind, or call activity: something that can have a boundary event. */
bool engine_activity_is(enum engine_kind kind);
/* Does it hold flow nodes of its own? */
bool engine_activity_is_scope(enum engine_kind kind);

/* Reads the BPMN part of an activity; vendors' extensions come after it and may override. */
void engine_activity_read(struct draft *draft, struct engine_node *node,
                          struct xml_element *element);
/* After the extensions: what only makes sense once all was read (a script in a language of others,
 * a call to nowhere). */
void engine_activity_finish(struct draft *draft, struct engine_node *node,
                            struct xml_element *element);

/*
 * Can a script of that format be evaluated here (FEEL, JUEL, or no format and an expression's
 * marker), and in which dialect?
 */
bool engine_activity_script_dialect(struct span format, struct span text,
                                    enum engine_dialect *dialect);

/*
 * How a call activity chooses among the versions of what it calls, in the vendors' words: latest,
 * deployment or versionTag, the tag standing at `tag`.
 */
void engine_activity_bind(struct draft *draft, struct engine_node *node,
                          struct xml_element *element, struct draft_place tag, struct span binding,
                          enum xml_namespace space);

#endif
