/*
 * operation.h: the operations of the NNG and REST fronts and the error codes of their replies
 * (interfaces.md 2).
 */
#ifndef PROTO_OPERATION_H
#define PROTO_OPERATION_H

#include "proto/base/result.h"
#include "proto/base/span.h"

/* X(symbol, "name") */
#define PROTO_OPERATIONS(X)                                                                        \
    X(START, "start")                                                                              \
    X(CALLBACK, "callback")                                                                        \
    X(GET, "get")                                                                                  \
    X(LIST, "list")                                                                                \
    X(TASKS, "tasks")                                                                              \
    X(DEPLOY, "deploy")                                                                            \
    X(DEFINITIONS, "definitions")                                                                  \
    X(MESSAGE, "message")                                                                          \
    X(SIGNAL, "signal")                                                                            \
    X(SUSPEND, "suspend")                                                                          \
    X(RESUME, "resume")                                                                            \
    X(ABORT, "abort")                                                                              \
    X(RESTART, "restart")                                                                          \
    X(DELETE, "delete")                                                                            \
    X(MIGRATE, "migrate")                                                                          \
    X(IMPORT, "import")                                                                            \
    X(RETRY, "retry")                                                                              \
    X(PING, "ping")                                                                                \
    X(STATS, "stats")                                                                              \
    X(STEPS, "steps")                                                                              \
    X(HOOK, "hook")                                                                                \
    X(BACKUP, "backup")

enum proto_operation {
    PROTO_OP_NONE = 0,
#define X(symbol, name) PROTO_OP_##symbol,
    PROTO_OPERATIONS(X)
#undef X
        PROTO_OP_COUNT
};

/* X(symbol): the code is its own text, "InvalidRequest". */
#define PROTO_ERRORS(X)                                                                            \
    X(InvalidRequest)                                                                              \
    X(Unauthorized)                                                                                \
    X(DefinitionNotFound)                                                                          \
    X(DefinitionInvalid)                                                                           \
    X(StartTaskNotFound)                                                                           \
    X(TasksHasNoType)                                                                              \
    X(ModuleNotFound)                                                                              \
    X(ModuleFailed)                                                                                \
    X(MaxRetriesExceeded)                                                                          \
    X(StepLimitExceeded)                                                                           \
    X(NoPathTaken)                                                                                 \
    X(ExpressionFailed)                                                                            \
    X(Deadlock)                                                                                    \
    X(SessionNotFound)                                                                             \
    X(AlreadyExists)                                                                               \
    X(AlreadyFinished)                                                                             \
    X(NotWaiting)                                                                                  \
    X(AmbiguousCallback)                                                                           \
    X(InvalidTransition)                                                                           \
    X(Aborted)                                                                                     \
    X(Timeout)                                                                                     \
    X(Overloaded)                                                                                  \
    X(PayloadTooLarge)                                                                             \
    X(StorageFailed)                                                                               \
    X(ShuttingDown)                                                                                \
    X(Internal)

enum proto_error {
    PROTO_ERROR_NONE = 0,
#define X(symbol) PROTO_ERROR_##symbol,
    PROTO_ERRORS(X)
#undef X
        PROTO_ERROR_COUNT
};

/* PROTO_OP_NONE for an unknown name. */
enum proto_operation proto_operation_parse(struct span name);
const char *proto_operation_name(enum proto_operation operation);
/* "" for PROTO_ERROR_NONE. */
const char *proto_error_name(enum proto_error error);

#endif
