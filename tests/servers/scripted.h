/*
 * scripted.h: an HTTP server on the caller's own libev loop that answers as a script says: for
 * faults that no real server has on demand. It is done when its loop does not turn.
 */
#ifndef TESTS_SERVERS_SCRIPTED_H
#define TESTS_SERVERS_SCRIPTED_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPTED_CONNECTIONS_MAX 64
#define SCRIPTED_PATHS_MAX       64

enum scripted_act {
    SCRIPTED_ANSWER,
    SCRIPTED_CLOSE, /* without an answer */
    SCRIPTED_HANG,  /* never answers */
};

struct scripted_answer {
    enum scripted_act act;
    int status;
    const char *headers; /* whole lines, or NULL */
    const char *body;    /* NULL: none */
};

/* One whole request. */
struct scripted_request {
    const char *head; /* request line and header lines; a NUL byte stands behind them */
    const void *body;
    size_t body_count;
};

/* What a function answers in place of the script; the body is malloc's. */
struct scripted_reply {
    int status; /* 0: it never answers */
    char *body; /* NULL: none */
    size_t body_count;
    char headers[160]; /* whole lines */
};
typedef struct scripted_reply (*scripted_fn)(void *owner, const struct scripted_request *request);

struct scripted_connection {
    ev_io io; /* first */
    struct scripted *server;
    char *bytes; /* of a request; NULL: the place is free */
    size_t count;
    size_t head_count;
    bool waits; /* for an answer that is held */
    char *out;  /* of an answer that is being sent, or NULL */
    size_t out_count;
    size_t out_sent;
};

struct scripted {
    struct ev_loop *loop;
    ev_io io;
    uint16_t port;
    const struct scripted_answer *answers; /* the n-th request gets the n-th; the last repeats */
    size_t answer_count;
    scripted_fn function; /* in place of the answers, or NULL */
    void *owner;          /* of the function */
    size_t hold;          /* answer only when so many wait; 0: at once */
    size_t requests;
    size_t waiting;
    size_t waiting_max;
    char paths[SCRIPTED_PATHS_MAX][200]; /* "PUT /path", of the first requests */
    struct scripted_connection connections[SCRIPTED_CONNECTIONS_MAX];
};

bool scripted_start(struct scripted *server, struct ev_loop *loop,
                    const struct scripted_answer *answers, size_t answer_count);
/* Sends what is held, and holds `hold` from now on. */
void scripted_release(struct scripted *server, size_t hold);
void scripted_stop(struct scripted *server);

#endif
