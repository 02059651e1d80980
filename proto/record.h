/*
 * record.h: what stands in the journal. The journal is the one durable log of the program: state,
 * blobs, audit messages, remembered requests and definitions are all records of it, and each drain
 * (state, blob, audit) is a reader with its own durable position. So nothing is queued in memory
 * only, and the journal may forget what lies before every position.
 *
 * A batch is a run of records; each is: u32 body bytes, u8 kind, body (little-endian). The storage
 * layer wraps batches with length, position and CRC32C. Bodies are MessagePack arrays unless said
 * otherwise:
 *
 * - EVENTS [executionId, firstEventSequence, events…]: engine events since its last record
 * - SNAPSHOT [executionId, workspaceId, flags, binary]: execution.msgpack; supersedes the EVENTS
 *   before it
 * - STEP [workspaceId, executionId, stepId, binary]: a step blob, immutable
 * - AUDIT [executionId, revision, map]: an audit message (interfaces.md 5)
 * - REQUEST [workspaceId, requestId, bodyHash, atMs, binary]: the first reply to a requestId
 * - DEFINITION [projectId, name, version, atMs, binary]: a deployed file
 * - FORGET [executionId, workspaceId]: an operator's delete
 * - MESSAGE [workspaceId, projectId, messageId, expiresAtMs, [name, correlationKey, payload,
 * atMs]]: published, and nobody's yet
 * - MESSAGE_TAKEN [messageId]: in the batch of what it did to whoever took it, or expired
 * - TRIGGER [projectId, process, version, dueMs, [trigger, fired, firedMs, executionId]]: in the
 *   batch of the execution that it began
 */
#ifndef PROTO_RECORD_H
#define PROTO_RECORD_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

enum proto_record_kind {
    PROTO_RECORD_NONE = 0,
    PROTO_RECORD_EVENTS = 1,
    PROTO_RECORD_SNAPSHOT = 2,
    PROTO_RECORD_STEP = 3,
    PROTO_RECORD_AUDIT = 4,
    PROTO_RECORD_REQUEST = 5,
    PROTO_RECORD_DEFINITION = 6,
    PROTO_RECORD_FORGET = 7,
    PROTO_RECORD_MESSAGE = 8,
    PROTO_RECORD_MESSAGE_TAKEN = 9,
    PROTO_RECORD_TRIGGER = 10,
    PROTO_RECORD_LAST = PROTO_RECORD_TRIGGER,
};

enum proto_snapshot_flags {
    PROTO_SNAPSHOT_WAITING = 1, /* live: recovery needs it */
    PROTO_SNAPSHOT_ENDED = 2,   /* terminal: the state table forgets it, the blob stays */
    PROTO_SNAPSHOT_INTERIM = 4, /* taken in mid-segment to let the journal move on: no blob */
    PROTO_SNAPSHOT_FIRST = 8,   /* the execution's first: no table holds an older one */
};

/* A decoded record; spans borrow from the batch. Fields that a kind does not have are empty. */
struct proto_record {
    enum proto_record_kind kind;
    struct span execution_id;
    struct span workspace_id;
    struct span name; /* stepId, requestId, file name, messageId or process */
    struct span project_id;
    uint64_t number; /* firstEventSequence, flags, revision, bodyHash or version */
    int64_t at_ms;
    struct span body; /* events run, blob bytes, audit map, reply bytes or file bytes */
};

struct wire_writer;

/* Appends one record to a batch. */
void record_write(struct wire_writer *batch, const struct proto_record *record);
/*
 * Next record of a batch; RESULT_NOT_FOUND at its end, RESULT_CORRUPT when it is none. *batch moves
 * on.
 */
MUST_USE enum result record_read(struct span *batch, struct proto_record *out);

#define PROTO_RECORD_BIT(kind) (1u << (unsigned)(kind))
/* The same, of the `kinds` alone: the others are stepped over, and their bodies not looked at. */
MUST_USE enum result record_read_only(struct span *batch, uint32_t kinds, struct proto_record *out);

#endif
