/* encoding.h: audit messages as AMQP 1.0 messages. Pure functions. */
#ifndef AUDIT_AMQP_ENCODING_H
#define AUDIT_AMQP_ENCODING_H

#include <proton/message.h>

#include "audit/bus.h"

/* Into `buffer`, which grows by realloc; false: no memory. `message` is scratch space. */
bool amqp_encode(pn_message_t *message, const struct audit_bus_message *audit, pn_rwbytes_t *buffer,
                 size_t *count);
/*
 * Id and body as spans that live until the message is decoded into again; a body of another kind
 * than data or text is empty. False: it is no AMQP message at all.
 */
bool amqp_decode(pn_message_t *message, struct span bytes, struct span *id, struct span *body);

#endif
