/*
 * service.h: what differs between the blob services that are spoken to over HTTP; http_blob.h is
 * what they share.
 */
#ifndef STORAGE_HTTP_SERVICE_H
#define STORAGE_HTTP_SERVICE_H

#include <curl/curl.h>

#include "proto/base/arena.h"
#include "storage/http/listing.h"

enum storage_http_verb {
    STORAGE_HTTP_PUT,
    STORAGE_HTTP_GET,
    STORAGE_HTTP_DELETE,
    STORAGE_HTTP_LIST,
    STORAGE_HTTP_MAKE, /* the container */
    STORAGE_HTTP_LOOK, /* which version of the blob is there? */
};

struct storage_http_call {
    enum storage_http_verb verb;
    struct span name;   /* of the blob; LIST: the prefix */
    struct span marker; /* LIST: where the page begins; empty: at the first */
    uint32_t limit;     /* LIST: names a page, 1 .. 1000 */
    struct span body;   /* PUT; MAKE: filled by `prepare` (lives in the arena) */
    bool rewritten;     /* PUT: it must replace the version that is known to be there, or none */
    /* Set for each try: the ETag of that version, or NULL; or: there must be none. */
    const char *if_match;
    bool if_none;
    bool awaited; /* somebody waits for it: it goes before those of which that is not said */
};

struct storage_http_service {
    const char *name; /* for log lines */
    struct storage_listing_words words;
    /* Its error codes, as in x-ms-error-code or <Code>. */
    const char *container_missing;
    const char *container_exists; /* made by somebody else meanwhile */
    const char *container_busy;   /* try again */
    const char *condition_failed; /* 412: another version is there; else it is somebody's lease */
    const char *blob_exists;      /* 409: where there must be none */
    const char *blob_missing;     /* where there must be one */
    const char *blob_busy;        /* another conditional write is under way: try again */
    /*
     * Sets URL, signature and header lines of one try, in its arena. The header list is the
     * caller's to free, on failure too. RESULT_LIMIT.
     */
    enum result (*prepare)(struct storage_http_service *self, struct storage_http_call *call,
                           struct arena *arena, CURL *easy, struct curl_slist **headers);
    /* Frees it. */
    void (*close)(struct storage_http_service *self);
};

/* Adds "name: value"; false without memory (then the list is as before). */
bool storage_http_header(struct curl_slist **headers, struct arena *arena, const char *name,
                         const char *value);

#endif
