/*
 * curl_loop.h: a libcurl multi handle driven by a libev loop: sockets and curl's one timer become
 * watchers, finished transfers come to one callback, never from inside a libcurl callback. Nothing
 * else: no queues, no time limits, no bodies. Used by the module adapter and, bare, by the load
 * harness as its ceiling. Thread: the loop's.
 */
#ifndef TRANSPORT_MODULES_CURL_LOOP_H
#define TRANSPORT_MODULES_CURL_LOOP_H

#include <curl/curl.h>
#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/result.h"

/* A transfer has ended and has been taken out of the multi handle; the easy handle may be used
 * again at once. */
typedef void (*transport_curl_done_fn)(void *owner, CURL *easy, CURLcode code);

struct transport_curl_socket;

struct transport_curl_loop {
    /* private to curl_loop.c */
    uint32_t magic;
    struct ev_loop *loop;
    CURLM *multi;
    ev_timer timer;     /* curl's own time-outs */
    ev_prepare prepare; /* starts what was added since the loop last slept */
    bool kick;
    transport_curl_done_fn done;
    void *owner;
    struct transport_curl_socket **sockets; /* by descriptor */
    size_t socket_capacity;
};

/* connections_max are kept alive in all. RESULT_LIMIT: no memory or descriptors. */
MUST_USE enum result transport_curl_loop_init(struct transport_curl_loop *curl,
                                              struct ev_loop *loop, uint32_t connections_max,
                                              transport_curl_done_fn done, void *owner);
/* Transfers still in it must have been removed before. */
void transport_curl_loop_release(struct transport_curl_loop *curl);
/* An easy handle with the options that every transfer here shares; NULL without memory. */
CURL *transport_curl_easy_new(struct transport_curl_loop *curl);
/* Starts the transfer before the loop next sleeps. */
MUST_USE enum result transport_curl_loop_add(struct transport_curl_loop *curl, CURL *easy);
/* Takes a transfer out that has not ended, and closes its connection; `done` is not called. */
void transport_curl_loop_remove(struct transport_curl_loop *curl, CURL *easy);

#endif
