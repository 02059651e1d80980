/* percent.h: percent-encoding of names and query values (RFC 3986 §2.1). Pure functions. */
#ifndef STORAGE_HTTP_PERCENT_H
#define STORAGE_HTTP_PERCENT_H

#include <stdbool.h>

#include "proto/base/arena.h"

/*
 * All but letters, digits and "-._~" as %XX, in upper case (what Azure and S3 sign); a '/' stays
 * as it is when `path`. Lives in the arena, with a NUL byte behind; empty when that is full.
 */
struct span storage_percent_encode(struct arena *arena, struct span text, bool path);

#endif
