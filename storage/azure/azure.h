/*
 * azure.h: the blob tier on Azure Blob Storage (REST, x-ms-version 2021-12-02), or on Azurite. See
 * http_blob.h for threads, answers and the meaning of the options. The container is made when the
 * first put misses it; with a SAS that takes one that allows it.
 */
#ifndef STORAGE_AZURE_AZURE_H
#define STORAGE_AZURE_AZURE_H

#include "storage/azure/account.h"
#include "storage/http/http_blob.h"

struct storage_azure_options {
    const char *connection; /* see account.h */
    const char *container;
    struct storage_http_options http;
};

/* Connects to nothing yet. RESULT_INVALID: `reason` says why; RESULT_LIMIT. */
MUST_USE enum result storage_azure_blob_open(struct ev_loop *loop,
                                             const struct storage_azure_options *options,
                                             struct storage_blob **out,
                                             char reason[STORAGE_AZURE_REASON_BYTES]);

#endif
