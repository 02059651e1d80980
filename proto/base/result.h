/*
 * result.h: the one result type of the whole program.
 *
 * Foreign codes (errno, nng, CURLcode, SQLite, LMDB) are translated to it at the adapter, in one
 * table, and go no further up. What goes wrong in the modelled process is data (an engine event),
 * never one of these.
 */
#ifndef PROTO_BASE_RESULT_H
#define PROTO_BASE_RESULT_H

#define MUST_USE __attribute__((warn_unused_result))

enum result {
    RESULT_OK = 0,  /* done */
    RESULT_AGAIN,   /* a bounded queue is full: nothing was taken, try later or answer Overloaded */
    RESULT_LIMIT,   /* a size, depth or memory limit was met: refuse the input for good */
    RESULT_INVALID, /* malformed or contradictory input: report it to whoever sent it */
    RESULT_NOT_FOUND, /* no such thing: an answer, not a fault */
    RESULT_EXISTS,    /* already there: an answer, not a fault */
    RESULT_IO,        /* disk, network or server failed: retry with back-off, tell the operator */
    RESULT_FULL,      /* no space left on the device: stop taking work, keep what there is */
    RESULT_CORRUPT, /* stored bytes fail their check: set them aside, report, never execute them */
    RESULT_TIMEOUT, /* a deadline passed: the outcome at the peer is unknown */
    RESULT_CLOSED,  /* the other side has been closed or is shutting down */
    RESULT_DENIED,  /* not authorised */
    RESULT_UNSUPPORTED, /* known but not provided here: name it to the user */
};

/* Returns a static lower-case English phrase, e.g. "queue full". Any thread. */
const char *result_text(enum result result);

#endif
