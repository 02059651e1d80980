/*
 * asking.c: how a request ends.
 */
#include "actors/shard/asking.h"

#include "proto/base/assert.h"

void asking_done(struct asking *asking)
{
    message_free(asking->message);
    asking->message = NULL;
}

/* The session's keeper has a note of whom a refused request meant: its repeat is to be asked anew,
 * as another execution may have begun to wait. */
static void drop_route(struct actor_shard *shard, const struct asking *asking)
{
    struct span session = asking_text(asking, ACTOR_FIELD_SESSION, "");
    struct span request_id = asking_text(asking, ACTOR_FIELD_REQUEST_ID, "");
    struct span workspace = asking_text(asking, ACTOR_FIELD_WORKSPACE, "default");
    if (!asking->message->as.request.route_is_new) {
        return;
    }
    struct proto_message *drop = message_new(PROTO_ROUTE_DROP, workspace.count + request_id.count);
    if (drop == NULL) {
        return; /* the note goes by itself, in ten minutes */
    }
    drop->as.route = (struct proto_route){.workspace = message_keep(drop, workspace),
                                          .request_id = message_keep(drop, request_id)};
    uint32_t keeper = actor_shard_of(session, shard->options.shard_count);
    if (keeper == shard->options.index) {
        shard_drop_route(shard, drop);
    } else {
        struct proto_sink *sink = shard->options.shards[keeper];
        if (sink->send(sink, &drop) != RESULT_OK) {
            message_free(drop); /* it stops, as we do */
        }
    }
}

void asking_refuse(struct actor_shard *shard, struct asking *asking,
                   const struct actor_refusal *refusal, struct actor_work *work)
{
    drop_route(shard, asking);
    shard_refuse(shard, asking->message, asking->remembered, refusal, work);
    asking_done(asking);
}

void asking_refuse_text(struct actor_shard *shard, struct asking *asking, enum proto_error error,
                        const char *message)
{
    asking_refuse(shard, asking,
                  &(struct actor_refusal){.error = error,
                                          .message = span_text(message),
                                          .execution_id = execution_id_span(&asking->id)},
                  NULL);
}

void asking_refuse_located(struct actor_shard *shard, struct asking *asking,
                           enum shard_located located)
{
    switch (located) {
    case SHARD_ABSENT:
        asking_refuse_text(shard, asking, PROTO_ERROR_SessionNotFound,
                           "there is no such execution");
        return;
    case SHARD_ENDED:
        asking_refuse_text(shard, asking, PROTO_ERROR_AlreadyFinished, "the execution has ended");
        return;
    case SHARD_DAMAGED:
        asking_refuse_text(shard, asking, PROTO_ERROR_Internal,
                           "the execution was set aside: its stored bytes are damaged");
        return;
    case SHARD_FAILED:
        asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed,
                           "the execution could not be fetched");
        return;
    case SHARD_LIVE:
    case SHARD_PENDING:
        break;
    }
    ASSERT_UNREACHABLE();
}

struct actor_work *asking_find(struct actor_shard *shard, struct asking *asking)
{
    struct actor_work *work;
    enum shard_located located =
        shard_locate(shard, &asking->id, SHARD_WISH_ANY, &asking->message, asking->lookup, &work);
    if (located == SHARD_LIVE) {
        return work;
    }
    if (located != SHARD_PENDING) {
        asking_refuse_located(shard, asking, located);
    }
    return NULL;
}

void asking_refuse_accept(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    const struct engine_output *output = work->output;
    ASSERT(output != NULL);
    bool said = output->error != PROTO_ERROR_NONE;
    asking_refuse(shard, asking,
                  &(struct actor_refusal){
                      .error = said ? output->error : PROTO_ERROR_InvalidTransition,
                      .message = said ? output->error_message : span_text("nothing to do"),
                      .details = output->error_details,
                      .execution_id = execution_id_span(&asking->id)},
                  work);
}

void asking_conclude(struct actor_shard *shard, struct asking *asking, struct actor_work *work)
{
    struct span body = shard_state_body(shard, work->execution);
    shard_conclude(shard, asking->message, asking->remembered, true, body, work);
    asking_done(asking);
}

static uint64_t timeout_of(const struct actor_request *fields)
{
    return (uint64_t)actor_request_count(fields, ACTOR_FIELD_TIMEOUT, 0);
}

/* The repeats that came while the first was looked up wait like any other. */
static void wait_attached(struct actor_shard *shard, struct actor_work *work,
                          struct actor_remembered *remembered)
{
    struct proto_message *repeat;
    if (remembered == NULL || remembered->replied) {
        return; /* answered: so are they */
    }
    while ((repeat = actor_queue_pop(&remembered->attached)) != NULL) {
        struct actor_request fields;
        actor_request_read(repeat->as.request.body, &fields);
        if (shard_wait(shard, work, repeat, NULL, timeout_of(&fields)) == NULL) {
            shard_refuse(shard, repeat, NULL,
                         &(struct actor_refusal){.error = PROTO_ERROR_Overloaded,
                                                 .message = span_text("too many requests wait")},
                         NULL);
        }
        message_free(repeat);
    }
}

struct actor_waiter *asking_wait(struct actor_shard *shard, struct asking *asking,
                                 struct actor_work *work)
{
    struct actor_waiter *waiter =
        shard_wait(shard, work, asking->message, asking->remembered, timeout_of(&asking->fields));
    if (waiter == NULL) {
        actor_count(&shard->counters.overloaded, 1);
        asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded, "too many requests wait");
    }
    return waiter;
}

enum result asking_submit(struct actor_shard *shard, struct asking *asking, struct actor_work *work,
                          const struct engine_input *input, bool at_once)
{
    struct actor_waiter *waiter = at_once ? NULL : asking_wait(shard, asking, work);
    if (!at_once && waiter == NULL) {
        return RESULT_AGAIN;
    }
    enum result result = shard_accept(shard, work, input);
    if (result == RESULT_OK) {
        wait_attached(shard, work, asking->remembered);
        if (at_once) {
            asking_conclude(shard, asking, work);
        }
        asking_done(asking);
    } else if (result == RESULT_LIMIT) {
        if (at_once) {
            asking_refuse_text(shard, asking, PROTO_ERROR_PayloadTooLarge,
                               "the execution outgrew its memory limit");
        }
        asking_done(asking);
    } else if (!at_once) {
        shard_wait_end(shard, waiter);
    }
    return result;
}
