/*
 * hook.c: the body is the execution's `request`; how it came is `context.webhook`.
 */
#include "transport/admin/hook.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "transport/admin/address.h"
#include "transport/guard/frame.h"

const char *const hook_header_names[HOOK_HEADER_COUNT] = {
#define X(symbol, name) [HOOK_HEADER_##symbol] = name,
    HOOK_HEADERS(X)
#undef X
};

static void refuse(struct route *out, enum proto_error error, const char *why)
{
    out->target = ROUTE_REFUSED;
    out->error = error;
    (void)snprintf(out->why, sizeof out->why, "%s", why);
}

static const char *header(const struct route_request *request, enum hook_header which)
{
    return request->headers == NULL ? NULL : request->headers[which];
}

static void write_query(struct wire_writer *writer, const char *uri, struct arena *arena)
{
    uint32_t count = 0;
    const char *at = address_query(uri);
    struct span name;
    struct span value;
    wire_write_text(writer, "query");
    size_t mark = wire_open_map(writer);
    while (address_query_next(&at, arena, &name, &value)) {
        wire_write_string(writer, name);
        wire_write_string(writer, value);
        count++;
    }
    wire_close_map(writer, mark, count);
}

/* Names in lower case, as HTTP/2 has them. */
static void write_headers(struct wire_writer *writer, const struct route_request *request,
                          struct arena *arena)
{
    uint32_t count = 0;
    wire_write_text(writer, "headers");
    size_t mark = wire_open_map(writer);
    for (enum hook_header i = HOOK_HEADER_CONTENT_TYPE; i < HOOK_HEADER_COUNT; i++) {
        if (header(request, i) == NULL) {
            continue;
        }
        uint8_t *name = arena_alloc(arena, strlen(hook_header_names[i]));
        size_t bytes = 0;
        for (const char *at = hook_header_names[i]; name != NULL && *at != '\0'; at++) {
            name[bytes++] = (uint8_t)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        }
        wire_write_string(writer, span_of(name, bytes));
        wire_write_text(writer, header(request, i));
        count++;
    }
    wire_close_map(writer, mark, count);
}

/* RFC 7240 §4.1: the sender does not want to wait. */
static bool wants_no_wait(const struct route_request *request)
{
    const char *prefer = header(request, HOOK_HEADER_PREFER);
    return prefer != NULL && strstr(prefer, "respond-async") != NULL;
}

static struct span write_hook(const struct route_request *request, struct span path,
                              struct span body, struct arena *arena)
{
    static const uint8_t empty_map[] = {0x80};
    struct wire_writer writer;
    const char *key = header(request, HOOK_HEADER_IDEMPOTENCY_KEY);
    uint32_t pairs = 5;
    wire_writer_init(&writer, arena, body.count + 1024);
    size_t mark = wire_open_map(&writer);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", proto_operation_name(PROTO_OP_HOOK));
    wire_pair_string(&writer, "path", path);
    wire_pair_value(&writer, "request", body.count > 0 ? body : span_of(empty_map, 1));
    wire_write_text(&writer, "context");
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "webhook");
    wire_write_map(&writer, 3);
    wire_pair_string(&writer, "path", path);
    write_query(&writer, request->uri, arena);
    write_headers(&writer, request, arena);
    if (key != NULL) {
        wire_pair_text(&writer, "requestId", key);
        pairs++;
    }
    if (wants_no_wait(request)) {
        wire_pair_text(&writer, "wait", "accepted");
        pairs++;
    }
    wire_close_map(&writer, mark, pairs);
    return wire_writer_span(&writer);
}

void hook_resolve(const struct route_request *request, struct span path, struct arena *arena,
                  struct route *out)
{
    struct span body = SPAN_EMPTY;
    if (request->body.count > 0) {
        char why[TRANSPORT_WHY_BYTES];
        enum proto_error error =
            transport_value_read(request->body, arena, &out->spelling, &body, why);
        if (error != PROTO_ERROR_NONE) {
            refuse(out, error, why);
            return;
        }
    }
    out->body = write_hook(request, address_decode(arena, path, false), body, arena);
    size_t offset = 0;
    const char *reason = NULL;
    if (!arena->overflowed &&
        wire_validate(out->body, LIMIT_DEPTH + 2, &offset, &reason) != RESULT_OK) {
        refuse(out, PROTO_ERROR_InvalidRequest, "address or headers hold text that is not UTF-8");
    }
}
