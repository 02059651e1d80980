/* message.c: see message.h. */
#include "audit/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "audit/bus.h"
#include "proto/base/id.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum kind { TEXT, TIME, NUMBER, FLAG };

struct field {
    const char *name;
    enum kind kind;
    bool always;
};

static const struct field fields[] = {
    {"messageId", TEXT, false},   {"executionId", TEXT, true},
    {"run", NUMBER, false},       {"revision", NUMBER, true},
    {"workspaceId", TEXT, false}, {"projectId", TEXT, false},
    {"process", TEXT, false},     {"version", NUMBER, false},
    {"channel", TEXT, false},     {"channelSessionId", TEXT, false},
    {"event", TEXT, false},       {"state", NUMBER, false},
    {"status", TEXT, false},      {"lifecycle", TEXT, false},
    {"sequence", NUMBER, false},  {"taskId", TEXT, false},
    {"startedAt", TIME, false},   {"updatedAt", TIME, false},
    {"endedAt", TIME, false},     {"payloadSizeBytes", NUMBER, false},
    {"errorCode", TEXT, false},   {"errorMessage", TEXT, false},
    {"isTest", FLAG, false},      {"lastPersistedLogIndex", NUMBER, false},
};

static const struct field log_fields[] = {
    {"index", NUMBER, true},  {"at", TIME, false},     {"level", TEXT, false},
    {"message", TEXT, false}, {"taskId", TEXT, false},
};

static enum result refuse(char *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum result refuse(char *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, AUDIT_REASON_BYTES, format, arguments);
    va_end(arguments);
    return RESULT_INVALID;
}

static enum result check_field(const struct field *field, struct span value, const char *where,
                               char *reason)
{
    struct wire_value head = wire_head(value);
    if (value.count == 0 || head.type == WIRE_NIL) {
        return field->always ? refuse(reason, "%s%s is missing", where, field->name) : RESULT_OK;
    }
    if (field->kind == NUMBER) {
        return head.type == WIRE_INT && head.as.integer >= 0
                   ? RESULT_OK
                   : refuse(reason, "%s%s is no whole number from 0 on", where, field->name);
    }
    if (field->kind == FLAG) {
        return head.type == WIRE_BOOL
                   ? RESULT_OK
                   : refuse(reason, "%s%s is neither true nor false", where, field->name);
    }
    if (head.type != WIRE_STRING) {
        return refuse(reason, "%s%s is no text", where, field->name);
    }
    size_t most = field->kind == TIME ? AUDIT_TIME_BYTES_MAX : AUDIT_TEXT_BYTES_MAX;
    return head.as.text.count <= most
               ? RESULT_OK
               : refuse(reason, "%s%s is %zu bytes long, and %zu are the most", where, field->name,
                        head.as.text.count, most);
}

static enum result check_log(struct span log, uint32_t at, char *reason)
{
    char where[32];
    snprintf(where, sizeof where, "logs[%u].", at);
    if (!wire_is(log, WIRE_MAP)) {
        return refuse(reason, "logs[%u] is no object", at);
    }
    enum result result = RESULT_OK;
    for (size_t i = 0; i < sizeof log_fields / sizeof log_fields[0] && result == RESULT_OK; i++) {
        result =
            check_field(&log_fields[i], wire_find_text(log, log_fields[i].name), where, reason);
    }
    /* What a log entry carries becomes JSON text in one column. */
    struct span value = wire_find_text(log, "data");
    if (result == RESULT_OK && value.count > AUDIT_TEXT_BYTES_MAX) {
        result = refuse(reason, "%sdata is %zu bytes long, and %u are the most", where, value.count,
                        AUDIT_TEXT_BYTES_MAX);
    }
    return result;
}

static enum result check_logs(struct span logs, char *reason)
{
    if (logs.count == 0 || wire_head(logs).type == WIRE_NIL) {
        return RESULT_OK;
    }
    if (!wire_is(logs, WIRE_ARRAY)) {
        return refuse(reason, "logs is no array");
    }
    struct span log;
    struct wire_map_walk walk = wire_array_begin(logs);
    enum result result = RESULT_OK;
    for (uint32_t at = 0; result == RESULT_OK && wire_array_next(&walk, &log); at++) {
        result = check_log(log, at, reason);
    }
    return result;
}

enum result audit_message_read(struct span json, struct arena *arena, struct span *out,
                               char *reason)
{
    struct json_error error;
    struct span map;
    enum result result = json_to_wire(json, LIMIT_WIRE_DEPTH, arena, &map, &error);
    if (arena->overflowed) {
        return RESULT_LIMIT;
    }
    if (result != RESULT_OK) {
        return refuse(reason, "no JSON: %s at byte %zu", error.reason, error.offset);
    }
    if (!wire_is(map, WIRE_MAP)) {
        return refuse(reason, "no JSON object");
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && result == RESULT_OK; i++) {
        result = check_field(&fields[i], wire_find_text(map, fields[i].name), "", reason);
    }
    if (result == RESULT_OK &&
        !id_is_valid(wire_string_or(wire_find_text(map, "executionId"), ""))) {
        result = refuse(reason, "executionId is no id");
    }
    if (result == RESULT_OK) {
        result = check_logs(wire_find_text(map, "logs"), reason);
    }
    *out = map;
    return result;
}
