/*
 * etags.h: the ETags that a service gave for the blobs that were written last, so that the next
 * write of a name can say which version it replaces. A row holds one name, by its hash: what is not
 * known any more, or is wrong, costs a question. Thread: the loop's.
 */
#ifndef STORAGE_HTTP_ETAGS_H
#define STORAGE_HTTP_ETAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/result.h"

#define STORAGE_ETAG_BYTES_MAX 87u

struct storage_etags {
    /* private to etags.c */
    struct storage_etag *rows;
};

/* RESULT_LIMIT: no memory. */
MUST_USE enum result storage_etags_init(struct storage_etags *etags);
void storage_etags_release(struct storage_etags *etags);
/* NULL: not known. Lives until the next call. */
const char *storage_etags_find(const struct storage_etags *etags, uint64_t name_hash);
/* false: it is empty, too long or no plain text, and nothing is known now. */
bool storage_etags_keep(struct storage_etags *etags, uint64_t name_hash, const char *etag);
void storage_etags_forget(struct storage_etags *etags, uint64_t name_hash);

#endif
