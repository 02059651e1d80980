/*
 * refusal.c: builds and reads error replies.
 */
#include "transport/guard/refusal.h"

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define REFUSAL_BYTES 256u /* a first guess for the writer */

struct span transport_refusal(struct arena *arena, enum proto_error code, const char *message)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, REFUSAL_BYTES);
    wire_write_map(&writer, 3);
    wire_pair_int(&writer, "v", 1);
    wire_pair_bool(&writer, "ok", false);
    wire_write_text(&writer, "error");
    wire_write_map(&writer, 2);
    wire_pair_text(&writer, "code", proto_error_name(code));
    wire_pair_text(&writer, "message", message);
    return wire_writer_span(&writer);
}

enum proto_error transport_error_of_reply(struct span reply)
{
    if (wire_bool_or(wire_find_text(reply, "ok"), false)) {
        return PROTO_ERROR_NONE;
    }
    struct span code = wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
    for (enum proto_error error = PROTO_ERROR_NONE + 1; error < PROTO_ERROR_COUNT; error++) {
        if (span_is(code, proto_error_name(error))) {
            return error;
        }
    }
    return PROTO_ERROR_NONE;
}
