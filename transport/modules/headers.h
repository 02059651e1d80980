/*
 * headers.h: the header lines of one module call, built in an arena as libcurl wants them.
 */
#ifndef TRANSPORT_MODULES_HEADERS_H
#define TRANSPORT_MODULES_HEADERS_H

#include <curl/curl.h>

#include "proto/base/arena.h"
#include "proto/message.h"

#define HEADERS_REASON_BYTES 256u

/*
 * Content-Type, Accept, Idempotency-Key, traceparent and the module's own headers; Expect is
 * switched off. *list lives in the arena: never free it. What a module's headers may not do: break
 * out of their line, name what frames the request (Content-Length, Transfer-Encoding, Connection,
 * …), or replace the two ids. Errors: RESULT_INVALID with `reason` for a person; RESULT_LIMIT when
 * the arena is full.
 */
MUST_USE enum result headers_build(const struct proto_call *call, struct arena *arena,
                                   struct curl_slist **list, char reason[HEADERS_REASON_BYTES]);

#endif
