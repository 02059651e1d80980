/*
 * hook_secret.h: webhooks whose senders show that they know a secret, where no token can be asked
 * of them. Pure functions.
 */
#ifndef TRANSPORT_ADMIN_HOOK_SECRET_H
#define TRANSPORT_ADMIN_HOOK_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/span.h"

/* A signed body is read before its sender is known: so no more than this of it. */
#define HOOK_SIGNED_BYTES_MAX (1u << 20)

/* The secret of the address of a webhook: that of its path, percent-decoded, else that of "*".
 * NULL: there is none, or the address is no webhook's. `entries` outlive what is returned. */
const char *hook_secret_of(const char *const *entries, size_t count, const char *uri);
/*
 * Does the sender know it? Either `signature` is "sha256=" and the HMAC-SHA256 of the body in
 * hexadecimal digits, or `token` is the secret itself. Where both are there both must be right.
 * Takes the same time for every wrong one of a length.
 */
bool hook_secret_is_known(const char *secret, struct span body, const char *signature,
                          const char *token);

#endif
