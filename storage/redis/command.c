/* command.c: see command.h. */
#include "storage/redis/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"

#define CAPACITY_FIRST 4096u
#define CAPACITY_KEPT  (256u << 10)
#define HEAD_BYTES     24u /* "$", 20 digits, "\r\n" */

/* mark, number, "\r\n"; returns what is behind. */
static char *put_head(char *out, char mark, size_t number)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    *out++ = mark;
    while (count > 0) {
        *out++ = digits[--count];
    }
    *out++ = '\r';
    *out++ = '\n';
    return out;
}

static bool reserve(struct storage_redis_command *command, size_t wanted)
{
    size_t capacity = command->capacity == 0 ? CAPACITY_FIRST : command->capacity;
    while (capacity < wanted) {
        capacity *= 2;
    }
    if (capacity != command->capacity) {
        free(command->bytes); /* (what it held is over) */
        command->bytes = malloc(capacity);
        command->capacity = command->bytes == NULL ? 0 : capacity;
    }
    return command->bytes != NULL;
}

enum result storage_redis_command_write(struct storage_redis_command *command,
                                        const struct span *arguments, size_t count)
{
    size_t wanted = HEAD_BYTES + 1;
    ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].count > SIZE_MAX / 4 - wanted) {
            return RESULT_LIMIT;
        }
        wanted += HEAD_BYTES + arguments[i].count + 2;
    }
    command->count = 0;
    if (!reserve(command, wanted)) {
        return RESULT_LIMIT;
    }
    char *out = put_head(command->bytes, '*', count);
    for (size_t i = 0; i < count; i++) {
        out = put_head(out, '$', arguments[i].count);
        if (arguments[i].count > 0) {
            memcpy(out, arguments[i].bytes, arguments[i].count);
            out += arguments[i].count;
        }
        *out++ = '\r';
        *out++ = '\n';
    }
    command->count = (size_t)(out - command->bytes);
    ASSERT(command->count < wanted);
    *out = '\0'; /* hiredis looks for the first '$' as in a text */
    return RESULT_OK;
}

void storage_redis_command_trim(struct storage_redis_command *command)
{
    if (command->capacity > CAPACITY_KEPT) {
        storage_redis_command_release(command);
    }
}

void storage_redis_command_release(struct storage_redis_command *command)
{
    free(command->bytes);
    *command = (struct storage_redis_command){0};
}
