/*
 * folder.h: the blob tier as files below a directory, for people and tools that read them there.
 *
 * A blob is one file, written beside, synced, renamed into its place and made known by a sync of
 * its directory: so each is whole or not there, and old bytes stay until the new ones are durable.
 * What was answered is durable: flush has nothing to do. Calls block and answer before they return;
 * one thread. One process at a time owns the directory (its caller's lock says so).
 *
 * "w/e/1.msgpack" is the file w/e/1.msgpack. A '%' in a path begins what a name itself cannot be:
 * "%XX" a byte other than A-Z a-z 0-9 . _ : @ + - (or a dot at the beginning), "%" at the end of a
 * part a file without ".msgpack" or a folder with it, "%+" at the end a part that goes on in the
 * folder of this name, as it is too long for one.
 */
#ifndef STORAGE_FOLDER_FOLDER_H
#define STORAGE_FOLDER_FOLDER_H

#include "storage/blob.h"

/*
 * Makes the directory and removes what a crash left half written. RESULT_DENIED, RESULT_FULL,
 * RESULT_INVALID (a part of the path is no directory), RESULT_LIMIT, RESULT_IO.
 */
MUST_USE enum result storage_folder_blob_open(const char *directory, struct storage_blob **out);

#endif
