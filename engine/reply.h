/*
 * reply.h: the list of waits, for replies and for the details of AmbiguousCallback.
 */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include "engine/execution.h"

/* [{taskId, kind, since, dueAt?}, …]; empty once it has ended. */
void engine_reply_waiting(const struct engine_execution *execution, struct wire_writer *writer);

#endif
