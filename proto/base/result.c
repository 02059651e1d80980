/*
 * result.c: the phrases of enum result.
 */
#include "proto/base/result.h"

const char *result_text(enum result result)
{
    switch (result) {
    case RESULT_OK:
        return "done";
    case RESULT_AGAIN:
        return "queue full";
    case RESULT_LIMIT:
        return "limit exceeded";
    case RESULT_INVALID:
        return "invalid input";
    case RESULT_NOT_FOUND:
        return "not found";
    case RESULT_EXISTS:
        return "already exists";
    case RESULT_IO:
        return "input or output failed";
    case RESULT_FULL:
        return "no space left";
    case RESULT_CORRUPT:
        return "stored bytes are corrupt";
    case RESULT_TIMEOUT:
        return "timed out";
    case RESULT_CLOSED:
        return "closed";
    case RESULT_DENIED:
        return "not authorised";
    case RESULT_UNSUPPORTED:
        return "not supported";
    }
    return "unknown result";
}
