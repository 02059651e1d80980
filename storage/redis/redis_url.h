/* redis_url.h: redis:// URLs. Pure functions. */
#ifndef STORAGE_REDIS_REDIS_URL_H
#define STORAGE_REDIS_REDIS_URL_H

#include <stdint.h>

#include "proto/base/result.h"

#define STORAGE_REDIS_REASON_BYTES 160u

struct storage_redis_place {
    char host[256];
    uint16_t port;
    uint32_t database;
    char user[128];     /* "": the default user */
    char password[512]; /* "": none */
};

/*
 * redis://[[user]:password@]host[:port][/database]; user and password percent-encoded, an IPv6
 * address in brackets. RESULT_INVALID or, for redis over TLS, RESULT_UNSUPPORTED: `reason` says why
 * to a person and never holds a part of the password.
 */
MUST_USE enum result storage_redis_url_read(const char *url, struct storage_redis_place *out,
                                            char reason[STORAGE_REDIS_REASON_BYTES]);

#endif
