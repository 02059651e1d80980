/*
 * tls.h: the certificates of a listener, or of somebody who dials one: PEM files, read when they
 * are first needed.
 */
#ifndef TRANSPORT_TLS_H
#define TRANSPORT_TLS_H

#include <stdbool.h>

#include "proto/base/result.h"

/* Both may be NULL. Paths must outlive what they are given to. */
struct transport_tls {
    const char *certificate_file; /* our certificate, what stands between it and its authority, and
                                     its key without a passphrase */
    const char *authorities_file; /* who signs the peers'; a listener that has it serves nobody
                                     else, a dialer without it trusts those of the system */
};

/* tls+tcp://, wss:// or https://? */
bool transport_url_is_tls(const char *url);

/*
 * Is there a certificate with its own key in this file, or at least one authority? `error` says
 * what is wrong, beginning with the path: RESULT_NOT_FOUND, RESULT_DENIED, RESULT_INVALID. A
 * certificate that has expired is logged and taken: some peers do not look, and the others say so.
 */
MUST_USE enum result transport_tls_check_certificate(const char *path, char error[256]);
MUST_USE enum result transport_tls_check_authorities(const char *path, char error[256]);

#endif
