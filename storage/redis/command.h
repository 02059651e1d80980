/*
 * command.h: commands as Redis takes them (RESP: an array of bulk strings), in a buffer that is
 * used again and again: formatting one takes no memory once it is large enough. Thread: its
 * owner's.
 */
#ifndef STORAGE_REDIS_COMMAND_H
#define STORAGE_REDIS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/result.h"
#include "proto/base/span.h"

struct storage_redis_command { /* {0}: empty */
    char *bytes;
    size_t count;
    size_t capacity;
};

/* The command of these arguments, in place of the one before. RESULT_LIMIT: no memory. */
MUST_USE enum result storage_redis_command_write(struct storage_redis_command *command,
                                                 const struct span *arguments, size_t count);
/* After one that was large: gives back what the usual ones do not need. */
void storage_redis_command_trim(struct storage_redis_command *command);
void storage_redis_command_release(struct storage_redis_command *command);

#endif
