/*
 * tell.c: log lines of single executions: each module call and its answer, each end. They are for
 * somebody who looks for one execution; what happened in it stands in its own logs. Codes and ids
 * only: a message may quote what a module said.
 */
#include "actors/shard/state.h"
#include "proto/base/id.h"
#include "proto/base/limits.h"
#include "proto/log.h"

/* A module or a model chose the text: what could be taken for another field is not shown. */
static struct span plain(struct span text)
{
    for (size_t i = 0; i < text.count; i++) {
        if (text.bytes[i] <= ' ' || text.bytes[i] == '"' || text.bytes[i] == 0x7f) {
            return span_text("(other)");
        }
    }
    return text.count <= LIMIT_ID_BYTES ? text : span_text("(other)");
}

void shard_tell_call(const struct actor_shard *shard, const struct proto_call *call)
{
    if (!log_enabled(LOG_DEBUG)) {
        return;
    }
    /* The key begins with the step's id. */
    struct span key = call->idempotency_key;
    size_t id_bytes = key.count < UUID_TEXT_BYTES ? key.count : UUID_TEXT_BYTES;
    log_line(LOG_DEBUG, "MODULE-CALL", "shard=%u executionId=%s stepId=%.*s key=%.*s attempt=%u",
             shard->options.index, call->execution_id.text, (int)id_bytes, (const char *)key.bytes,
             SPAN_ARG(key), call->attempt);
}

void shard_tell_answer(const struct actor_shard *shard, const struct proto_call_done *done)
{
    static const char *const outcomes[] = {
        [PROTO_CALL_ANSWERED] = "answered",   [PROTO_CALL_UNREACHABLE] = "unreachable",
        [PROTO_CALL_TIMED_OUT] = "timedOut",  [PROTO_CALL_BAD_REPLY] = "badReply",
        [PROTO_CALL_CANCELLED] = "cancelled", [PROTO_CALL_REFUSED] = "refused",
    };
    if (log_enabled(LOG_DEBUG)) {
        log_line(LOG_DEBUG, "MODULE-ANSWER",
                 "shard=%u executionId=%s attempt=%u outcome=%s status=%u elapsed_ms=%u",
                 shard->options.index, done->execution_id.text, done->attempt,
                 outcomes[done->outcome], done->status, done->elapsed_ms);
    }
}

void shard_tell_end(const struct actor_shard *shard, const struct engine_view *view)
{
    bool failed = (view->state & ENGINE_STATE_EXCEPTION) != 0;
    enum log_level level = failed ? LOG_INFO : LOG_DEBUG;
    if (!view->ended || !log_enabled(level)) {
        return;
    }
    struct span process = plain(view->process);
    struct span error = plain(view->error_code);
    log_line(level, failed ? "EXECUTION-FAILED" : "EXECUTION-ENDED",
             "shard=%u executionId=%.*s process=\"%.*s\" version=%u state=%u steps=%u "
             "errorCode=\"%.*s\"",
             shard->options.index, SPAN_ARG(view->id), SPAN_ARG(process), view->version,
             view->state, view->sequence, SPAN_ARG(error));
}
