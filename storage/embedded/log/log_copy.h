/* log_copy.h: the log's files into another directory, while it is written to. */
#ifndef STORAGE_EMBEDDED_LOG_LOG_COPY_H
#define STORAGE_EMBEDDED_LOG_LOG_COPY_H

#include "storage/journal.h"

/*
 * Copies every file that is kept, the newest up to the log's end as it was when the copy began,
 * each synced. Nobody may trim meanwhile: RESULT_CLOSED when somebody did. RESULT_FULL, RESULT_IO,
 * RESULT_LIMIT. Any thread.
 */
MUST_USE enum result storage_log_copy(struct storage_journal *journal, const char *directory,
                                      uint64_t *end);

#endif
