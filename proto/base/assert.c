/*
 * assert.c: how an assertion fails: one line on stderr, then abort(), so that a core file shows the
 * place.
 */
#include "proto/base/assert.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void base_assert_failed(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, text);
    abort();
}

void *base_cast_checked(void *pointer, unsigned magic, const char *file, int line)
{
    if (pointer == NULL) {
        base_assert_failed(file, line, "cast of NULL");
    }
    uint32_t found;
    memcpy(&found, pointer, sizeof found);
    if (found != magic) {
        base_assert_failed(file, line, "object has the magic of its type");
    }
    return pointer;
}
