/* recover.h: finds the sound end of the log's newest file after any kind of stop. */
#ifndef STORAGE_EMBEDDED_LOG_RECOVER_H
#define STORAGE_EMBEDDED_LOG_RECOVER_H

#include "storage/embedded/log/segments.h"

struct storage_recovered {
    uint64_t end;             /* behind the last sound batch */
    uint32_t epoch;           /* the highest seen in the file */
    uint64_t torn_bytes;      /* of frames behind the end that were begun */
    uint32_t corrupt_batches; /* unsound places before the end */
};

/* Reads the whole segment. RESULT_IO, RESULT_LIMIT (no memory). */
MUST_USE enum result storage_log_recover(struct storage_files *files,
                                         const struct storage_segment *segment,
                                         struct storage_recovered *out);

#endif
