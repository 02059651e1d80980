/*
 * operation.c: names of operations and error codes, from the lists in the header.
 */
#include "proto/operation.h"

#include "proto/base/assert.h"

static const char *const operation_names[PROTO_OP_COUNT] = {[PROTO_OP_NONE] = "",
#define X(symbol, name) [PROTO_OP_##symbol] = name,
                                                            PROTO_OPERATIONS(X)
#undef X
};

static const char *const error_names[PROTO_ERROR_COUNT] = {[PROTO_ERROR_NONE] = "",
#define X(symbol) [PROTO_ERROR_##symbol] = #symbol,
                                                           PROTO_ERRORS(X)
#undef X
};

enum proto_operation proto_operation_parse(struct span name)
{
    for (int operation = PROTO_OP_NONE + 1; operation < PROTO_OP_COUNT; operation++) {
        if (span_is(name, operation_names[operation])) {
            return (enum proto_operation)operation;
        }
    }
    return PROTO_OP_NONE;
}

const char *proto_operation_name(enum proto_operation operation)
{
    ASSERT(operation < PROTO_OP_COUNT);
    return operation_names[operation];
}

const char *proto_error_name(enum proto_error error)
{
    ASSERT(error < PROTO_ERROR_COUNT);
    return error_names[error];
}
