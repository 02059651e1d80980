/*
 * index.h: the port of the index and audit tables (interfaces.md 6): ExecutionAudits and
 * ExecutionLogs.
 *
 * One thread owns it (the audit actor); calls may block. apply is idempotent: a row is written only
 * if its revision is newer than the stored one, and each (executionId, log index) once; the journal
 * position reached is stored in the same transaction.
 */
#ifndef STORAGE_INDEX_H
#define STORAGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

struct storage_index;

/* In place of a position: leave the stored one alone. For messages that come by the audit bus. */
#define STORAGE_NO_POSITION UINT64_MAX

struct storage_index_ops {
    /*
     * `messages`: audit messages (MAP values of interfaces.md 5), in order; `position`: the journal
     * place behind them. All or nothing. A message without executionId or revision is left out and
     * logged, as waiting would not make it better. RESULT_FULL, RESULT_IO, RESULT_AGAIN (locked by
     * another program). RESULT_INVALID: a value does not fit; nothing was written.
     */
    enum result (*apply)(struct storage_index *self, const struct span *messages, size_t count,
                         uint64_t position);
    /* The position of the last apply; 0 at first. */
    enum result (*position)(struct storage_index *self, uint64_t *position);
    /* One ExecutionAudits row as a MAP value with the message's field names. RESULT_NOT_FOUND. */
    enum result (*row)(struct storage_index *self, struct span execution_id, struct arena *arena,
                       struct span *out);
    /*
     * Rows as {"executions":[…],"cursor":…}: `query` is a MAP value with status, lifecycle,
     * process, workspaceId, projectId, since and endedBefore (RFC 3339), limit (<= 1000, default
     * 100), cursor; newest start first. RESULT_INVALID for a bad query.
     */
    enum result (*list)(struct storage_index *self, struct span query, struct arena *arena,
                        struct span *out);
    /* Logs of one execution in index order as an ARRAY value of the message's log entries, from
     * `first_index`, at most `limit`. */
    enum result (*logs)(struct storage_index *self, struct span execution_id, uint64_t first_index,
                        uint32_t limit, struct arena *arena, struct span *out);
    /*
     * Makes everything applied durable. Before that a power cut (not a kill) may take back the
     * newest applies, their position with them: the journal is trimmed only up to a position that
     * was reached before a flush.
     */
    enum result (*flush)(struct storage_index *self);
    /* Deletes the row and the logs of one execution. */
    enum result (*remove)(struct storage_index *self, struct span execution_id);
    void (*close)(struct storage_index *self);
};

struct storage_index {
    const struct storage_index_ops *ops;
};

#endif
