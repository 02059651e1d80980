/* waiting.c: see waiting.h. */
#include "tests/contract/waiting.h"

#include <criterion/criterion.h>
#include <ev.h>
#include <stdlib.h>

#include "proto/message.h"

#define TICKET 4711u

struct waiting {
    union {
        struct storage_hot hot;
        struct storage_blob blob;
    } port; /* first */
    struct proto_sink sink;
    struct storage_hot *hot;
    struct storage_blob *blob;
    struct ev_loop *loop;
    struct proto_message *answer;
};

static const struct storage_hot_ops hot_ops;
static const struct storage_blob_ops blob_ops;

static struct waiting *waiting_of_sink(struct proto_sink *sink)
{
    return (struct waiting *)(void *)((char *)sink - offsetof(struct waiting, sink));
}

static enum result take_answer(struct proto_sink *sink, struct proto_message **message)
{
    struct waiting *self = waiting_of_sink(sink);
    cr_assert_null(self->answer, "a second answer");
    self->answer = *message;
    *message = NULL;
    return RESULT_OK;
}

static struct waiting *waiting_new(struct ev_loop *loop)
{
    struct waiting *self = calloc(1, sizeof *self);
    self->loop = loop;
    self->sink.send = take_answer;
    return self;
}

struct storage_hot *contract_hot_waiting(struct storage_hot *inner, struct ev_loop *loop)
{
    struct waiting *self = waiting_new(loop);
    self->port.hot.ops = &hot_ops;
    self->hot = inner;
    return &self->port.hot;
}

struct storage_blob *contract_blob_waiting(struct storage_blob *inner, struct ev_loop *loop)
{
    struct waiting *self = waiting_new(loop);
    self->port.blob.ops = &blob_ops;
    self->blob = inner;
    return &self->port.blob;
}

static struct proto_address me(struct waiting *self)
{
    return (struct proto_address){&self->sink, TICKET};
}

/* Passes the answer of a call that returned `called` on. */
static enum result pass_on(struct waiting *self, enum result called, struct proto_address reply_to)
{
    if (called != RESULT_OK) {
        cr_assert_null(self->answer, "refused and answered");
        return called;
    }
    while (self->answer == NULL) {
        ev_run(self->loop, EVRUN_ONCE);
    }
    struct proto_message *answer = self->answer;
    self->answer = NULL;
    cr_assert_eq(answer->reply_to.ticket, TICKET);
    enum result result = answer->as.port_done.result;
    message_answer(reply_to, answer);
    return reply_to.sink == NULL ? result : RESULT_OK;
}

static enum result hot_put(struct storage_hot *hot, struct span execution_id, struct span bytes,
                           uint64_t now_ms, struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(self, self->hot->ops->put(self->hot, execution_id, bytes, now_ms, me(self)),
                   reply_to);
}

static enum result hot_get(struct storage_hot *hot, struct span execution_id, uint64_t now_ms,
                           struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(self, self->hot->ops->get(self->hot, execution_id, now_ms, me(self)), reply_to);
}

static enum result hot_remove(struct storage_hot *hot, struct span execution_id,
                              struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(self, self->hot->ops->remove(self->hot, execution_id, me(self)), reply_to);
}

static enum result hot_bind(struct storage_hot *hot, struct span channel_session_id,
                            struct span execution_id, uint64_t now_ms,
                            struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(
        self, self->hot->ops->bind(self->hot, channel_session_id, execution_id, now_ms, me(self)),
        reply_to);
}

static enum result hot_resolve(struct storage_hot *hot, struct span channel_session_id,
                               uint64_t now_ms, struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(self, self->hot->ops->resolve(self->hot, channel_session_id, now_ms, me(self)),
                   reply_to);
}

static enum result hot_unbind(struct storage_hot *hot, struct span channel_session_id,
                              struct span execution_id, struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)hot;
    return pass_on(self,
                   self->hot->ops->unbind(self->hot, channel_session_id, execution_id, me(self)),
                   reply_to);
}

static void hot_close(struct storage_hot *hot)
{
    struct waiting *self = (struct waiting *)hot;
    self->hot->ops->close(self->hot);
    free(self);
}

static enum result blob_put(struct storage_blob *blob, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)blob;
    return pass_on(self, self->blob->ops->put(self->blob, items, count, me(self)), reply_to);
}

static enum result blob_get(struct storage_blob *blob, struct span name,
                            struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)blob;
    return pass_on(self, self->blob->ops->get(self->blob, name, me(self)), reply_to);
}

static enum result blob_list(struct storage_blob *blob, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)blob;
    return pass_on(self, self->blob->ops->list(self->blob, prefix, limit, me(self)), reply_to);
}

static enum result blob_remove(struct storage_blob *blob, struct span prefix,
                               struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)blob;
    return pass_on(self, self->blob->ops->remove(self->blob, prefix, me(self)), reply_to);
}

static enum result blob_flush(struct storage_blob *blob, struct proto_address reply_to)
{
    struct waiting *self = (struct waiting *)blob;
    return pass_on(self, self->blob->ops->flush(self->blob, me(self)), reply_to);
}

static void blob_close(struct storage_blob *blob)
{
    struct waiting *self = (struct waiting *)blob;
    self->blob->ops->close(self->blob);
    free(self);
}

static const struct storage_hot_ops hot_ops = {
    .put = hot_put,
    .get = hot_get,
    .remove = hot_remove,
    .bind = hot_bind,
    .resolve = hot_resolve,
    .unbind = hot_unbind,
    .close = hot_close,
};

static const struct storage_blob_ops blob_ops = {
    .put = blob_put,
    .get = blob_get,
    .list = blob_list,
    .remove = blob_remove,
    .flush = blob_flush,
    .close = blob_close,
};
