/*
 * route.c: the table of routes, and the request value that each of them makes.
 *
 * A path is compared part by part after percent-decoding each part, so an encoded slash stays
 * inside its part.
 */
#include "transport/admin/route.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "transport/admin/address.h"
#include "transport/admin/hook.h"
#include "transport/guard/frame.h"

#define PARTS_MAX     6u
#define NUMBER_DIGITS 15u
#define REQUEST_BYTES 512u /* a first guess for the writer */
#define FIELDS_MAX    64u  /* that an address may hold */

/* What a request's body is for its operation. */
enum body_use {
    BODY_UNUSED,
    BODY_FIELDS,  /* a map whose fields are the operation's */
    BODY_PAYLOAD, /* the field `payload` */
    BODY_FILE,    /* with ?name= the file itself, else a map with `name` and `content` */
    BODY_WHOLE,   /* a whole request, `op` and all */
    BODY_HOOK,    /* the field `request`; query and headers are `context.webhook` */
};

struct row {
    const char *method;
    const char *path; /* "*" is one part: the executionId; "**" at the end is all that follows */
    enum route_target target;
    enum proto_operation operation;
    enum body_use use;
};

static const struct row rows[] = {
    {"GET", "/", ROUTE_INSPECTOR, 0, 0},
    {"GET", "/healthz", ROUTE_HEALTH, 0, 0},
    {"GET", "/readyz", ROUTE_READY, 0, 0},
    {"GET", "/metrics", ROUTE_METRICS, 0, 0},
    {"GET", "/v1/events", ROUTE_EVENTS, 0, 0},
    {"POST", "/v1/executions", ROUTE_OPERATION, PROTO_OP_START, BODY_FIELDS},
    {"GET", "/v1/executions", ROUTE_OPERATION, PROTO_OP_LIST, BODY_UNUSED},
    {"POST", "/v1/executions/import", ROUTE_OPERATION, PROTO_OP_IMPORT, BODY_FIELDS},
    {"GET", "/v1/executions/*", ROUTE_OPERATION, PROTO_OP_GET, BODY_UNUSED},
    {"GET", "/v1/executions/*/steps", ROUTE_OPERATION, PROTO_OP_STEPS, BODY_UNUSED},
    {"DELETE", "/v1/executions/*", ROUTE_OPERATION, PROTO_OP_DELETE, BODY_FIELDS},
    {"POST", "/v1/executions/*/callback", ROUTE_OPERATION, PROTO_OP_CALLBACK, BODY_FIELDS},
    {"POST", "/v1/executions/*/suspend", ROUTE_OPERATION, PROTO_OP_SUSPEND, BODY_FIELDS},
    {"POST", "/v1/executions/*/resume", ROUTE_OPERATION, PROTO_OP_RESUME, BODY_FIELDS},
    {"POST", "/v1/executions/*/abort", ROUTE_OPERATION, PROTO_OP_ABORT, BODY_FIELDS},
    {"POST", "/v1/executions/*/restart", ROUTE_OPERATION, PROTO_OP_RESTART, BODY_FIELDS},
    {"POST", "/v1/executions/*/retry", ROUTE_OPERATION, PROTO_OP_RETRY, BODY_FIELDS},
    {"POST", "/v1/executions/*/migrate", ROUTE_OPERATION, PROTO_OP_MIGRATE, BODY_FIELDS},
    {"POST", "/api/workflows/*/resume", ROUTE_OPERATION, PROTO_OP_CALLBACK, BODY_PAYLOAD},
    {"GET", "/v1/tasks", ROUTE_OPERATION, PROTO_OP_TASKS, BODY_UNUSED},
    {"GET", "/v1/definitions", ROUTE_OPERATION, PROTO_OP_DEFINITIONS, BODY_UNUSED},
    {"POST", "/v1/definitions", ROUTE_OPERATION, PROTO_OP_DEPLOY, BODY_FILE},
    {"POST", "/v1/messages", ROUTE_OPERATION, PROTO_OP_MESSAGE, BODY_FIELDS},
    {"POST", "/v1/signals", ROUTE_OPERATION, PROTO_OP_SIGNAL, BODY_FIELDS},
    {"GET", "/v1/stats", ROUTE_OPERATION, PROTO_OP_STATS, BODY_UNUSED},
    {"GET", "/v1/ping", ROUTE_OPERATION, PROTO_OP_PING, BODY_UNUSED},
    {"POST", "/v1/ops", ROUTE_OPERATION, PROTO_OP_NONE, BODY_WHOLE},
    {"POST", "/hooks/**", ROUTE_OPERATION, PROTO_OP_HOOK, BODY_HOOK},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const struct row *find_row(const char *method, const char *uri, bool *path_exists,
                                  struct span *id);
static bool path_matches(const char *pattern, const char *uri, struct span *id);
static struct span path_part(const char **at);
static void resolve_whole(const struct route_request *request, struct arena *arena,
                          struct route *out);
static void resolve_fields(const struct row *row, const struct route_request *request,
                           struct span id, struct arena *arena, struct route *out);
static bool says_one_thing(struct span address, struct span body, struct route *out);
static struct span fields_of_address(const struct row *row, const char *uri, struct span id,
                                     struct arena *arena);
static uint32_t write_query(struct wire_writer *writer, const char *uri, struct arena *arena);
static void write_parameter(struct wire_writer *writer, struct span name, struct span value);
static void write_list(struct wire_writer *writer, struct span text);
static struct span wrap(struct arena *arena, const char *key, struct span value);
static struct span file_fields(struct arena *arena, struct span content);
static bool has_parameter(const char *uri, const char *name);
static void refuse(struct route *out, enum proto_error error, const char *why);
static void refuse_key(struct route *out, const char *why, struct span key);

enum route_target route_find(const char *method, const char *uri)
{
    bool path_exists = false;
    struct span id = SPAN_EMPTY;
    const struct row *row = find_row(method, uri, &path_exists, &id);
    if (row != NULL) {
        return row->target;
    }
    return path_exists ? ROUTE_UNKNOWN_METHOD : ROUTE_UNKNOWN_PATH;
}

void route_resolve(const struct route_request *request, struct arena *arena, struct route *out)
{
    bool path_exists = false;
    struct span id = SPAN_EMPTY;
    const struct row *row = find_row(request->method, request->uri, &path_exists, &id);
    *out = (struct route){.spelling = PROTO_JSON};
    if (row == NULL) {
        out->target = path_exists ? ROUTE_UNKNOWN_METHOD : ROUTE_UNKNOWN_PATH;
        return;
    }
    out->target = row->target;
    out->operation = row->operation;
    if (row->target != ROUTE_OPERATION) {
        return;
    }
    if (row->use == BODY_WHOLE) {
        resolve_whole(request, arena, out);
    } else if (row->use == BODY_HOOK) {
        hook_resolve(request, id, arena, out);
    } else {
        resolve_fields(row, request, id, arena, out);
    }
    if (arena->overflowed) {
        refuse(out, PROTO_ERROR_PayloadTooLarge,
               "the request needs more memory than one request may take");
    }
}

/* HEAD is GET without the body, which the HTTP server leaves out by itself. */
static const struct row *find_row(const char *method, const char *uri, bool *path_exists,
                                  struct span *id)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (size_t index = 0; index < ROW_COUNT; index++) {
        if (path_matches(rows[index].path, uri, id)) {
            *path_exists = true;
            if (strcmp(rows[index].method, wanted) == 0) {
                return &rows[index];
            }
        }
    }
    return NULL;
}

