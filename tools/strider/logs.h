/*
 * logs.h: where log lines go: stderr, as one JSON object a line, or as text for a person.
 */
#ifndef TOOLS_STRIDER_LOGS_H
#define TOOLS_STRIDER_LOGS_H

#include "proto/log.h"

enum logs_format { LOGS_AUTO, LOGS_TEXT, LOGS_JSON }; /* AUTO: text when stderr is a terminal */

/* Before any thread starts. */
void logs_open(enum log_level least, enum logs_format format);

/*
 * Private to logs.c and its test: one line as it is written, newline included; at most
 * LOGS_LINE_BYTES, cut before that. Returns its bytes.
 */
#define LOGS_LINE_BYTES 8192u
size_t logs_format_line(char out[LOGS_LINE_BYTES], enum logs_format format, enum log_level level,
                        const char *id, struct span fields, int64_t unix_ms);

#endif
