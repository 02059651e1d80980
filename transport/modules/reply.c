/*
 * reply.c: reads what modules answer.
 */
#include "transport/modules/reply.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define SAMPLE_BYTES      24u
#define RETRY_AFTER_S_MAX 3600

static bool is_msgpack(struct span body, const char *content_type);
static bool read_msgpack(struct span body, struct span *value, char reason[REPLY_REASON_BYTES]);
static bool read_json(struct span body, struct arena *arena, struct span *value,
                      char reason[REPLY_REASON_BYTES]);
static bool sample_at(struct span body, size_t offset, char sample[SAMPLE_BYTES + 1]);
static bool sample_behind(struct span body, size_t offset, char sample[SAMPLE_BYTES + 1]);

bool reply_read(struct span body, const char *content_type, struct arena *arena, struct span *value,
                char reason[REPLY_REASON_BYTES])
{
    *value = SPAN_EMPTY;
    if (body.count == 0) {
        snprintf(reason, REPLY_REASON_BYTES,
                 "reply is empty: a module with nothing to say answers 204");
        return false;
    }
    return is_msgpack(body, content_type) ? read_msgpack(body, value, reason)
                                          : read_json(body, arena, value, reason);
}

/* MessagePack maps begin with 0x80..0x8f, 0xde or 0xdf, none of which can begin JSON or UTF-8 text.
 */
static bool is_msgpack(struct span body, const char *content_type)
{
    if (content_type != NULL && strcasestr(content_type, "msgpack") != NULL) {
        return true;
    }
    if (content_type != NULL && strcasestr(content_type, "json") != NULL) {
        return false;
    }
    uint8_t first = body.bytes[0];
    return (first & 0xf0u) == 0x80u || first == 0xdeu || first == 0xdfu;
}

static bool read_msgpack(struct span body, struct span *value, char reason[REPLY_REASON_BYTES])
{
    size_t offset = 0;
    const char *problem = NULL;
    if (wire_validate(body, LIMIT_DEPTH, &offset, &problem) == RESULT_OK) {
        *value = body;
        return true;
    }
    snprintf(reason, REPLY_REASON_BYTES, "reply is not MessagePack: %s at byte %zu",
             problem != NULL ? problem : "malformed", offset);
    return false;
}

static bool read_json(struct span body, struct arena *arena, struct span *value,
                      char reason[REPLY_REASON_BYTES])
{
    struct json_error error = {0};
    if (json_to_wire(body, LIMIT_DEPTH, arena, value, &error) == RESULT_OK) {
        return true;
    }
    if (arena->overflowed) {
        snprintf(reason, REPLY_REASON_BYTES, "reply needs more memory than one reply may take");
        return false;
    }
    const char *problem = error.reason != NULL ? error.reason : "malformed";
    int count = snprintf(reason, REPLY_REASON_BYTES, "reply is not JSON: %s at ", problem);
    size_t room = REPLY_REASON_BYTES - (size_t)count;
    /* Text that is no UTF-8 makes no sample: its place says more. */
    if (strstr(problem, "UTF-8") != NULL) {
        snprintf(reason + count, room, "byte %zu", error.offset);
        return false;
    }
    char sample[SAMPLE_BYTES + 1];
    bool is_near = sample_at(body, error.offset, sample);
    bool is_sampled = is_near || sample_behind(body, error.offset, sample);
    snprintf(reason + count, room, "line %u column %u%s%s%s", error.line, error.column,
             !is_sampled ? ""
             : is_near   ? ", near \""
                         : ", behind \"",
             is_sampled ? sample : "", is_sampled ? "\"" : "");
    return false;
}

static bool is_line_end(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

/* Bytes as printable ASCII; false when there are none. */
static bool sample_between(struct span body, size_t begin, size_t end,
                           char sample[SAMPLE_BYTES + 1])
{
    for (size_t index = begin; index < end; index++) {
        uint8_t byte = body.bytes[index];
        sample[index - begin] =
            byte < 0x20 || byte > 0x7e ? '?' : (char)(byte == '"' ? '\'' : byte);
    }
    sample[end - begin] = '\0';
    return end > begin;
}

/* From `offset` on, to the end of the line. */
static bool sample_at(struct span body, size_t offset, char sample[SAMPLE_BYTES + 1])
{
    size_t end = offset;
    while (end < body.count && end - offset < SAMPLE_BYTES && !is_line_end(body.bytes[end])) {
        end++;
    }
    return sample_between(body, offset, end, sample);
}

/* What stands before `offset` in its line: where a reply is cut off, that tells more. */
static bool sample_behind(struct span body, size_t offset, char sample[SAMPLE_BYTES + 1])
{
    size_t begin = offset;
    while (begin > 0 && offset - begin < SAMPLE_BYTES && !is_line_end(body.bytes[begin - 1])) {
        begin--;
    }
    return sample_between(body, begin, offset, sample);
}

int64_t reply_retry_after_ms(const char *header, int64_t unix_s)
{
    if (header == NULL) {
        return -1;
    }
    struct span text = span_trim(span_text(header));
    if (text.count == 0) {
        return -1;
    }
    int64_t seconds = 0;
    size_t index = 0;
    for (; index < text.count && text.bytes[index] >= '0' && text.bytes[index] <= '9'; index++) {
        seconds = seconds * 10 + (text.bytes[index] - '0');
        seconds = seconds > RETRY_AFTER_S_MAX ? RETRY_AFTER_S_MAX : seconds;
    }
    if (index < text.count) {
        time_t date = curl_getdate(header, NULL);
        if (date == (time_t)-1) {
            return -1;
        }
        seconds = (int64_t)date - unix_s;
    }
    seconds = seconds < 0 ? 0 : seconds;
    return 1000 * (seconds > RETRY_AFTER_S_MAX ? RETRY_AFTER_S_MAX : seconds);
}