/* What "**" stands for: all up to the query, slashes too. */
static struct span path_rest(const char *at)
{
    at += *at == '/' ? 1 : 0;
    return span_of(at, strcspn(at, "?#"));
}

static bool path_matches(const char *pattern, const char *uri, struct span *id)
{
    if (*uri != '/') {
        return false;
    }
    for (unsigned parts = 0; parts < PARTS_MAX; parts++) {
        struct span expected = path_part(&pattern);
        if (span_is(expected, "**")) {
            *id = path_rest(uri);
            return id->count > 0;
        }
        struct span found = path_part(&uri);
        if (expected.count == 0 || found.count == 0) {
            return expected.count == found.count && (*uri == '\0' || *uri == '?');
        }
        if (span_is(expected, "*")) {
            *id = found;
        } else if (!span_equal(expected, found)) {
            return false;
        }
    }
    return false;
}

/* The next part between slashes, without them; empty at the end of the path. One slash at the end
 * is no part. */
static struct span path_part(const char **at)
{
    const char *start = *at + (**at == '/' ? 1 : 0);
    size_t count = strcspn(start, "/?#");
    *at = start + count;
    return span_of(start, count);
}

static void resolve_whole(const struct route_request *request, struct arena *arena,
                          struct route *out)
{
    struct transport_frame frame;
    char why[TRANSPORT_WHY_BYTES];
    enum proto_error error = transport_frame_read(request->body, arena, &frame, why);
    out->spelling = frame.spelling;
    out->operation = frame.operation;
    out->body = frame.body;
    if (error != PROTO_ERROR_NONE) {
        refuse(out, error, why);
    }
}

