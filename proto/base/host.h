/*
 * host.h: where a server listens, as URLs and settings say it: "host", "host:port" or
 * "[address]:port". Pure, any thread.
 */
#ifndef PROTO_BASE_HOST_H
#define PROTO_BASE_HOST_H

#include "proto/base/span.h"

/*
 * The host, without brackets, as text of at most `capacity` bytes with its NUL; *port stays as it
 * is where none is given. Returns NULL, or what is wrong.
 */
const char *host_read(struct span text, char *host, size_t capacity, uint16_t *port);

#endif
