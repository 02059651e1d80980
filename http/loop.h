/*
 * loop.h: a libcurl multi handle driven by a libev loop: sockets and curl's one timer become
 * watchers, finished transfers come to one callback, never from inside a libcurl callback. Nothing
 * else: no queues, no time limits, no bodies. All that call HTTP servers use it: the module
 * adapter, the blob adapters and, bare, the load harness as its ceiling. Thread: the loop's.
 */
#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

#include <curl/curl.h>
#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/result.h"

/* A transfer has ended and has been taken out of the multi handle; the easy handle may be used
 * again at once. */
typedef void (*http_loop_done_fn)(void *owner, CURL *easy, CURLcode code);

struct http_loop_socket;

struct http_loop {
    /* private to loop.c */
    uint32_t magic;
    struct ev_loop *loop;
    CURLM *multi;
    ev_timer timer;     /* curl's own time-outs */
    ev_prepare prepare; /* starts what was added since the loop last slept */
    bool kick;
    http_loop_done_fn done;
    void *owner;
    struct http_loop_socket **sockets; /* by descriptor */
    size_t socket_capacity;
};

/* connections_max are kept alive in all. RESULT_LIMIT: no memory or descriptors. */
MUST_USE enum result http_loop_init(struct http_loop *curl, struct ev_loop *loop,
                                    uint32_t connections_max, http_loop_done_fn done, void *owner);
/* Transfers still in it must have been removed before. */
void http_loop_release(struct http_loop *curl);
/* Sets the options that every transfer here shares, on an easy handle that is new or was reset. */
void http_loop_prepare(struct http_loop *curl, CURL *easy);
/* Starts the transfer before the loop next sleeps. */
MUST_USE enum result http_loop_add(struct http_loop *curl, CURL *easy);
/* Takes a transfer out that has not ended, and closes its connection; `done` is not called. */
void http_loop_remove(struct http_loop *curl, CURL *easy);

#endif
