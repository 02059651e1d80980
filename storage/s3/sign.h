/*
 * sign.h: AWS Signature Version 4 of a request to S3, in its Authorization header. The key that is
 * derived for a day and region is kept, ready to be used, until the day changes. Pure but for that;
 * one thread.
 */
#ifndef STORAGE_S3_SIGN_H
#define STORAGE_S3_SIGN_H

#include <openssl/evp.h>

#include "proto/base/arena.h"
#include "proto/base/result.h"

enum {
    STORAGE_S3_HASH_TEXT = 64, /* a SHA-256 in hexadecimal digits */
    STORAGE_S3_DATE_TEXT = 16, /* "20130524T000000Z" */
};

struct storage_s3_signer {
    /* private to sign.c */
    char access_key[129];
    char secret_key[257];
    char region[64];
    char day[9]; /* that the key is for; "": none yet */
    EVP_MD *sha256;
    EVP_MD_CTX *inner, *outer; /* HMAC of that key: what is hashed before the text, and around it */
    EVP_MD_CTX *work;
};

/* What is signed: these headers are sent with just these values. */
struct storage_s3_request {
    const char *method;
    struct span host;  /* the Host header */
    struct span path;  /* as in the request line: encoded, from the slash on */
    struct span query; /* without the question mark: encoded, in the order of the names */
    char date[STORAGE_S3_DATE_TEXT + 1];      /* x-amz-date */
    char body_hash[STORAGE_S3_HASH_TEXT + 1]; /* x-amz-content-sha256 */
    const char *token;                        /* x-amz-security-token; "": there is none */
};

/* Copies the texts, which fit. RESULT_LIMIT: no memory, or a libcrypto without SHA-256. Pair:
 * storage_s3_signer_release, which forgets the keys; after a failure too. */
MUST_USE enum result storage_s3_signer_init(struct storage_s3_signer *signer,
                                            const char *access_key, const char *secret_key,
                                            const char *region);
void storage_s3_signer_release(struct storage_s3_signer *signer);
/* The hash that a request says of its body. false: libcrypto failed. */
MUST_USE bool storage_s3_hash(struct storage_s3_signer *signer, struct span body,
                              char out[STORAGE_S3_HASH_TEXT + 1]);
/* The value of the Authorization header, in the arena; empty when that is full. */
struct span storage_s3_authorization(struct storage_s3_signer *signer,
                                     const struct storage_s3_request *request, struct arena *arena);

#endif
