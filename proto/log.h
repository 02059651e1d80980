/*
 * log.h: log lines of actors and adapters: level, stable id, fields. Never a payload, a variable's
 * value or a secret. The engine does not log (it returns events). main registers the writer once,
 * before any thread starts; until then lines are dropped. The writer may be called from any thread
 * and writes each line whole.
 */
#ifndef PROTO_LOG_H
#define PROTO_LOG_H

#include <stdbool.h>

#include "proto/base/span.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_CRITICAL };

typedef void (*log_writer_fn)(enum log_level level, const char *id, struct span fields);

/* `fields` reaches the writer as "name=value name=value"; values with spaces in double quotes. */
void log_set_writer(log_writer_fn writer, enum log_level least);
bool log_enabled(enum log_level level);
/*
 * log_line(LOG_WARN, "STORAGE-PUT-RETRY", "shard=%u wait_ms=%u", 3, 400). Lines over 2,000 bytes
 * are cut.
 */
void log_line(enum log_level level, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
