/*
 * address.h: the parts of a request's address, percent-decoded. Pure functions.
 */
#ifndef TRANSPORT_ADMIN_ADDRESS_H
#define TRANSPORT_ADMIN_ADDRESS_H

#include <stdbool.h>

#include "proto/base/arena.h"

/* RFC 3986 §2.1; a "%" without two hexadecimal digits stands for itself. Empty without memory. */
struct span address_decode(struct arena *arena, struct span text, bool plus_is_space);

/* Where the query of an address begins; NULL: it has none. */
const char *address_query(const char *uri);
/* The next parameter that has a name, decoded; *at moves on. false: there are no more. */
bool address_query_next(const char **at, struct arena *arena, struct span *name,
                        struct span *value);

#endif
