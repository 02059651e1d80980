/* file_name.h: names of blobs as paths below a directory, and back (see folder.h). Pure. */
#ifndef STORAGE_FOLDER_FILE_NAME_H
#define STORAGE_FOLDER_FILE_NAME_H

#include "proto/base/result.h"
#include "proto/base/span.h"

#define STORAGE_FOLDER_NAME_MAX 480u  /* bytes of a blob's name */
#define STORAGE_FOLDER_PATH_MAX 2048u /* of its path, with the NUL byte */

/*
 * The path of a blob, or of the folder of all that begin with `name` when that ends in '/' (then
 * without the '/' at the end). RESULT_INVALID: an empty name, or one too long.
 */
MUST_USE enum result storage_folder_path(struct span name, char out[STORAGE_FOLDER_PATH_MAX]);

/*
 * The name of the blob at a path; out has room for STORAGE_FOLDER_NAME_MAX bytes. False: no path
 * that storage_folder_path makes.
 */
bool storage_folder_name(const char *path, uint8_t *out, size_t *count);

#endif
