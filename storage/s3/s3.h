/*
 * s3.h: the blob tier on S3 or a service that speaks its protocol: signed (AWS Signature
 * Version 4), path-style URLs. See http_blob.h for threads, answers and the meaning of the options.
 * The bucket is made when the first put misses it.
 */
#ifndef STORAGE_S3_S3_H
#define STORAGE_S3_S3_H

#include "storage/http/http_blob.h"

#define STORAGE_S3_REASON_BYTES 200u

struct storage_s3_options {
    const char *endpoint; /* "https://s3.eu-central-1.amazonaws.com": no path, no query */
    const char *region;   /* "eu-central-1" */
    const char *bucket;
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* of temporary credentials; NULL or "": none */
    struct storage_http_options http;
};

/* Copies the options; connects to nothing yet. RESULT_INVALID: `reason` says why; RESULT_LIMIT. */
MUST_USE enum result storage_s3_blob_open(struct ev_loop *loop,
                                          const struct storage_s3_options *options,
                                          struct storage_blob **out,
                                          char reason[STORAGE_S3_REASON_BYTES]);

#endif
