/* index_query.h: what a list of the index port asks for (storage/index.h). Pure functions. */
#ifndef STORAGE_INDEX_QUERY_H
#define STORAGE_INDEX_QUERY_H

#include "proto/base/arena.h"
#include "proto/base/text.h"

/* X("field", Column): filters that are equal or not. */
#define STORAGE_INDEX_FILTERS(X)                                                                   \
    X("status", Status)                                                                            \
    X("lifecycle", Lifecycle)                                                                      \
    X("process", Process)                                                                          \
    X("workspaceId", WorkspaceId)                                                                  \
    X("projectId", ProjectId)

enum {
#define X(field, column) STORAGE_INDEX_FILTER_##column,
    STORAGE_INDEX_FILTERS(X)
#undef X
        STORAGE_INDEX_FILTER_COUNT
};

struct storage_index_query {
    struct span equal[STORAGE_INDEX_FILTER_COUNT]; /* empty: any */
    char since[TEXT_TIME_BYTES + 1];               /* "": any */
    char ended_before[TEXT_TIME_BYTES + 1];        /* "": any, and those that have not ended */
    struct span before_start;                      /* of the cursor */
    struct span before_id;                         /* empty: from the newest */
    uint32_t limit;                                /* 1 .. 1000 */
};

/* Borrows from the query, a MAP value; RESULT_INVALID. */
MUST_USE enum result storage_index_query_read(struct span query, struct storage_index_query *out);
/* The cursor behind a row; lives in the arena. */
struct span storage_index_cursor(struct arena *arena, struct span start, struct span id);

#endif
