/*
 * token.h: is a token that a peer showed one of the configured ones? Pure function, any thread.
 */
#ifndef TRANSPORT_GUARD_TOKEN_H
#define TRANSPORT_GUARD_TOKEN_H

#include "proto/base/span.h"

#define TRANSPORT_TOKEN_BYTES_MAX 4096u /* longer ones are accepted from nobody */

/*
 * True when `count` is 0 (no tokens are asked for) or `given` equals one of `tokens`. Takes the
 * same time for every wrong token of one length, so the answer's delay tells nothing about how much
 * of it was right.
 */
bool transport_token_accepted(const char *const *tokens, size_t count, struct span given);

#endif