/* Or as MessagePack: what begins as another text is a file. */
static bool begins_as_json(struct span body)
{
    body = span_trim(body);
    return body.count > 0 && (body.bytes[0] == '{' || body.bytes[0] >= 0x80);
}

/* Address and body are one request. */
static void resolve_fields(const struct row *row, const struct route_request *request,
                           struct span id, struct arena *arena, struct route *out)
{
    struct span fields = SPAN_EMPTY;
    bool is_file = row->use == BODY_FILE && has_parameter(request->uri, "name");
    if (is_file) {
        fields = file_fields(arena, request->body);
    } else if (row->use == BODY_FILE && !begins_as_json(request->body)) {
        refuse(out, PROTO_ERROR_InvalidRequest,
               "a file comes with its name, ?name=order.bpmn; else the body is a JSON object of "
               "`name` and `content`");
        return;
    } else if (row->use != BODY_UNUSED && request->body.count > 0) {
        char why[TRANSPORT_WHY_BYTES];
        enum proto_error error =
            transport_value_read(request->body, arena, &out->spelling, &fields, why);
        if (error != PROTO_ERROR_NONE) {
            refuse(out, error, why);
            return;
        }
    }
    struct span version = row->use == BODY_FIELDS ? wire_find_text(fields, "v") : SPAN_EMPTY;
    if (version.count > 0 && wire_int_or(version, 0) != 1) {
        refuse(out, PROTO_ERROR_InvalidRequest, "`v` must be 1");
        return;
    }
    if (row->use == BODY_PAYLOAD) {
        static const uint8_t empty_map[] = {0x80};
        fields = wrap(arena, "payload", fields.count > 0 ? fields : span_of(empty_map, 1));
    }
    struct span address = fields_of_address(row, request->uri, id, arena);
    if (address.count == 0) {
        refuse(out, PROTO_ERROR_InvalidRequest, "the address holds text that is not UTF-8");
    } else if (!says_one_thing(address, fields, out)) {
        return;
    } else {
        out->body = wire_merge(arena, fields, address);
    }
}

/* What the caller said twice, and not the same, he may have meant either way. */
static bool says_one_thing(struct span address, struct span body, struct route *out)
{
    struct wire_map_walk walk = wire_map_begin(address);
    struct span key;
    struct span value;
    for (uint32_t count = 1; wire_map_next(&walk, &key, &value); count++) {
        struct wire_map_walk rest = walk;
        struct span other_key;
        struct span other;
        if (count > FIELDS_MAX) {
            refuse(out, PROTO_ERROR_InvalidRequest, "the address holds too many fields");
            return false;
        }
        while (wire_map_next(&rest, &other_key, &other)) {
            if (span_equal(key, other_key) && !span_equal(value, other)) {
                refuse_key(out, "the address says two things of", key);
                return false;
            }
        }
        other = wire_find(body, key);
        if (other.count > 0 && !wire_is(other, WIRE_NIL) && !span_equal(value, other) &&
            !span_is(key, "v")) {
            refuse_key(out, "address and body say different things of", key);
            return false;
        }
    }
    return true;
}

