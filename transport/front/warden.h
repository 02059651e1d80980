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
    uint64_t accepted;
    uint32_t idle_looks;
};
/*
 * Is the listener deaf, for all that is known? NNG may have ended its accepting, or met an error
 * that it goes on behind, and does not tell which. So it is taken for deaf when it has met one and
 * has accepted nobody for some looks since; with requests under way (`busy`), which its end would
 * cut off, for more of them. To be called once a look.
 */
bool front_listener_is_deaf(nng_listener listener, bool busy, struct front_listener_watch *watch);

#endif
