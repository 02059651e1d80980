/*
 * amqp.h: the audit bus over AMQP 1.0 (Qpid Proton): RabbitMQ with its AMQP 1.0 plugin, Azure
 * Service Bus, and other brokers that speak it. Each side is one connection with a thread of its
 * own.
 *
 * Messages are durable, of content-type application/json, their body one data section. At RabbitMQ
 * the queue is declared, durable, when it is missing; elsewhere it must exist.
 */
#ifndef AUDIT_AMQP_AMQP_H
#define AUDIT_AMQP_AMQP_H

#include "audit/bus.h"

struct audit_amqp_options {
    const char *url;     /* audit/amqp/url.h; with a user SASL PLAIN, else ANONYMOUS */
    const char *queue;   /* a queue's name; or with a slash an address as the broker spells it */
    const char *ca_file; /* PEM, for amqps; NULL: the system's */
};

/*
 * Copy the options; the connection is made, and made again, in the background. RESULT_INVALID: the
 * URL, the queue or the CA file; RESULT_UNSUPPORTED: no TLS in this build; RESULT_LIMIT. `reason`
 * holds no secret.
 */
MUST_USE enum result audit_amqp_bus_open(const struct audit_amqp_options *amqp,
                                         const struct audit_bus_options *options,
                                         struct audit_bus **out, char reason[AUDIT_REASON_BYTES]);
MUST_USE enum result audit_amqp_source_open(const struct audit_amqp_options *amqp,
                                            const struct audit_source_options *options,
                                            struct audit_source **out,
                                            char reason[AUDIT_REASON_BYTES]);

#endif
