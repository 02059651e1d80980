/*
 * account.h: an Azure storage account as its connection string says it, and signatures by its key
 * (https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key). Pure functions.
 */
#ifndef STORAGE_AZURE_ACCOUNT_H
#define STORAGE_AZURE_ACCOUNT_H

#include "proto/base/arena.h"

#define STORAGE_AZURE_REASON_BYTES 200u
#define STORAGE_AZURE_KEY_BYTES    128u

struct storage_azure_account {
    char endpoint[512]; /* of the blob service, without a '/' at its end */
    char name[64];
    uint8_t key[STORAGE_AZURE_KEY_BYTES];
    size_t key_count; /* 0: by `sas` */
    char sas[1024];   /* "sv=…&sig=…" */
};

/*
 * "AccountName=…;AccountKey=…;EndpointSuffix=…", or with BlobEndpoint, or with
 * SharedAccessSignature in place of the key, or "UseDevelopmentStorage=true" (the emulator's
 * well-known account). RESULT_INVALID: `reason` says why, without any of the secrets.
 */
MUST_USE enum result storage_azure_account_read(const char *connection,
                                                struct storage_azure_account *out,
                                                char reason[STORAGE_AZURE_REASON_BYTES]);

/* 3 to 63 lower-case letters, digits and single dashes inside. */
bool storage_azure_container_is_valid(const char *name);

/* What of a request is signed. */
struct storage_azure_request {
    const char *method;
    size_t content_bytes;
    const char *content_type; /* "": none */
    const char *date;         /* x-ms-date */
    const char *version;      /* x-ms-version */
    const char *blob_type;    /* x-ms-blob-type; "": none */
    const char *if_match;     /* NULL: none */
    const char *if_none_match;
    struct span path; /* of the URL, as it is sent */
    /* Of the URL's query, decoded, in the order of their names. */
    const struct storage_azure_parameter {
        const char *name;
        struct span value;
    } * parameters;
    size_t parameter_count;
};

/* The text that is signed; empty when the arena is full. */
struct span storage_azure_string_to_sign(const struct storage_azure_account *account,
                                         const struct storage_azure_request *request,
                                         struct arena *arena);
/* "SharedKey name:signature"; empty when the arena is full. */
struct span storage_azure_authorization(const struct storage_azure_account *account,
                                        struct span string_to_sign, struct arena *arena);

#endif
