/*
 * transfers.h: calls of one HTTP service, so many at once, each tried until it has an answer that
 * counts. Two puts of one name are never under way together: the later one waits. A try that nobody
 * waits for any more may still run at the server, late; so a put of a name that is rewritten names
 * the version that it replaces (If-Match, If-None-Match), and one that comes late is refused. What
 * is refused is looked at (HEAD), and put in its place. What somebody waits for goes before the
 * rest; reads have a few places more, so that they start however slow the uploads are. Thread: the
 * loop's.
 */
#ifndef STORAGE_HTTP_TRANSFERS_H
#define STORAGE_HTTP_TRANSFERS_H

#include "http/loop.h"
#include "storage/http/etags.h"
#include "storage/http/http_blob.h"

struct storage_transfer;

/* How one ended; the reply (GET, LIST) lives until the callback returns, which may add others. */
struct storage_transfer_end {
    enum result result;
    struct span reply;
    void *owner;
    size_t index;
};
typedef void (*storage_transfer_fn)(struct storage_transfer_end end);

struct storage_transfers {
    /* private to transfers.c */
    struct http_loop curl;
    struct storage_http_options options;
    struct storage_http_service *service; /* owned */
    struct storage_etags etags;
    bool unconditional;             /* the service knows no conditions: its own order must do */
    struct storage_transfer *first; /* all that have not ended, oldest first */
    struct storage_transfer *last;
    CURL **idle; /* places for all that may be active */
    uint32_t idle_count;
    uint32_t active;
    uint32_t awaited; /* of all: that somebody waits for, and that are not active */
    uint32_t count;
    bool making; /* the container */
    bool closing;
    enum result told; /* state last logged: OK works, else why not */
};

/* RESULT_LIMIT: then the service is still the caller's. */
MUST_USE enum result storage_transfers_init(struct storage_transfers *transfers,
                                            struct ev_loop *loop,
                                            const struct storage_http_options *options,
                                            struct storage_http_service *service);
/* Ends all with RESULT_CLOSED and closes the service. */
void storage_transfers_release(struct storage_transfers *transfers);
/*
 * Copies name and marker, borrows the body until the end. Never ends before it returns; starts
 * when the loop turns or another ends. RESULT_LIMIT: no memory; RESULT_CLOSED.
 */
MUST_USE enum result storage_transfers_add(struct storage_transfers *transfers,
                                           const struct storage_http_call *call,
                                           storage_transfer_fn done, void *owner, size_t index);
/* Starts what may start. */
void storage_transfers_start(struct storage_transfers *transfers);

#endif
