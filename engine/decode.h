/*
 * decode.h: making an execution again from the CREATED event of its journal.
 */
#ifndef ENGINE_DECODE_H
#define ENGINE_DECODE_H

#include "engine/execution.h"

/* `value` is what engine_encode_start wrote. RESULT_NOT_FOUND: the catalog lacks the process
 * version. */
MUST_USE enum result engine_decode_start(const struct engine_catalog *catalog, struct span value,
                                         int64_t created_ms, struct engine_execution **out);

#endif
