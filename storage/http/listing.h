/* listing.h: reads the XML that Azure and S3 list blobs with. Thread: any. */
#ifndef STORAGE_HTTP_LISTING_H
#define STORAGE_HTTP_LISTING_H

#include "proto/base/arena.h"

/* How a service spells its listings. */
struct storage_listing_words {
    const char *item;   /* element around one blob */
    const char *name;   /* element in it that holds the name */
    const char *marker; /* element that holds where the next page begins; empty or absent: none */
};

/*
 * Calls `each` with every name, in the order of the listing; *marker is a copy in the arena, empty
 * on the last page. RESULT_INVALID: no well-formed XML, or with a DTD; RESULT_LIMIT: the arena is
 * full, or the XML is not of a size.
 */
MUST_USE enum result storage_listing_read(struct span xml,
                                          const struct storage_listing_words *words,
                                          struct arena *arena,
                                          void (*each)(void *owner, struct span name), void *owner,
                                          struct span *marker);

#endif
