/*
 * modules.h: the port of module dispatch: PROTO_CALL in, exactly one PROTO_CALL_DONE out to the
 * call's reply_to.
 *
 * The adapter (curl multi on the loop it is given) keeps connections alive, holds at most
 * `concurrent_max` calls of a module under way over all shards (the rest wait in its queue, in
 * order), ends each by its own deadline timer, counts bytes after decompression, follows no
 * redirects, asks for no Expect, and turns the answer into a checked MessagePack value. Retry
 * policy is the engine's, not this layer's.
 */
#ifndef TRANSPORT_MODULES_H
#define TRANSPORT_MODULES_H

#include "proto/base/result.h"
#include "proto/message.h"
#include "proto/sink.h"

struct ev_loop;
struct transport_modules;

struct transport_modules_options {
    struct ev_loop *loop;        /* borrowed; all work happens on its thread */
    uint32_t queue_max;          /* calls accepted and not done; more: send answers RESULT_AGAIN */
    uint32_t connections_max;    /* kept alive in all; 0: 256 */
    uint32_t connect_timeout_ms; /* 0: 5,000 */
};

struct transport_modules_stats {
    uint64_t calls;
    uint64_t answered;
    uint64_t failed;
    uint32_t active;
    uint32_t queued;
};

MUST_USE enum result transport_modules_open(const struct transport_modules_options *options,
                                            struct transport_modules **out);
/* Takes PROTO_CALL and PROTO_CALL_CANCEL; on the loop's thread only (the io actor hands its mailbox
 * on). */
struct proto_sink *transport_modules_sink(struct transport_modules *modules);
void transport_modules_stats(const struct transport_modules *modules,
                             struct transport_modules_stats *out);
/* Ends every call as CANCELLED, then frees. */
void transport_modules_close(struct transport_modules *modules);

#endif
