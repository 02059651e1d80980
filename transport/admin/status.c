/*
 * status.c: RFC 9110 §15. 4xx: the caller can do something about it; 5xx: only we can; 422:
 * understood, but this definition or execution cannot do it.
 */
#include "transport/admin/status.h"

#include "proto/base/assert.h"

static const uint16_t status_of[PROTO_ERROR_COUNT] = {
    [PROTO_ERROR_NONE] = 200,
    [PROTO_ERROR_InvalidRequest] = 400,
    [PROTO_ERROR_Unauthorized] = 401,
    [PROTO_ERROR_DefinitionNotFound] = 404,
    [PROTO_ERROR_DefinitionInvalid] = 422,
    [PROTO_ERROR_StartTaskNotFound] = 422,
    [PROTO_ERROR_TasksHasNoType] = 422,
    [PROTO_ERROR_ModuleNotFound] = 422,
    [PROTO_ERROR_ModuleFailed] = 422,
    [PROTO_ERROR_MaxRetriesExceeded] = 422,
    [PROTO_ERROR_StepLimitExceeded] = 422,
    [PROTO_ERROR_NoPathTaken] = 422,
    [PROTO_ERROR_ExpressionFailed] = 422,
    [PROTO_ERROR_Deadlock] = 422,
    [PROTO_ERROR_SessionNotFound] = 404,
    [PROTO_ERROR_AlreadyExists] = 409,
    [PROTO_ERROR_AlreadyFinished] = 409,
    [PROTO_ERROR_NotWaiting] = 409,
    [PROTO_ERROR_AmbiguousCallback] = 409,
    [PROTO_ERROR_InvalidTransition] = 409,
    [PROTO_ERROR_Aborted] = 409,
    [PROTO_ERROR_Timeout] = 504,
    [PROTO_ERROR_Overloaded] = 503,
    [PROTO_ERROR_PayloadTooLarge] = 413,
    [PROTO_ERROR_StorageFailed] = 500,
    [PROTO_ERROR_ShuttingDown] = 503,
    [PROTO_ERROR_Internal] = 500,
};

uint16_t admin_status_of(enum proto_error error)
{
    ASSERT(error < PROTO_ERROR_COUNT);
    ASSERT(status_of[error] != 0);
    return status_of[error];
}
