/* url.h: amqp://user:password@host:port and amqps://…, as the AMQP adapter takes them. */
#ifndef AUDIT_AMQP_URL_H
#define AUDIT_AMQP_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"

struct audit_amqp_place {
    char host[256];
    uint16_t port;  /* 5672, with TLS 5671, unless the URL says another */
    char user[256]; /* empty: anonymous */
    char password[512];
    bool tls;
};

/*
 * User and password may hold %XX escapes. RESULT_INVALID: `reason` says why, without any part of
 * the URL, which holds a secret.
 */
MUST_USE enum result audit_amqp_url_read(const char *url, struct audit_amqp_place *out,
                                         const char **reason);

#endif
