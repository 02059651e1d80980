/* directory.h: making directories so that they are still there after a power cut. Any thread. */
#ifndef STORAGE_POSIX_DIRECTORY_H
#define STORAGE_POSIX_DIRECTORY_H

#include "proto/base/result.h"

/*
 * Creates the directory and its missing parents with mode 0700 and syncs the entries; one that is
 * there already is left as it is. RESULT_INVALID: a part of the path is no directory; RESULT_LIMIT:
 * the path is longer than the system allows; RESULT_DENIED, RESULT_FULL, RESULT_IO.
 */
MUST_USE enum result storage_posix_make_directory(const char *path);

/* The one table from errno to our results for everything that touches files. */
enum result storage_posix_result(int error);

#endif
