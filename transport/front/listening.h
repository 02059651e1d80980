/*
 * listening.h: the addresses that the front listens on: which are allowed, how each is opened, who
 * may connect, and (with warden.h) that those over IPC stay open.
 */
#ifndef TRANSPORT_FRONT_LISTENING_H
#define TRANSPORT_FRONT_LISTENING_H

#include <nng/nng.h>

#include "transport/front.h"
#include "transport/front/intake.h"
#include "transport/front/warden.h"

struct front_listening {
    /* private to listening.c */
    nng_socket socket;
    struct front_intake *intake;
    nng_listener *listeners;
    char **ipc_urls; /* of the listeners on IPC; NULL for others */
    struct front_listener_watch *watches;
    size_t count;
    uint32_t connections_max;
    bool takes_browsers;        /* they need a token as everybody does */
    struct front_warden warden; /* the only one that changes listeners once we are open */
};

/* May these be listened on, with these tokens and this certificate? Errors as
 * transport_front_open. */
MUST_USE enum result front_listening_check(const struct transport_front_options *options,
                                           char error[256]);
/* On all addresses. On an error, too: stop and release. What is pointed to must outlive it. */
MUST_USE enum result front_listening_start(struct front_listening *listening, nng_socket socket,
                                           struct front_intake *intake,
                                           const struct transport_front_options *options,
                                           char error[256]);
/* 0: it has none. */
uint16_t front_listening_port(const struct front_listening *listening, size_t url_index);
/* No listener is opened anew from here on; the socket's close ends those that there are. What is
 * zeroed may be stopped and released. */
void front_listening_stop(struct front_listening *listening);
void front_listening_release(struct front_listening *listening);

#endif
