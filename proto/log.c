/*
 * log.c: formats lines for the one registered writer.
 *
 * The two globals are set once, before any thread starts, so that thread creation is the
 * happens-before edge.
 */
#include "proto/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "proto/base/assert.h"

enum { LOG_LINE_BYTES = 2000 };

static log_writer_fn writer;
static enum log_level least_level;

void log_set_writer(log_writer_fn new_writer, enum log_level least)
{
    ASSERT(least <= LOG_CRITICAL);
    writer = new_writer;
    least_level = least;
}

bool log_enabled(enum log_level level)
{
    return writer != NULL && level >= least_level;
}

void log_line(enum log_level level, const char *id, const char *format, ...)
{
    if (!log_enabled(level)) {
        return;
    }
    char fields[LOG_LINE_BYTES + 1];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(fields, sizeof fields, format, arguments);
    va_end(arguments);
    ASSERT(count >= 0);
    writer(level, id, span_of(fields, count > LOG_LINE_BYTES ? LOG_LINE_BYTES : (size_t)count));
}
