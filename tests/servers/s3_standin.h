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
    unsigned long version; /* its ETag */
};

struct s3_standin {
    struct scripted server;
    const char *access_key;
    const char *secret_key;
    const char *region;
    size_t page_max;   /* names a listing's page holds at most; 0: as asked */
    char refused[200]; /* why the last request with a bad signature was refused */
    unsigned long version_last;
    bool knows_no_conditions; /* as an older service: 501 */
    /* The next put of an object: its answer is lost, and it is done at once, or when it is told. */
    enum s3_standin_late { S3_IN_TIME, S3_ANSWER_LOST, S3_LATE } next_put;
    struct scripted_request late; /* what is done when it is told; malloc's */
    size_t object_count;
    struct s3_standin_object objects[S3_STANDIN_OBJECTS_MAX]; /* in the order of their names */
};

bool s3_standin_start(struct s3_standin *s3, struct ev_loop *loop);
void s3_standin_stop(struct s3_standin *s3);
/* Does the put that is late now. Returns the HTTP status that nobody hears; 0: there is none. */
int s3_standin_run_late(struct s3_standin *s3);

#endif
