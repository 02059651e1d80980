/*
 * warden.h: looks after listeners on IPC.
 *
 * NNG 1.5.2 stops accepting there, for good and in silence, when a peer has gone before the
 * greeting is written to it (it takes the closed connection for a closed listener). All it leaves
 * is a count in its statistics. So somebody has to look, and listen anew.
 */
#ifndef TRANSPORT_FRONT_WARDEN_H
#define TRANSPORT_FRONT_WARDEN_H

#include <nng/nng.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"

typedef void (*front_look_fn)(void *owner);

struct front_warden {
    /* private to warden.c */
    pthread_t thread;
    sem_t end;
    bool started;
    front_look_fn look;
    void *owner;
};

/* A thread that calls `look` twice a second: closing a listener may take its time. RESULT_LIMIT. */
MUST_USE enum result front_warden_start(struct front_warden *warden, front_look_fn look,
                                        void *owner);
/* Waits for a look under way. What is zeroed may be stopped. */
void front_warden_stop(struct front_warden *warden);

/* What is known of a listener; {0} of a fresh one. */
struct front_listener_watch {
    /* private to warden.c */
    uint64_t troubles;   /* errors of its accepting, and */
    uint64_t accepted;   /* connections that reached the socket: as of the newest knock */
    bool knocking;       /* since it met an error */
    int knock;           /* our connection; below 0 when its queue was full */
    uint32_t unanswered; /* looks since the knock */
};

/*
 * Is the listener at `url` (ipc:// or unix://) deaf? NNG may have ended its accepting, or met an
 * error that it goes on behind, and does not tell which. So after each error we connect ourselves:
 * when no connection reaches the socket for some looks after that, it is deaf (it still greets). To
 * be called once a look, until it says so; then the watch is that of a fresh listener.
 */
bool front_listener_is_deaf(nng_listener listener, const char *url,
                            struct front_listener_watch *watch);
/* Ends a knock under way. */
void front_listener_forget(struct front_listener_watch *watch);

#endif
