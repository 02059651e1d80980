/*
 * audit.c: see audit.h. Fields that have nothing to say are left out: the consumer reads them as
 * null.
 */
#include "engine/audit.h"

#include "engine/encode.h"
#include "engine/state.h"
#include "engine/wait.h"
#include "proto/wire/reader.h"

/* Where it stands: where it failed, what it waits for, else the newest step. */
static struct span current_task(const struct engine_execution *execution)
{
    if (execution->end == ENGINE_END_FAILED && execution->error_task.count > 0) {
        return execution->error_task;
    }
    if (engine_state_is_waiting(execution)) {
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &execution->parked,
                         ENGINE_LINK_QUEUE)) {
            if (token->state == ENGINE_TOKEN_WAITING) {
                return engine_token_node(execution, token)->id;
            }
        }
    }
    return wire_string_or(wire_find_text(engine_encode_last_step(execution), "taskId"), "");
}

/* "<executionId>:<revision>": a message sent again has the same id. */
static void write_message_id(const struct engine_execution *execution, struct wire_writer *writer)
{
    char digits[12];
    uint32_t revision = execution->revision;
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + revision % 10);
        revision /= 10;
    } while (revision > 0);
    digits[--at] = ':';
    ENGINE_PACK(writer, "messageId");
    size_t mark = wire_open_string(writer);
    engine_pack_raw(writer, execution_id_span(&execution->id));
    engine_pack_raw(writer, span_of(digits + at, sizeof digits - at));
    wire_close_string(writer, mark);
}

void engine_audit_write(const struct engine_execution *execution,
                        const struct engine_audit_content *content, struct wire_writer *writer)
{
    uint8_t state = engine_state_of(execution);
    struct span error = engine_state_error(execution);
    struct span task = current_task(execution);
    size_t mark = engine_pack_map_open(writer);
    uint32_t count = 11 + execution->identity_pairs;
    write_message_id(execution, writer);
    engine_pack_raw(writer, execution->identity);
    ENGINE_PACK_UINT(writer, "run", execution->run);
    ENGINE_PACK_UINT(writer, "revision", execution->revision);
    ENGINE_PACK_STRING(writer, "event", span_text(content->event));
    ENGINE_PACK_UINT(writer, "state", state);
    ENGINE_PACK_STRING(writer, "status", span_text(engine_status_name(state)));
    ENGINE_PACK_STRING(writer, "lifecycle",
                       span_text(engine_lifecycle_name(engine_lifecycle_of(execution))));
    ENGINE_PACK_UINT(writer, "sequence", execution->sequence);
    ENGINE_PACK_TIME(execution, writer, "startedAt", execution->started_ms);
    ENGINE_PACK_TIME(execution, writer, "updatedAt", execution->now_ms);
    ENGINE_PACK_UINT(writer, "lastPersistedLogIndex", execution->log_shipped);
    if (task.count > 0) {
        ENGINE_PACK_STRING(writer, "taskId", task);
        count++;
    }
    if (execution->end != ENGINE_END_NONE) {
        ENGINE_PACK_TIME(execution, writer, "endedAt", execution->ended_ms);
        count++;
    }
    if (content->snapshot_bytes > 0) {
        ENGINE_PACK_UINT(writer, "payloadSizeBytes", content->snapshot_bytes);
        count++;
    }
    if (error.count > 0) {
        ENGINE_PACK_STRING(writer, "errorCode", error);
        ENGINE_PACK_STRING(writer, "errorMessage", execution->error_message);
        count += 2;
    }
    if (content->log_count > 0) {
        ENGINE_PACK(writer, "logs");
        wire_write_array(writer, content->log_count);
        engine_pack_raw(writer, content->logs);
        count++;
    }
    engine_pack_map_close(writer, mark, count);
}
