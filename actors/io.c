/*
 * io.c: the io thread, which the dispatcher's curl handles live on too.
 */
#include "actors/io.h"

#include <stdlib.h>

#include "actors/queue.h"
#include "proto/base/assert.h"
#include "proto/log.h"

enum { IO_MAGIC = 0x494f494f, IO_RETRY_MS = 10 };

struct actor_io {
    uint32_t magic;
    struct proto_sink *modules;
    struct actor_queue held;
};

enum result actor_io_new(struct actor_io **out)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return RESULT_LIMIT;
    }
    (*out)->magic = IO_MAGIC;
    return RESULT_OK;
}

void actor_io_free(struct actor_io *io)
{
    if (io == NULL) {
        return;
    }
    actor_queue_clear(&io->held);
    io->magic = 0;
    free(io);
}

void actor_io_set_modules(struct actor_io *io, struct proto_sink *modules)
{
    io->modules = modules;
}

static void answer_refused(const struct proto_message *call)
{
    static const char reason[] = "this engine has no module dispatcher";
    struct proto_message *done = message_new(PROTO_CALL_DONE, sizeof reason);
    if (done == NULL) {
        log_line(LOG_CRITICAL, "IO-ANSWER-LOST", "executionId=%s reason=\"no memory\"",
                 call->as.call.execution_id.text);
        return;
    }
    done->as.call_done = (struct proto_call_done){.execution_id = call->as.call.execution_id,
                                                  .token = call->as.call.token,
                                                  .attempt = call->as.call.attempt,
                                                  .outcome = PROTO_CALL_REFUSED,
                                                  .retry_after_ms = -1,
                                                  .reason = message_keep(done, span_text(reason))};
    message_answer(call->reply_to, done);
}

/* false: the dispatcher is full, the message is still here. */
static bool hand_on(struct actor_io *io, struct proto_message *message)
{
    if (io->modules == NULL) {
        if (message->type == PROTO_CALL) {
            answer_refused(message);
        }
        message_free(message);
        return true;
    }
    enum result result = io->modules->send(io->modules, &message);
    if (result == RESULT_AGAIN) {
        return false;
    }
    message_free(message); /* NULL, or the dispatcher is closed */
    return true;
}

uint64_t actor_io_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_io *io = BASE_CAST(actor_io, argument, IO_MAGIC);
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        actor_queue_push(&io->held,
                         message); /* behind those that wait: a cancel must not overtake its call */
    }
    while (io->held.oldest != NULL) {
        struct proto_message *message = io->held.oldest;
        struct proto_message *next = message->next;
        if (!hand_on(io, message)) {
            return now.monotonic_ms + IO_RETRY_MS;
        }
        io->held.oldest = next;
    }
    return ACTOR_NEVER;
}
