/*
 * frame.c: reads and spells frames.
 */
#include "transport/guard/frame.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define NAME_SHOWN_BYTES 40 /* of an unknown operation, in the refusal */

static enum proto_error read_json(struct span bytes, struct arena *arena, struct span *value,
                                  char why[TRANSPORT_WHY_BYTES]);
static enum proto_error read_msgpack(struct span bytes, struct span *value,
                                     char why[TRANSPORT_WHY_BYTES]);
static enum proto_error check_fields(struct transport_frame *frame, char why[TRANSPORT_WHY_BYTES]);
static enum proto_error check_operation(struct transport_frame *frame, struct span operation,
                                        char why[TRANSPORT_WHY_BYTES]);

enum proto_spelling transport_spelling_of(struct span bytes)
{
    size_t index = 0;
    while (index < bytes.count && (bytes.bytes[index] == ' ' ||
                                   (bytes.bytes[index] >= '\t' && bytes.bytes[index] <= '\r'))) {
        index++;
    }
    return index < bytes.count && bytes.bytes[index] == '{' ? PROTO_JSON : PROTO_MSGPACK;
}

enum proto_error transport_value_read(struct span bytes, struct arena *arena,
                                      enum proto_spelling *spelling, struct span *value,
                                      char why[TRANSPORT_WHY_BYTES])
{
    *spelling = transport_spelling_of(bytes);
    *value = SPAN_EMPTY;
    if (bytes.count == 0) {
        snprintf(why, TRANSPORT_WHY_BYTES, "empty request at byte 0");
        return PROTO_ERROR_InvalidRequest;
    }
    enum proto_error error = *spelling == PROTO_JSON ? read_json(bytes, arena, value, why)
                                                     : read_msgpack(bytes, value, why);
    if (error == PROTO_ERROR_NONE && !wire_is(*value, WIRE_MAP)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "the request is not a map at byte 0");
        return PROTO_ERROR_InvalidRequest;
    }
    return error;
}

static enum proto_error read_json(struct span bytes, struct arena *arena, struct span *value,
                                  char why[TRANSPORT_WHY_BYTES])
{
    struct json_error error = {0};
    if (json_to_wire(bytes, LIMIT_DEPTH, arena, value, &error) == RESULT_OK) {
        return PROTO_ERROR_NONE;
    }
    if (arena->overflowed) {
        snprintf(why, TRANSPORT_WHY_BYTES,
                 "the request needs more memory than one request may take");
        return PROTO_ERROR_PayloadTooLarge;
    }
    snprintf(why, TRANSPORT_WHY_BYTES, "not JSON: %s at byte %zu (line %u column %u)",
             error.reason != NULL ? error.reason : "malformed", error.offset, error.line,
             error.column);
    return PROTO_ERROR_InvalidRequest;
}

static enum proto_error read_msgpack(struct span bytes, struct span *value,
                                     char why[TRANSPORT_WHY_BYTES])
{
    size_t offset = 0;
    const char *reason = NULL;
    if (wire_validate(bytes, LIMIT_DEPTH, &offset, &reason) == RESULT_OK) {
        *value = bytes;
        return PROTO_ERROR_NONE;
    }
    /* Whoever sent text meant JSON, and is helped by no word on MessagePack alone. */
    bool is_text = bytes.count > 0 && bytes.bytes[0] > ' ' && bytes.bytes[0] < 0x7f;
    snprintf(why, TRANSPORT_WHY_BYTES, "%s: %s at byte %zu",
             is_text ? "neither a JSON object, which begins with {, nor MessagePack"
                     : "not MessagePack",
             reason != NULL ? reason : "malformed", offset);
    return PROTO_ERROR_InvalidRequest;
}

enum proto_error transport_frame_read(struct span bytes, struct arena *arena,
                                      struct transport_frame *out, char why[TRANSPORT_WHY_BYTES])
{
    *out = (struct transport_frame){0};
    enum proto_error error = transport_value_read(bytes, arena, &out->spelling, &out->body, why);
    return error == PROTO_ERROR_NONE ? check_fields(out, why) : error;
}

/* One walk for the three fields that this layer reads; of doubled keys the last one wins, as
 * everywhere. */