static struct span fields_of_address(const struct row *row, const char *uri, struct span id,
                                     struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, REQUEST_BYTES);
    size_t mark = wire_open_map(&writer);
    uint32_t count = write_query(&writer, uri, arena);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", proto_operation_name(row->operation));
    count += 2;
    if (id.count > 0) {
        wire_pair_string(&writer, "executionId", address_decode(arena, id, false));
        count++;
    }
    wire_close_map(&writer, mark, count);
    struct span fields = wire_writer_span(&writer);
    size_t offset = 0;
    const char *reason = NULL;
    return wire_validate(fields, LIMIT_DEPTH, &offset, &reason) == RESULT_OK ? fields : SPAN_EMPTY;
}

static uint32_t write_query(struct wire_writer *writer, const char *uri, struct arena *arena)
{
    uint32_t count = 0;
    const char *at = address_query(uri);
    struct span name;
    struct span value;
    while (address_query_next(&at, arena, &name, &value)) {
        write_parameter(writer, name, value);
        count++;
    }
    return count;
}

/* A parameter is text, but for the few that the operations read as something else. */
static void write_parameter(struct wire_writer *writer, struct span name, struct span value)
{
    wire_write_string(writer, name);
    bool is_number = span_is(name, "limit") || span_is(name, "version") || span_is(name, "from");
    if (is_number && value.count > 0 && value.count <= NUMBER_DIGITS) {
        int64_t number = 0;
        size_t index = 0;
        for (; index < value.count && value.bytes[index] >= '0' && value.bytes[index] <= '9';
             index++) {
            number = number * 10 + (value.bytes[index] - '0');
        }
        if (index == value.count) {
            wire_write_int(writer, number);
            return;
        }
    }
    if (span_is(name, "include")) {
        write_list(writer, value);
        return;
    }
    wire_write_string(writer, value);
}

/* "payloads,map" */
static void write_list(struct wire_writer *writer, struct span text)
{
    size_t mark = wire_open_array(writer);
    uint32_t count = 0;
    for (size_t start = 0; start <= text.count;) {
        size_t end = start;
        while (end < text.count && text.bytes[end] != ',') {
            end++;
        }
        if (end > start) {
            wire_write_string(writer, span_of(text.bytes + start, end - start));
            count++;
        }
        start = end + 1;
    }
    wire_close_array(writer, mark, count);
}

static struct span wrap(struct arena *arena, const char *key, struct span value)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, value.count + 32);
    wire_write_map(&writer, 1);
    wire_pair_value(&writer, key, value);
    return wire_writer_span(&writer);
}

/* A file in another encoding than UTF-8 (BPMN may be UTF-16) travels as binary. */
static struct span file_fields(struct arena *arena, struct span content)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, content.count + 32);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "content");
    if (text_utf8_valid_count(content) == content.count) {
        wire_write_string(&writer, content);
    } else {
        wire_write_binary(&writer, content);
    }
    return wire_writer_span(&writer);
}

static bool has_parameter(const char *uri, const char *name)
{
    const char *at = strchr(uri, '?');
    size_t name_bytes = strlen(name);
    while (at != NULL) {
        at++;
        if (strncmp(at, name, name_bytes) == 0 && at[name_bytes] == '=') {
            return true;
        }
        at = strchr(at, '&');
    }
    return false;
}

static void refuse(struct route *out, enum proto_error error, const char *why)
{
    out->target = ROUTE_REFUSED;
    out->error = error;
    snprintf(out->why, sizeof out->why, "%s", why);
}

static void refuse_key(struct route *out, const char *why, struct span key)
{
    char text[TRANSPORT_WHY_BYTES];
    snprintf(text, sizeof text, "%s `%.*s`", why, (int)(key.count < 40 ? key.count : 0),
             (const char *)key.bytes);
    refuse(out, PROTO_ERROR_InvalidRequest, text);
}
