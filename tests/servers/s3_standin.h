/*
 * s3_standin.h: as much of S3 as a blob tier uses, in memory, on the caller's libev loop. It checks
 * every signature as AWS documents it (Signature Version 4), from the bytes that arrived: the
 * emulators that can be installed do not.
 */
#ifndef TESTS_SERVERS_S3_STANDIN_H
#define TESTS_SERVERS_S3_STANDIN_H

#include "tests/servers/scripted.h"

#define S3_STANDIN_OBJECTS_MAX 1000
#define S3_STANDIN_NAME_BYTES  512

struct s3_standin_object {
    char name[S3_STANDIN_NAME_BYTES]; /* "bucket/key", decoded; "bucket" itself is one too */
    char *bytes;
    size_t count;
};

struct s3_standin {
    struct scripted server;
    const char *access_key;
    const char *secret_key;
    const char *region;
    size_t page_max;   /* names a listing's page holds at most; 0: as asked */
    char refused[200]; /* why the last request with a bad signature was refused */
    size_t object_count;
    struct s3_standin_object objects[S3_STANDIN_OBJECTS_MAX]; /* in the order of their names */
};

bool s3_standin_start(struct s3_standin *s3, struct ev_loop *loop);
void s3_standin_stop(struct s3_standin *s3);

#endif
