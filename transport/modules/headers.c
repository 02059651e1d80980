/*
 * headers.c: RFC 9110 §5: names are tokens, values hold no control character but tab. Whatever
 * breaks that rule is refused, so no value from a definition or an execution can start a header or
 * a request of its own.
 */
#include "transport/modules/headers.h"

#include <stdio.h>
#include <strings.h>

#include "proto/wire/reader.h"

static const char *const framing[] = {
    "Content-Length", "Transfer-Encoding", "Connection", "Expect",  "Upgrade",
    "Keep-Alive",     "Proxy-Connection",  "TE",         "Trailer", "HTTP2-Settings"};

struct builder {
    struct arena *arena;
    struct curl_slist *first;
    struct curl_slist *last;
    bool has_content_type; /* the module's own headers name one */
    bool has_accept;
};

static void append(struct builder *builder, struct span name, struct span value);
static enum result append_own(struct builder *builder, struct span headers,
                              char reason[HEADERS_REASON_BYTES]);
static bool name_is_valid(struct span name);
static bool value_is_valid(struct span value);
static bool name_is(struct span name, const char *other);
static bool name_frames(struct span name);

enum result headers_build(const struct proto_call *call, struct arena *arena,
                          struct curl_slist **list, char reason[HEADERS_REASON_BYTES])
{
    struct builder builder = {.arena = arena};
    *list = NULL;
    if (!value_is_valid(call->idempotency_key) || !value_is_valid(call->traceparent)) {
        snprintf(reason, HEADERS_REASON_BYTES,
                 "Idempotency-Key or traceparent holds a control character");
        return RESULT_INVALID;
    }
    enum result result = append_own(&builder, call->headers, reason);
    if (result != RESULT_OK) {
        return result;
    }
    const char *media = call->spelling == PROTO_JSON ? "application/json" : "application/msgpack";
    const char *accept = call->spelling == PROTO_JSON
                             ? "application/json, application/msgpack;q=0.9"
                             : "application/msgpack, application/json;q=0.9";
    if (!builder.has_content_type) {
        append(&builder, span_text("Content-Type"), span_text(media));
    }
    if (!builder.has_accept) {
        append(&builder, span_text("Accept"), span_text(accept));
    }
    if (call->idempotency_key.count > 0) {
        append(&builder, span_text("Idempotency-Key"), call->idempotency_key);
    }
    if (call->traceparent.count > 0) {
        append(&builder, span_text("traceparent"), call->traceparent);
    }
    static char no_expect[] = "Expect:";
    struct curl_slist *expect = arena_zero(arena, sizeof *expect);
    if (expect == NULL || arena->overflowed) {
        snprintf(reason, HEADERS_REASON_BYTES, "headers too large");
        return RESULT_LIMIT;
    }
    expect->data = no_expect; /* libcurl's way to say: do not send this one */
    expect->next = builder.first;
    *list = expect;
    return RESULT_OK;
}

static enum result append_own(struct builder *builder, struct span headers,
                              char reason[HEADERS_REASON_BYTES])
{
    struct span name;
    struct span value;
    struct wire_map_walk walk = wire_map_begin(headers);
    while (wire_map_next(&walk, &name, &value)) {
        struct span text = wire_string_or(value, "");
        if (!name_is_valid(name)) {
            snprintf(reason, HEADERS_REASON_BYTES,
                     "a header name of the module is not one that HTTP allows");
            return RESULT_INVALID;
        }
        if (name_frames(name)) {
            snprintf(reason, HEADERS_REASON_BYTES, "header %.*s cannot be set by a module",
                     SPAN_ARG(name));
            return RESULT_INVALID;
        }
        if (!wire_is(value, WIRE_STRING) || !value_is_valid(text)) {
            snprintf(reason, HEADERS_REASON_BYTES,
                     "the value of header %.*s is not text or holds a control character",
                     SPAN_ARG(name));
            return RESULT_INVALID;
        }
        builder->has_content_type |= name_is(name, "Content-Type");
        builder->has_accept |= name_is(name, "Accept");
        if (!name_is(name, "Idempotency-Key") && !name_is(name, "traceparent")) {
            append(builder, name, text);
        }
    }
    return RESULT_OK;
}

/* "Name: value", or "Name;" which is how libcurl sends an empty one. A full arena has latched
 * `overflowed`. */
static void append(struct builder *builder, struct span name, struct span value)
{
    struct curl_slist *node = arena_zero(builder->arena, sizeof *node);
    struct span line =
        span_trim(value).count == 0
            ? arena_format(builder->arena, "%.*s;", SPAN_ARG(name))
            : arena_format(builder->arena, "%.*s: %.*s", SPAN_ARG(name), SPAN_ARG(value));
    if (node == NULL || line.count == 0) {
        return;
    }
    node->data =
        (char *)(uintptr_t)line.bytes; /* libcurl's list is not const, but it only reads it */
    if (builder->last == NULL) {
        builder->first = node;
    } else {
        builder->last->next = node;
    }
    builder->last = node;
}

static bool name_is_valid(struct span name)
{
    for (size_t index = 0; index < name.count; index++) {
        uint8_t byte = name.bytes[index];
        bool letter_or_digit = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                               (byte >= 'a' && byte <= 'z');
        if (!letter_or_digit && (byte == 0 || strchr("!#$%&'*+-.^_`|~", byte) == NULL)) {
            return false;
        }
    }
    return name.count > 0 && name.count <= 128;
}

static bool value_is_valid(struct span value)
{
    for (size_t index = 0; index < value.count; index++) {
        uint8_t byte = value.bytes[index];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool name_is(struct span name, const char *other)
{
    return name.count == strlen(other) &&
           strncasecmp((const char *)name.bytes, other, name.count) == 0;
}

static bool name_frames(struct span name)
{
    for (size_t index = 0; index < sizeof framing / sizeof framing[0]; index++) {
        if (name_is(name, framing[index])) {
            return true;
        }
    }
    return false;
}
