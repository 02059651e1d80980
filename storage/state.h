/*
 * state.h: the port of the state table: what recovery starts from, folded from the journal by the
 * state drain.
 *
 * One thread owns it (the storage actor); calls may block on the disk. Changes of one apply are
 * atomic and carry the journal position that they reach, so after a crash the table and its
 * position agree. Not durable before flush.
 */
#ifndef STORAGE_STATE_H
#define STORAGE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

enum storage_table {
    STORAGE_EXECUTIONS,  /* key executionId -> newest snapshot of a live execution */
    STORAGE_REQUESTS,    /* key workspaceId NUL requestId -> [bodyHash, atMs, executionId, reply] */
    STORAGE_DEFINITIONS, /* key projectId NUL name NUL version(be32) -> [atMs, content] */
    STORAGE_MESSAGES,    /* key messageId -> [workspaceId, projectId, expiresAtMs, [name,
                            correlationKey, payload, atMs]] */
    STORAGE_POSITIONS,   /* key drain name -> journal position (be64) */
    STORAGE_TRIGGERS,    /* key projectId NUL hash of process and trigger -> [process, version,
                            dueMs, [trigger, fired, firedMs, executionId]]: its last firing */
    STORAGE_TABLE_COUNT
};

struct storage_change {
    enum storage_table table;
    struct span key;   /* 1..480 bytes */
    struct span value; /* empty bytes with remove=false is a legal value */
    bool remove;
};

struct storage_state;

struct storage_state_ops {
    /* All or nothing; later changes of the same key win. RESULT_FULL, RESULT_IO, RESULT_INVALID (a
     * key of no bytes or over 480): nothing changed. */
    enum result (*apply)(struct storage_state *self, const struct storage_change *changes,
                         size_t count);
    /*
     * Makes everything applied durable. RESULT_FULL, RESULT_IO: not durable yet, but still applied;
     * may be tried again. An adapter may make things durable earlier; what it drops when it ends
     * without a flush is a run of the newest applies.
     */
    enum result (*flush)(struct storage_state *self);
    /* *value lives in the arena. RESULT_NOT_FOUND, RESULT_CORRUPT, RESULT_LIMIT (a full arena). */
    enum result (*get)(struct storage_state *self, enum storage_table table, struct span key,
                       struct arena *arena, struct span *value);
    /* In key order from the first key > `after` (empty: from the start); `each` returns false to
     * stop. Spans live during the call. RESULT_CORRUPT, after all sound rows, when a row was not.
     */
    enum result (*scan)(struct storage_state *self, enum storage_table table, struct span after,
                        bool (*each)(void *owner, struct span key, struct span value), void *owner);
    /* Number of rows. */
    uint64_t (*count)(struct storage_state *self, enum storage_table table);
    void (*close)(struct storage_state *self);
};

struct storage_state {
    const struct storage_state_ops *ops;
};

#endif
