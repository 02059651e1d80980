/*
 * file.h: the sending side of the bus into a file: one JSON object a line, for messages that
 * nothing else takes. `{"at","id","reason","body"}`, the body as text.
 */
#ifndef AUDIT_FILE_FILE_H
#define AUDIT_FILE_FILE_H

#include "audit/bus.h"

#define AUDIT_FILE_BYTES_MAX (1ull << 30) /* beyond it nothing is taken: somebody must look */

/*
 * Made when missing, appended to, synced before a message counts as settled; what the disk does not
 * take is tried again with the next send. RESULT_IO, RESULT_DENIED: `reason` says more.
 */
MUST_USE enum result audit_file_bus_open(const char *path, const struct audit_bus_options *options,
                                         struct audit_bus **out, char reason[AUDIT_REASON_BYTES]);

#endif
