/*
 * audit_message.h: audit messages (interfaces.md 5) as the index ports take them apart, the same
 * for every database. Pure functions.
 */
#ifndef STORAGE_AUDIT_MESSAGE_H
#define STORAGE_AUDIT_MESSAGE_H

#include "proto/base/arena.h"
#include "storage/audit_columns.h"

/* One audit message: its fields as values, empty where absent; borrowed. */
struct storage_audit_message {
    struct span fields[STORAGE_AUDIT_COLUMN_COUNT];
    struct span logs; /* ARRAY value, or empty */
    struct span execution_id;
    int64_t revision;
};

/* False: no map, or without executionId or revision; waiting would not make it better. */
bool storage_audit_message_read(struct span map, struct storage_audit_message *out);

/*
 * Reads the messages, leaves out the bad ones (and logs that), and of each execution marks the one
 * with the newest revision: *out has `*out_count` messages, newest[i] says of each whether its row
 * counts. RESULT_LIMIT: the arena is full.
 */
MUST_USE enum result storage_audit_messages_read(const struct span *messages, size_t count,
                                                 struct arena *arena,
                                                 struct storage_audit_message **out, bool **newest,
                                                 size_t *out_count);

#endif
