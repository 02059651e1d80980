/*
 * front_world.h: what the front's tests share: a router that answers, holds or refuses, and peers
 * that speak NNG by hand.
 *
 * One router a process; its fields are set between requests, by the test's thread.
 */
#ifndef TESTS_SYSTEM_FRONT_WORLD_H
#define TESTS_SYSTEM_FRONT_WORLD_H

#include <nng/nng.h>
#include <pthread.h>
#include <stdlib.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/system/check.h"
#include "transport/front.h"

#define FRONT_TIMEOUT_MS 20000
#define FRONT_CLOSE_MS   5000
#define FRONT_HELD_MAX   8192u

/* The router of these tests: answers at once with the request's own `n`, or holds requests until
 * told. */
struct router {
    struct proto_sink sink;
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool holding;
    enum result refuse; /* RESULT_OK: takes requests */
    bool twice;         /* every request is answered two times */
    size_t filler;      /* bytes of padding in each answer */
    struct proto_message *held[FRONT_HELD_MAX];
    size_t held_count;
    size_t taken; /* requests so far */
};

extern struct router router;

void router_start(void);
void router_end(void);
void router_hold(bool holding);

/* Waits until `*number` (a field of the router) is `count` or more; a check fails when it never is.
 */
void router_await_number(const size_t *number, size_t count);

/* Waits until `count` requests are held. */
void router_await(size_t count);
size_t router_taken(void);

/* The newest held request, the caller's from now on; NULL when none is held. */
struct proto_message *router_pop(void);

/* Answers every held request; a thread's body. */
void *router_answer_held(void *unused);

/* A front that listens on `url` and serves the router; the test ends when it can't. */
struct transport_front *front_world_open(const char *url, uint32_t pending_max,
                                         const char *const *tokens, size_t token_count);
void front_world_tcp_url(struct transport_front *front, char url[64]);

/* An address of this process's own: tests may run side by side. Good until the next call. */
const char *front_world_ipc_url(const char *name);

/* A bare REQ peer that sends any bytes. */
struct peer {
    nng_socket socket;
    nng_msg *reply; /* of the newest call */
};

void peer_open(struct peer *peer, const char *url);

/* A connection that speaks the SP protocol by hand, greeted, with little room for what comes; reads
 * fail after FRONT_TIMEOUT_MS. */
int peer_open_raw(uint16_t port);

/* The reply, good until the next call or peer_close; the test ends when none comes in time. */
struct span peer_call(struct peer *peer, struct span frame);
struct span peer_call_text(struct peer *peer, const char *text);
void peer_close(struct peer *peer);

struct span packed_request(struct arena *arena, const char *operation, int64_t n);

/* `error.code` of a MessagePack reply; empty when it has none. */
struct span code_of(struct span reply);

/* Many requests under way from one peer: each has its own context. */
struct many {
    nng_socket socket;
    size_t count;
    nng_ctx *contexts;
    nng_aio **aios;
};

void many_send(struct many *many, const char *url, size_t count);

/* Waits for the answer to request `index`; its code ("" when ok), checked to be that request's own.
 */
bool many_take(struct many *many, size_t index, char code[32]);
void many_close(struct many *many);

#endif
