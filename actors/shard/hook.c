/*
 * hook.c: a webhook's request becomes a start: this shard finds the process by the path, and hands
 * the start to the owner of the new execution, as if its caller had asked for it there.
 */
#include "actors/shard/asking.h"
#include "proto/base/assert.h"

/* What is handed on as it came. */
static const enum actor_field kept[] = {ACTOR_FIELD_REQUEST, ACTOR_FIELD_CONTEXT, ACTOR_FIELD_WAIT,
                                        ACTOR_FIELD_TIMEOUT, ACTOR_FIELD_TRACEPARENT};

/* A key means something at its own path only, and never the requestId of another request. Empty:
 * none was given. */
static struct span request_id_of(struct actor_shard *shard, const struct asking *asking)
{
    struct span key = asking_text(asking, ACTOR_FIELD_REQUEST_ID, "");
    struct span path = asking_text(asking, ACTOR_FIELD_PATH, "");
    return key.count == 0
               ? SPAN_EMPTY
               : arena_format(&shard->turn, "hooks/%.*s#%.*s", SPAN_ARG(path), SPAN_ARG(key));
}

static struct span start_body(struct actor_shard *shard, const struct asking *asking,
                              const struct engine_process *process, struct span workspace,
                              struct span request_id)
{
    struct wire_writer writer;
    uint32_t pairs = 5;
    wire_writer_init(&writer, &shard->turn, asking->message->as.request.body.count + 512);
    size_t mark = wire_open_map(&writer);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", proto_operation_name(PROTO_OP_START));
    wire_pair_string(&writer, "workspaceId", workspace);
    wire_pair_string(&writer, "projectId", process->project);
    wire_pair_string(&writer, "process", process->id);
    if (request_id.count > 0) {
        wire_pair_string(&writer, "requestId", request_id);
        pairs++;
    }
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (asking_field(asking, kept[i]).count > 0) {
            wire_pair_value(&writer, actor_field_name(kept[i]), asking_field(asking, kept[i]));
            pairs++;
        }
    }
    wire_close_map(&writer, mark, pairs);
    return wire_writer_span(&writer);
}

/* NULL: no memory. */
static struct proto_message *start_message(struct actor_shard *shard, const struct asking *asking,
                                           const struct engine_process *process,
                                           const struct engine_node *node, struct span request_id)
{
    const struct proto_request *asked = &asking->message->as.request;
    struct span workspace = actor_catalog_workspace(&shard->catalog, process->project);
    struct span body = start_body(shard, asking, process, workspace, request_id);
    struct span node_id = node == NULL ? SPAN_EMPTY : node->id;
    struct proto_message *start =
        body.count == 0 ? NULL : message_new(PROTO_REQUEST, body.count + node_id.count);
    if (start == NULL) {
        return NULL;
    }
    struct proto_request *request = &start->as.request;
    *request = (struct proto_request){.operation = PROTO_OP_START,
                                      .spelling = asked->spelling,
                                      .body = message_keep(start, body),
                                      .start_node = message_keep(start, node_id),
                                      .execution_id = asked->execution_id,
                                      .received_ms = asked->received_ms};
    if (request_id.count > 0) { /* engine.md 9: a repeat reaches the same shard */
        request->execution_id.count = UUID_TEXT_BYTES;
        uuid_format(uuid_v5(workspace, request_id), request->execution_id.text);
    }
    start->reply_to = asking->message->reply_to;
    return start;
}

static void refuse_unknown(struct actor_shard *shard, struct asking *asking)
{
    struct span message = arena_format(&shard->turn, "no deployed process has a webhook \"%.*s\"",
                                       SPAN_ARG(asking_text(asking, ACTOR_FIELD_PATH, "")));
    asking_refuse(
        shard, asking,
        &(struct actor_refusal){.error = PROTO_ERROR_DefinitionNotFound, .message = message}, NULL);
}

void asking_hook(struct actor_shard *shard, struct asking *asking)
{
    struct engine_start_trigger trigger;
    const struct engine_process *process =
        actor_catalog_of_path(&shard->catalog, asking_text(asking, ACTOR_FIELD_PATH, ""), &trigger);
    if (process == NULL) {
        refuse_unknown(shard, asking);
        return;
    }
    struct span request_id = request_id_of(shard, asking);
    if (request_id.count > LIMIT_REQUEST_ID_BYTES) {
        asking_refuse_text(shard, asking, PROTO_ERROR_InvalidRequest,
                           "path and requestId are too long together");
        return;
    }
    struct proto_message *start = start_message(shard, asking, process, trigger.node, request_id);
    struct proto_sink *owner =
        start == NULL
            ? NULL
            : shard->options.shards[actor_shard_of(
                  execution_id_span(&start->as.request.execution_id), shard->options.shard_count)];
    if (owner != NULL && owner->send(owner, &start) == RESULT_OK) {
        asking_done(asking);
        return;
    }
    message_free(start);
    asking_refuse_text(shard, asking, PROTO_ERROR_Overloaded, "the engine is busy");
}
