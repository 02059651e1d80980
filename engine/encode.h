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

/* Identity, state, error: the head of both kinds of blob, as pairs. */
uint32_t engine_encode_head(const struct engine_execution *execution, struct wire_writer *writer);
uint32_t engine_encode_payloads(const struct engine_execution *execution,
                                struct wire_writer *writer);
void engine_encode_token(const struct engine_execution *execution, const struct engine_token *token,
                         struct wire_writer *writer);
/* `whole`: with the collection, the results and what can be compensated, which grow with what has
 * happened. */
void engine_encode_scope(const struct engine_execution *execution, const struct engine_scope *scope,
                         bool whole, struct wire_writer *writer);
/* Tokens that wait in joins of the scope: [flow, count, path, output] each. */
void engine_encode_joins(const struct engine_execution *execution, const struct engine_scope *scope,
                         struct wire_writer *writer);

#define ENGINE_PACK_TIME(execution, writer, key, ms)                                               \
    do {                                                                                           \
        ENGINE_PACK((writer), key);                                                                \
        engine_encode_time((execution), (writer), (ms));                                           \
    } while (0)

/*
 * Optional pairs of a map that is being written by a function with `writer`, `count` (and
 * `execution`, for times): written and counted only when they say something.
 */
#define ENGINE_OPTIONAL_UINT(key, value)                                                           \
    do {                                                                                           \
        if ((value) != 0) {                                                                        \
            ENGINE_PACK_UINT(writer, key, (value));                                                \
            count++;                                                                               \
        }                                                                                          \
    } while (0)
#define ENGINE_OPTIONAL_STRING(key, value)                                                         \
    do {                                                                                           \
        if ((value).count > 0) {                                                                   \
            ENGINE_PACK_STRING(writer, key, (value));                                              \
            count++;                                                                               \
        }                                                                                          \
    } while (0)
#define ENGINE_OPTIONAL_VALUE(key, value)                                                          \
    do {                                                                                           \
        if ((value).count > 0) {                                                                   \
            ENGINE_PACK_VALUE(writer, key, (value));                                               \
            count++;                                                                               \
        }                                                                                          \
    } while (0)
#define ENGINE_OPTIONAL_TIME(key, ms, condition)                                                   \
    do {                                                                                           \
        if (condition) {                                                                           \
            ENGINE_PACK_TIME(execution, writer, key, (ms));                                        \
            count++;                                                                               \
        }                                                                                          \
    } while (0)

#endif
