/*
 * curl_loop.h: a libcurl multi handle driven by a libev loop: its sockets and its one timer become
 * watchers; finished transfers come to one callback, never from inside a callback of libcurl's.
 * Thread: the loop's.
 */
#ifndef STORAGE_HTTP_CURL_LOOP_H
#define STORAGE_HTTP_CURL_LOOP_H

#include <curl/curl.h>
#include <ev.h>
#include <stdint.h>

#include "proto/base/result.h"

/* A transfer has ended and has been taken out of the multi handle. */
typedef void (*storage_curl_done_fn)(void *owner, CURL *easy, CURLcode code);

struct storage_curl_loop {
    /* private to curl_loop.c */
    uint32_t magic;
    struct ev_loop *loop;
    CURLM *multi;
    ev_timer timer;
    storage_curl_done_fn done;
    void *owner;
};

/* connections_max are kept alive. RESULT_LIMIT: no memory. */
MUST_USE enum result storage_curl_loop_init(struct storage_curl_loop *curl, struct ev_loop *loop,
                                            uint32_t connections_max, storage_curl_done_fn done,
                                            void *owner);
/* Transfers still in it must have been removed before. */
void storage_curl_loop_release(struct storage_curl_loop *curl);
MUST_USE enum result storage_curl_loop_add(struct storage_curl_loop *curl, CURL *easy);
/* Takes a transfer out that has not ended; `done` is not called. */
void storage_curl_loop_remove(struct storage_curl_loop *curl, CURL *easy);

#endif
