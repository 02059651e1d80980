/*
 * client.h: one AMQP connection with one link, kept up by a thread of its own. What the link is
 * for is its role: sender.c or receiver.c.
 */
#ifndef AUDIT_AMQP_CLIENT_H
#define AUDIT_AMQP_CLIENT_H

#include <proton/proactor.h>
#include <proton/ssl.h>
#include <proton/types.h>
#include <pthread.h>

#include "audit/amqp/amqp.h"
#include "audit/amqp/url.h"

#define AMQP_ADDRESS_BYTES 512u

/* All called on the client's thread, but nothing else. */
struct amqp_role {
    const char *name; /* for log lines */
    /* Makes and opens the link. */
    pn_link_t *(*open)(void *owner, pn_session_t *session, const char *address);
    /* The link is up and was woken, got credit, or its time has come. */
    void (*work)(void *owner, pn_link_t *link);
    void (*delivery)(void *owner, pn_delivery_t *delivery);
    /* Before an orderly end, as long as the link is up. */
    void (*leave)(void *owner, pn_link_t *link);
    /* The connection is gone, and all deliveries with it. */
    void (*lost)(void *owner);
    /* Behind each batch of events: tell the owner what came of them. */
    void (*report)(void *owner);
    /* Frees the owner: the client has not started, or has stopped. (Not on its thread.) */
    void (*release)(void *owner);
};

struct amqp_client {
    /* private to client.c */
    const struct amqp_role *role;
    void *owner;
    audit_counter *connected;
    struct audit_amqp_place place;
    char queue[AMQP_ADDRESS_BYTES];
    pn_proactor_t *proactor;
    pn_ssl_domain_t *tls;
    pthread_t thread;
    /*
     * The owner's thread must wake a connection that the client's thread may be freeing: the
     * pointer is read and used, and taken away, under this lock. (Proton gives no other way to
     * reach its thread; a message could not either.) Roles guard what they share with it too.
     */
    pthread_mutex_t lock;
    pn_connection_t *connection; /* NULL: none */
    bool stopping;
    /* the client's thread alone */
    pn_link_t *link; /* NULL: not up */
    bool leaving;
    bool ended;
    bool told_down;
    uint32_t failures; /* since the link was last up for a while */
    uint64_t up_ms;    /* monotonic; 0: not up */
    uint64_t random;
    char why[AUDIT_REASON_BYTES];
};

/* What is under way of an owner that was made, or not for want of memory (then it may be NULL). */
struct amqp_opening {
    const struct amqp_role *role;
    void *owner;
    bool made;
    uint32_t window;
    struct amqp_client *client; /* the owner's */
    audit_counter *connected;   /* the owner's */
};

/* Checks the options and starts the thread; on failure the owner is released. */
MUST_USE enum result amqp_client_start(const struct amqp_opening *opening,
                                       const struct audit_amqp_options *options,
                                       char reason[AUDIT_REASON_BYTES]);
/* Leaves in order, within some seconds; joins the thread and releases everything, the owner too. */
void amqp_client_stop(struct amqp_client *client);
/* `work` will be called, if the link is or comes up. Any thread; takes the lock. */
void amqp_client_wake(struct amqp_client *client);
/* The same, for one who holds the lock. */
void amqp_client_wake_locked(struct amqp_client *client);
/* `work` will be called about then; the client's thread. */
void amqp_client_work_in(struct amqp_client *client, uint32_t delay_ms);
/* How long to wait before attempt `failures` + 1: it doubles up to a bound, with jitter. */
uint32_t amqp_client_back_off_ms(struct amqp_client *client, uint32_t failures);
/* The monotonic clock. */
uint64_t amqp_client_now_ms(void);

/* One more; only one thread adds to a counter. */
static inline void amqp_count(audit_counter *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

#endif
