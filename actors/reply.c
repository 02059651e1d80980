/*
 * reply.c: pure functions over arenas and messages, any actor's thread.
 */
#include "actors/reply.h"

#include "proto/base/assert.h"
#include "proto/log.h"

size_t actor_reply_open(struct wire_writer *writer, uint32_t *pairs)
{
    size_t mark = wire_open_map(writer);
    wire_pair_int(writer, "v", 1);
    wire_pair_bool(writer, "ok", true);
    *pairs = 2;
    return mark;
}

struct span actor_reply_close(struct wire_writer *writer, size_t mark, uint32_t pairs)
{
    wire_close_map(writer, mark, pairs);
    return wire_writer_span(writer);
}

struct span actor_reply_refusal(struct arena *arena, const struct actor_refusal *refusal)
{
    ASSERT(refusal->error != PROTO_ERROR_NONE);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 256);
    wire_write_map(&writer, refusal->execution_id.count == 0 ? 3 : 4);
    wire_pair_int(&writer, "v", 1);
    wire_pair_bool(&writer, "ok", false);
    if (refusal->execution_id.count > 0) {
        wire_pair_string(&writer, "executionId", refusal->execution_id);
    }
    wire_write_text(&writer, "error");
    wire_write_map(&writer, refusal->details.count == 0 ? 2 : 3);
    wire_pair_text(&writer, "code", proto_error_name(refusal->error));
    wire_pair_string(&writer, "message", refusal->message);
    if (refusal->details.count > 0) {
        wire_pair_value(&writer, "details", refusal->details);
    }
    return wire_writer_span(&writer);
}

struct proto_message *actor_reply_new(enum proto_spelling spelling, bool ok, struct span body)
{
    struct proto_message *reply = body.count == 0 ? NULL : message_new(PROTO_REPLY, body.count);
    if (reply == NULL) {
        log_line(LOG_ERROR, "REPLY-NO-MEMORY", "bytes=%zu", body.count);
        return NULL;
    }
    reply->as.reply =
        (struct proto_reply){.spelling = spelling, .ok = ok, .body = message_keep(reply, body)};
    return reply;
}

void actor_reply_refuse(const struct proto_message *request, struct arena *arena,
                        const struct actor_refusal *refusal)
{
    ASSERT(request->type == PROTO_REQUEST);
    struct span body = actor_reply_refusal(arena, refusal);
    struct proto_message *reply = actor_reply_new(request->as.request.spelling, false, body);
    if (reply != NULL) {
        message_answer(request->reply_to, reply);
    }
}

void actor_reply_refuse_text(const struct proto_message *request, struct arena *arena,
                             enum proto_error error, const char *message)
{
    actor_reply_refuse(request, arena,
                       &(struct actor_refusal){.error = error, .message = span_text(message)});
}
