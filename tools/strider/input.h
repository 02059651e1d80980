/*
 * input.h: what verbs read besides options: files, JSON given on the command line or in a file,
 * NAME=VALUE pairs. Results live in the arena. Every complaint is one finished line on stderr in
 * the verb's name.
 */
#ifndef TOOLS_STRIDER_INPUT_H
#define TOOLS_STRIDER_INPUT_H

#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

/*
 * A whole file ("-": standard input), a NUL byte behind it. On failure `problem` is a sentence that
 * begins with the path. Errors: RESULT_NOT_FOUND, RESULT_DENIED, RESULT_LIMIT more than bytes_max,
 * RESULT_IO.
 */
MUST_USE enum result cli_read_file(const char *path, size_t bytes_max, struct arena *arena,
                                   struct span *out, char problem[512]);

/*
 * JSON text, or "@PATH" for a file's, as a MessagePack value; complains about `what` ("--request")
 * else. Returns CLI_DONE or CLI_USAGE.
 */
int cli_read_json(const char *verb, const char *what, const char *text, struct arena *arena,
                  struct span *value);

/*
 * NAME=VALUE: the value as JSON where it is JSON (7, true, {"a":1}), as text else (Anna). Same
 * returns.
 */
int cli_read_pair(const char *verb, const char *what, const char *text, struct arena *arena,
                  struct span *name, struct span *value);

/*
 * "30s", "10min", "1.5h", "250ms"; a bare number is seconds. And "16mb", "64kb", "1gb" (powers of
 * 1,024); bare: bytes. RESULT_INVALID when it is neither, RESULT_LIMIT when it does not fit.
 */
MUST_USE enum result cli_parse_duration(struct span text, uint64_t *ms);
MUST_USE enum result cli_parse_bytes(struct span text, uint64_t *bytes);

#endif
