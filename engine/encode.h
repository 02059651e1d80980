/*
 * encode.h: pieces of execution.msgpack that snapshot, step blob and audit message share.
 */
#ifndef ENGINE_ENCODE_H
#define ENGINE_ENCODE_H

#include "engine/execution.h"
#include "engine/pack.h"

/* executionId … isTest as pairs; returns their number. Written once, into execution->identity. */
uint32_t engine_encode_identity(const struct engine_execution *execution,
                                struct wire_writer *writer);
/* RFC 3339 text; the times of now and of the start are at hand already. */
void engine_encode_time(const struct engine_execution *execution, struct wire_writer *writer,
                        int64_t ms);
/* The CREATED event's value: what engine_replay makes the execution from again. */
struct span engine_encode_start(const struct engine_execution *execution, struct arena *arena);
/* The newest entry of executionMap; empty when there is none. */
struct span engine_encode_last_step(const struct engine_execution *execution);

#define ENGINE_PACK_TIME(execution, writer, key, ms)                                               \
    do {                                                                                           \
        ENGINE_PACK((writer), key);                                                                \
        engine_encode_time((execution), (writer), (ms));                                           \
    } while (0)

#endif
