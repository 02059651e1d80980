/* tls.h: what transport/tls.h names, as NNG's listeners take it. */
#ifndef TRANSPORT_GUARD_TLS_H
#define TRANSPORT_GUARD_TLS_H

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>

#include "transport/tls.h"

/* A listener's settings from both files: TLS 1.2 or later. The caller frees *out. Errors as
 * transport_tls_check_certificate. */
MUST_USE enum result transport_tls_listen(const struct transport_tls *files, nng_tls_config **out,
                                          char error[256]);

#endif
