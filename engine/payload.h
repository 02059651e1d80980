/*
 * payload.h: merging into the payloads of an execution (engine.md 6). Part of applying: mechanical,
 * decides nothing.
 */
#ifndef ENGINE_PAYLOAD_H
#define ENGINE_PAYLOAD_H

#include "engine/execution.h"

enum { ENGINE_REPLY_WITHOUT_EXECUTION = 1, ENGINE_REPLY_LOGS_ONLY = 2 };

/*
 * Merges a MAP at the top level, key by key. Local variables are changed where they are:
 * `token`'s own (NULL: none), then those of its scopes, inner ones first; all others belong to the
 * process. Not a map: nothing.
 */
void engine_payload_merge(struct engine_execution *execution, struct engine_scope *scope,
                          struct engine_token *token, enum engine_payload payload,
                          struct span over);
/* Everything that a module's reply body brings, but output: payloads, outputs by node,
 * conversation, logs. */
void engine_payload_merge_reply(struct engine_execution *execution, struct engine_token *token,
                                struct span body, uint32_t flags);
/* A log entry. level and message are texts, data a value or empty, node NULL for none. */
void engine_payload_log(struct engine_execution *execution, struct span level, struct span message,
                        struct span data, const struct engine_node *node);
/* Shipped logs beyond the bound leave (engine.md 6). */
void engine_payload_trim_logs(struct engine_execution *execution);

#endif
