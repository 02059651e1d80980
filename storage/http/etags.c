/* etags.c: see etags.h. */
#include "storage/http/etags.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 32768 };

struct storage_etag {
    uint64_t name_hash;
    char text[STORAGE_ETAG_BYTES_MAX + 1]; /* empty: none */
};

enum result storage_etags_init(struct storage_etags *etags)
{
    etags->rows = calloc(ROWS, sizeof *etags->rows);
    return etags->rows == NULL ? RESULT_LIMIT : RESULT_OK;
}

void storage_etags_release(struct storage_etags *etags)
{
    free(etags->rows);
    etags->rows = NULL;
}

static struct storage_etag *row_of(const struct storage_etags *etags, uint64_t name_hash)
{
    return &etags->rows[name_hash % ROWS];
}

const char *storage_etags_find(const struct storage_etags *etags, uint64_t name_hash)
{
    const struct storage_etag *row = row_of(etags, name_hash);
    return row->text[0] != '\0' && row->name_hash == name_hash ? row->text : NULL;
}

/* It comes from outside and goes into a header line. */
static bool is_plain(const char *etag)
{
    size_t count = 0;
    for (; etag[count] != '\0'; count++) {
        if (etag[count] <= ' ' || etag[count] > '~') {
            return false;
        }
    }
    return count > 0 && count <= STORAGE_ETAG_BYTES_MAX;
}

bool storage_etags_keep(struct storage_etags *etags, uint64_t name_hash, const char *etag)
{
    struct storage_etag *row = row_of(etags, name_hash);
    if (!is_plain(etag)) {
        storage_etags_forget(etags, name_hash);
        return false;
    }
    row->name_hash = name_hash;
    memcpy(row->text, etag, strlen(etag) + 1);
    return true;
}

void storage_etags_forget(struct storage_etags *etags, uint64_t name_hash)
{
    struct storage_etag *row = row_of(etags, name_hash);
    if (row->name_hash == name_hash) {
        row->text[0] = '\0';
    }
}
