/* encoding.c: see encoding.h. */
#include "audit/amqp/encoding.h"

#include <proton/codec.h>

#define REASON_KEY "reason"

static pn_bytes_t bytes_of(struct span span)
{
    return pn_bytes(span.count, (const char *)span.bytes);
}

static struct span span_of_bytes(pn_bytes_t bytes)
{
    return span_of(bytes.start, bytes.size);
}

bool amqp_encode(pn_message_t *message, const struct audit_bus_message *audit, pn_rwbytes_t *buffer,
                 size_t *count)
{
    pn_message_clear(message);
    pn_message_set_durable(message, true);
    pn_message_set_content_type(message, AUDIT_CONTENT_TYPE);
    pn_message_set_inferred(message, true); /* a data section, no AMQP value */
    if (audit->id.count > 0) {
        pn_data_put_string(pn_message_id(message), bytes_of(audit->id));
    }
    if (audit->reason.count > 0) {
        pn_data_t *properties = pn_message_properties(message);
        pn_data_put_map(properties);
        pn_data_enter(properties);
        pn_data_put_string(properties, bytes_of(span_text(REASON_KEY)));
        pn_data_put_string(properties, bytes_of(audit->reason));
        pn_data_exit(properties);
    }
    pn_data_put_binary(pn_message_body(message), bytes_of(audit->body));
    ssize_t encoded = pn_message_encode2(message, buffer);
    *count = encoded > 0 ? (size_t)encoded : 0;
    return encoded > 0;
}

static struct span text_of(pn_data_t *data)
{
    pn_data_rewind(data);
    if (!pn_data_next(data)) {
        return SPAN_EMPTY;
    }
    pn_type_t type = pn_data_type(data);
    return type == PN_BINARY   ? span_of_bytes(pn_data_get_binary(data))
           : type == PN_STRING ? span_of_bytes(pn_data_get_string(data))
                               : SPAN_EMPTY;
}

bool amqp_decode(pn_message_t *message, struct span bytes, struct span *id, struct span *body)
{
    pn_message_clear(message);
    if (pn_message_decode(message, (const char *)bytes.bytes, bytes.count) != 0) {
        return false;
    }
    *id = text_of(pn_message_id(message));
    *body = text_of(pn_message_body(message));
    return true;
}
