/*
 * audit_columns.h: the fields of an audit message (interfaces.md 5) and the columns of
 * ExecutionAudits (interfaces.md 6) that hold them, in the order of the message.
 */
#ifndef STORAGE_AUDIT_COLUMNS_H
#define STORAGE_AUDIT_COLUMNS_H

/* X(symbol, "field", "Column", kind) */
#define STORAGE_AUDIT_COLUMNS(X)                                                                   \
    X(MESSAGE_ID, "messageId", "MessageId", TEXT)                                                  \
    X(EXECUTION_ID, "executionId", "ExecutionId", TEXT)                                            \
    X(RUN, "run", "Run", INTEGER)                                                                  \
    X(REVISION, "revision", "Revision", INTEGER)                                                   \
    X(WORKSPACE_ID, "workspaceId", "WorkspaceId", TEXT)                                            \
    X(PROJECT_ID, "projectId", "ProjectId", TEXT)                                                  \
    X(PROCESS, "process", "Process", TEXT)                                                         \
    X(VERSION, "version", "Version", INTEGER)                                                      \
    X(CHANNEL, "channel", "Channel", TEXT)                                                         \
    X(CHANNEL_SESSION_ID, "channelSessionId", "ChannelSessionId", TEXT)                            \
    X(EVENT, "event", "Event", TEXT)                                                               \
    X(STATE, "state", "State", INTEGER)                                                            \
    X(STATUS, "status", "Status", TEXT)                                                            \
    X(LIFECYCLE, "lifecycle", "Lifecycle", TEXT)                                                   \
    X(SEQUENCE, "sequence", "Sequence", INTEGER)                                                   \
    X(TASK_ID, "taskId", "TaskId", TEXT)                                                           \
    X(STARTED_AT, "startedAt", "StartedAt", TEXT)                                                  \
    X(UPDATED_AT, "updatedAt", "UpdatedAt", TEXT)                                                  \
    X(ENDED_AT, "endedAt", "EndedAt", TEXT)                                                        \
    X(PAYLOAD_SIZE, "payloadSizeBytes", "PayloadSizeBytes", INTEGER)                               \
    X(ERROR_CODE, "errorCode", "ErrorCode", TEXT)                                                  \
    X(ERROR_MESSAGE, "errorMessage", "ErrorMessage", TEXT)                                         \
    X(IS_TEST, "isTest", "IsTest", BOOLEAN)                                                        \
    X(LAST_LOG_INDEX, "lastPersistedLogIndex", "LastPersistedLogIndex", INTEGER)

enum storage_audit_column {
#define X(symbol, field, column, kind) STORAGE_AUDIT_##symbol,
    STORAGE_AUDIT_COLUMNS(X)
#undef X
        STORAGE_AUDIT_COLUMN_COUNT
};

/* X(symbol, "field", "Column", kind): ExecutionLogs, behind its ExecutionId. */
#define STORAGE_LOG_COLUMNS(X)                                                                     \
    X(INDEX, "index", "LogIndex", INTEGER)                                                         \
    X(AT, "at", "At", TEXT)                                                                        \
    X(LEVEL, "level", "Level", TEXT)                                                               \
    X(MESSAGE, "message", "Message", TEXT)                                                         \
    X(TASK_ID, "taskId", "TaskId", TEXT)                                                           \
    X(DATA, "data", "Data", JSON)

enum storage_log_column {
#define X(symbol, field, column, kind) STORAGE_LOG_##symbol,
    STORAGE_LOG_COLUMNS(X)
#undef X
        STORAGE_LOG_COLUMN_COUNT
};

enum storage_column_kind {
    STORAGE_COLUMN_TEXT,
    STORAGE_COLUMN_INTEGER,
    STORAGE_COLUMN_BOOLEAN,
    STORAGE_COLUMN_JSON, /* any value, as JSON text: the table is for people and their tools */
};

/* The same as tables. */
struct storage_column {
    const char *field;
    enum storage_column_kind kind;
};

extern const struct storage_column storage_audit_columns[STORAGE_AUDIT_COLUMN_COUNT];
extern const struct storage_column storage_log_columns[STORAGE_LOG_COLUMN_COUNT];

#endif
