/*
 * request.h: the fields of a request (interfaces.md 2), read in one pass. A field has the same rule
 * wherever it stands: the router refuses a request that breaks one, so the shards take them as they
 * are.
 */
#ifndef ACTORS_REQUEST_H
#define ACTORS_REQUEST_H

#include "proto/base/span.h"
#include "proto/message.h"

enum actor_field_rule {
    ACTOR_RULE_ANY,
    ACTOR_RULE_TEXT,
    ACTOR_RULE_ID,      /* becomes part of a path or key */
    ACTOR_RULE_SESSION, /* channelSessionId */
    ACTOR_RULE_REQUEST_ID,
    ACTOR_RULE_MAP,
    ACTOR_RULE_BOOL,
    ACTOR_RULE_COUNT, /* a whole number from 0 */
    ACTOR_RULE_WAIT,  /* "segment" or "accepted" */
    ACTOR_RULE_INCLUDE,
    ACTOR_RULE_STATUS,    /* "": any */
    ACTOR_RULE_LIFECYCLE, /* "": any */
    ACTOR_RULE_ERROR,     /* as in a module's reply */
};

/* X(symbol, "name", rule) */
#define ACTOR_REQUEST_FIELDS(X)                                                                    \
    X(WORKSPACE, "workspaceId", ID)                                                                \
    X(PROJECT, "projectId", ID)                                                                    \
    X(EXECUTION_ID, "executionId", ID)                                                             \
    X(REQUEST_ID, "requestId", REQUEST_ID)                                                         \
    X(SESSION, "channelSessionId", SESSION)                                                        \
    X(CHANNEL, "channel", TEXT)                                                                    \
    X(PROCESS, "process", TEXT)                                                                    \
    X(VERSION, "version", COUNT)                                                                   \
    X(REQUEST, "request", MAP)                                                                     \
    X(CONTEXT, "context", MAP)                                                                     \
    X(EXECUTION, "execution", MAP)                                                                 \
    X(IS_TEST, "isTest", BOOL)                                                                     \
    X(WAIT, "wait", WAIT)                                                                          \
    X(TIMEOUT, "timeoutMs", COUNT)                                                                 \
    X(TRACEPARENT, "traceparent", TEXT)                                                            \
    X(TASK_ID, "taskId", TEXT)                                                                     \
    X(STEP_ID, "stepId", ID)                                                                       \
    X(PAYLOAD, "payload", ANY)                                                                     \
    X(OUTPUT, "output", ANY)                                                                       \
    X(ERROR, "error", ERROR)                                                                       \
    X(REASON, "reason", TEXT)                                                                      \
    X(LIMIT, "limit", COUNT)                                                                       \
    X(NAME, "name", TEXT)                                                                          \
    X(CORRELATION_KEY, "correlationKey", TEXT)                                                     \
    X(TTL, "ttlMs", COUNT)                                                                         \
    X(INCLUDE, "include", INCLUDE)                                                                 \
    X(STATUS, "status", STATUS)                                                                    \
    X(LIFECYCLE, "lifecycle", LIFECYCLE)                                                           \
    X(TO_VERSION, "toVersion", COUNT)                                                              \
    X(MAPPING, "mapping", MAP)                                                                     \
    X(FROM, "from", COUNT)                                                                         \
    X(PATH, "path", TEXT)                                                                          \
    X(DIRECTORY, "directory", TEXT)                                                                \
    X(CURSOR, "cursor", TEXT)                                                                      \
    X(IF_ENDED, "ifEnded", BOOL)

enum actor_field {
#define X(symbol, name, rule) ACTOR_FIELD_##symbol,
    ACTOR_REQUEST_FIELDS(X)
#undef X
        ACTOR_FIELD_COUNT
};

struct actor_request {
    struct span at[ACTOR_FIELD_COUNT]; /* values, borrowed from the body; empty: absent or nil */
};

/* Of a field named twice the last one counts. */
void actor_request_read(struct span body, struct actor_request *out);
/* The first field that breaks its rule, ACTOR_FIELD_COUNT when none does; *wanted says what the
 * rule asks for. */
enum actor_field actor_request_check(const struct actor_request *request, const char **wanted);
const char *actor_field_name(enum actor_field field);
/* `limit` of the operations that list: of what stands in the request, and where nothing does. */
struct actor_page {
    uint32_t usual;
    uint32_t most; /* 0: the operation has no limit */
};
struct actor_page actor_request_page(enum proto_operation operation);

/* Of a request that passed the check. */
struct span actor_request_text(const struct actor_request *request, enum actor_field field,
                               const char *fallback);
int64_t actor_request_count(const struct actor_request *request, enum actor_field field,
                            int64_t fallback);

/* What a repeat of a requestId must have in common with the first: all fields but `token` and
 * `timeoutMs`, which say who asks and how long it waits, not what is asked for. */
uint64_t actor_request_hash(struct span body);
/* Its `limit`, or the usual one of its operation. */
uint32_t actor_request_limit(const struct actor_request *request, enum proto_operation operation);
/* Does it need the journal? */
bool actor_operation_changes(enum proto_operation operation);

#endif
