/*
 * http_server.h: an HTTP/1.1 server for tests of module calls, in a thread of its own, on a
 * loopback port that the system picks. What it answers is scripted by path; what it was asked is
 * recorded. Nothing in it sleeps: a gated reply waits for test_http_release, and a test waits for
 * what must come by test_http_wait.
 *
 *   struct test_http *server = test_http_start();
 *   static const struct test_http_reply replies[] = {{.status = 503}, {.status = 503}, {.body =
 * "{\"output\":1}"}}; test_http_script(server, "/pay", replies, 3);              // the n-th
 * request gets the n-th reply, the last repeats test_http_url(server, "/pay", url); //
 * "http://127.0.0.1:40123/pay" … CHECK_INT(test_http_count(server, "/pay"), 3);
 *   test_http_stop(server);
 *
 * A path without a script gets 404. Requests need Content-Length (no chunks). Bodies up to 32 MiB
 * are kept whole. Thread: every function may be called from any thread; `start` and `stop` from
 * one.
 */
#ifndef TESTS_SYSTEM_HTTP_SERVER_H
#define TESTS_SYSTEM_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/span.h"

#define TEST_HTTP_URL_BYTES 160u

enum test_http_manner {
    TEST_HTTP_WHOLE = 0, /* status, headers and body at once; the connection stays */
    TEST_HTTP_TRICKLE, /* as WHOLE, but a byte of the body every 10 ms, endlessly (the body repeats)
                        */
    TEST_HTTP_ENDLESS, /* chunks as fast as they are taken, endlessly */
    TEST_HTTP_SHORT,  /* Content-Length says 100 bytes more than come; then the connection closes */
    TEST_HTTP_CLOSE,  /* closes without a byte */
    TEST_HTTP_RESET,  /* resets the connection (RST) without a byte */
    TEST_HTTP_SILENT, /* never answers; the connection stays */
    TEST_HTTP_RAW,    /* `body` is everything that is sent; then the connection closes */
};

struct test_http_reply {
    enum test_http_manner manner;
    int status;               /* 0: 200 */
    const char *content_type; /* NULL: application/json */
    const char *headers;      /* further lines, each with "\r\n"; NULL: none */
    const void *body;
    size_t body_bytes;   /* 0: strlen(body) */
    size_t repeat_bytes; /* the body is repeated until it has so many bytes (100 MB without holding
                            them) */
    bool gated;          /* waits for its turn of test_http_release */
};

/* A request that came in; spans live as long as the server. */
struct test_http_request {
    struct span method;
    struct span path;
    struct span headers; /* all header lines, CRLF between them */
    struct span body;
    uint32_t connection; /* number of the connection that it came on, from 1 */
};

struct test_http;

struct test_http *test_http_start(void);
void test_http_stop(struct test_http *server);
uint16_t test_http_port(const struct test_http *server);
void test_http_url(const struct test_http *server, const char *path, char url[TEST_HTTP_URL_BYTES]);

/* Replaces the script of `path` and begins it anew. `replies` and what they point to must outlive
 * the server. */
void test_http_script(struct test_http *server, const char *path,
                      const struct test_http_reply *replies, size_t count);
/* Lets `count` gated replies go, oldest first; those that have not been asked for yet go when they
 * are. */
void test_http_release(struct test_http *server, size_t count);

/* Requests received whole so far; path NULL: all. */
size_t test_http_count(struct test_http *server, const char *path);
/* Waits until that many have come; false when timeout_ms passed before (then something is wrong:
 * fail). */
bool test_http_wait(struct test_http *server, const char *path, size_t count, unsigned timeout_ms);
/* The most requests of `path` (NULL: all) that were unanswered at one time. */
size_t test_http_overlap(struct test_http *server, const char *path);
/* Request number `index` in order of arrival; false when there is none. */
bool test_http_request(struct test_http *server, size_t index, struct test_http_request *out);
/* The value of one of its headers (name in any case), trimmed; an empty span when absent. */
struct span test_http_header(const struct test_http_request *request, const char *name);
/* Connections accepted so far, and those that are open now. */
size_t test_http_connections(struct test_http *server, size_t *open);

#endif