static enum proto_error check_fields(struct transport_frame *frame, char why[TRANSPORT_WHY_BYTES])
{
    struct span version = SPAN_EMPTY;
    struct span operation = SPAN_EMPTY;
    struct span key;
    struct span value;
    struct wire_map_walk walk = wire_map_begin(frame->body);
    while (wire_map_next(&walk, &key, &value)) {
        if (span_is(key, "op")) {
            operation = value;
        } else if (span_is(key, "v")) {
            version = value;
        } else if (span_is(key, "token")) {
            frame->token = wire_string_or(value, "");
        }
    }
    if (version.count > 0 && wire_int_or(version, 0) != 1) {
        snprintf(why, TRANSPORT_WHY_BYTES, "`v` must be 1 at byte %zu",
                 (size_t)(version.bytes - frame->body.bytes));
        return PROTO_ERROR_InvalidRequest;
    }
    return check_operation(frame, operation, why);
}

static enum proto_error check_operation(struct transport_frame *frame, struct span operation,
                                        char why[TRANSPORT_WHY_BYTES])
{
    if (operation.count == 0) {
        snprintf(why, TRANSPORT_WHY_BYTES, "`op` is missing at byte 0");
        return PROTO_ERROR_InvalidRequest;
    }
    size_t offset = (size_t)(operation.bytes - frame->body.bytes);
    if (!wire_is(operation, WIRE_STRING)) {
        snprintf(why, TRANSPORT_WHY_BYTES, "`op` must be text at byte %zu", offset);
        return PROTO_ERROR_InvalidRequest;
    }
    struct span name = wire_string_or(operation, "");
    frame->operation = proto_operation_parse(name);
    if (frame->operation == PROTO_OP_NONE) {
        name.count = name.count > NAME_SHOWN_BYTES ? NAME_SHOWN_BYTES : name.count;
        name.count = text_utf8_valid_count(name); /* the cut may have split a character */
        snprintf(why, TRANSPORT_WHY_BYTES, "unknown `op` \"%.*s\" at byte %zu", SPAN_ARG(name),
                 offset);
        return PROTO_ERROR_InvalidRequest;
    }
    return PROTO_ERROR_NONE;
}

/* Behind the string that begins at the quote bytes[index]; `count` when it does not end. */
static size_t string_end(struct span bytes, size_t index)
{
    for (size_t from = index + 1; from < bytes.count;) {
        const uint8_t *quote = memchr(bytes.bytes + from, '"', bytes.count - from);
        if (quote == NULL) {
            break;
        }
        size_t at = (size_t)(quote - bytes.bytes);
        size_t escapes = 0;
        while (at - escapes > from && bytes.bytes[at - escapes - 1] == '\\') {
            escapes++;
        }
        if (escapes % 2 == 0) {
            return at + 1;
        }
        from = at + 1;
    }
    return bytes.count;
}

struct span transport_frame_peek_token(struct span bytes)
{
    struct span token = SPAN_EMPTY;
    size_t depth = 0;
    bool key_is_next = false;
    bool is_token = false;
    for (size_t index = 0; index < bytes.count;) {
        uint8_t byte = bytes.bytes[index];
        if (byte == '"') {
            size_t end = string_end(bytes, index);
            bool whole = end - index >= 2 && bytes.bytes[end - 1] == '"';
            struct span text =
                whole ? span_of(bytes.bytes + index + 1, end - index - 2) : SPAN_EMPTY;
            token = depth == 1 && !key_is_next && is_token ? text : token;
            is_token = depth == 1 && key_is_next && span_is(text, "token");
            key_is_next = key_is_next && depth != 1;
            index = end;
            continue;
        }
        depth += byte == '{' || byte == '[' ? 1 : 0;
        depth -= (byte == '}' || byte == ']') && depth > 0 ? 1 : 0;
        key_is_next = key_is_next || (depth == 1 && (byte == '{' || byte == ','));
        index++;
    }
    return token;
}

struct span transport_value_spell(struct span value, enum proto_spelling spelling,
                                  struct arena *arena)
{
    if (spelling == PROTO_MSGPACK) {
        return value;
    }
    struct span text = SPAN_EMPTY;
    if (json_from_wire(value, JSON_COMPACT, arena, &text) != RESULT_OK) {
        return SPAN_EMPTY;
    }
    return text;
}
