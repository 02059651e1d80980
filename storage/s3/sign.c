/*
 * sign.c: as in "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)"
 * of the S3 API reference. libcurl signs as well (CURLOPT_AWS_SIGV4), but derives the key anew for
 * each request, which cost as much as a small upload itself (perf/put_spike).
 */
#include "storage/s3/sign.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/assert.h"

enum { DIGEST = 32, BLOCK = 64 };

static const char algorithm[] = "AWS4-HMAC-SHA256";

enum result storage_s3_signer_init(struct storage_s3_signer *signer, const char *access_key,
                                   const char *secret_key, const char *region)
{
    *signer = (struct storage_s3_signer){0};
    ASSERT(strlen(access_key) < sizeof signer->access_key);
    ASSERT(strlen(secret_key) < sizeof signer->secret_key);
    ASSERT(strlen(region) < sizeof signer->region);
    snprintf(signer->access_key, sizeof signer->access_key, "%s", access_key);
    snprintf(signer->secret_key, sizeof signer->secret_key, "%s", secret_key);
    snprintf(signer->region, sizeof signer->region, "%s", region);
    signer->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL); /* once: it is looked for by name */
    signer->inner = EVP_MD_CTX_new();
    signer->outer = EVP_MD_CTX_new();
    signer->work = EVP_MD_CTX_new();
    bool sound = signer->sha256 != NULL && signer->inner != NULL && signer->outer != NULL &&
                 signer->work != NULL;
    return sound ? RESULT_OK : RESULT_LIMIT;
}

void storage_s3_signer_release(struct storage_s3_signer *signer)
{
    EVP_MD_CTX_free(signer->inner); /* (wipes what it holds) */
    EVP_MD_CTX_free(signer->outer);
    EVP_MD_CTX_free(signer->work);
    EVP_MD_free(signer->sha256);
    OPENSSL_cleanse(signer, sizeof *signer);
}

/* ---- SHA-256, and HMAC on it (RFC 2104) ---- */

static bool hash(struct storage_s3_signer *signer, struct span text, uint8_t out[DIGEST])
{
    unsigned count = 0;
    const void *bytes = text.count > 0 ? (const void *)text.bytes : "";
    return EVP_DigestInit_ex2(signer->work, signer->sha256, NULL) == 1 &&
           EVP_DigestUpdate(signer->work, bytes, text.count) == 1 &&
           EVP_DigestFinal_ex(signer->work, out, &count) == 1 && count == DIGEST;
}

/* Gets `inner` and `outer` ready for a key of at most a block. */
static bool set_key(struct storage_s3_signer *signer, const void *key, size_t count)
{
    uint8_t pads[2][BLOCK] = {{0}};
    ASSERT(count <= BLOCK);
    memcpy(pads[0], key, count);
    memcpy(pads[1], key, count);
    for (size_t i = 0; i < BLOCK; i++) {
        pads[0][i] ^= 0x36;
        pads[1][i] ^= 0x5c;
    }
    bool sound = EVP_DigestInit_ex2(signer->inner, signer->sha256, NULL) == 1 &&
                 EVP_DigestUpdate(signer->inner, pads[0], BLOCK) == 1 &&
                 EVP_DigestInit_ex2(signer->outer, signer->sha256, NULL) == 1 &&
                 EVP_DigestUpdate(signer->outer, pads[1], BLOCK) == 1;
    OPENSSL_cleanse(pads, sizeof pads);
    return sound;
}

static bool authenticate(struct storage_s3_signer *signer, struct span text, uint8_t out[DIGEST])
{
    unsigned count = 0;
    return EVP_MD_CTX_copy_ex(signer->work, signer->inner) == 1 &&
           EVP_DigestUpdate(signer->work, text.bytes, text.count) == 1 &&
           EVP_DigestFinal_ex(signer->work, out, &count) == 1 &&
           EVP_MD_CTX_copy_ex(signer->work, signer->outer) == 1 &&
           EVP_DigestUpdate(signer->work, out, DIGEST) == 1 &&
           EVP_DigestFinal_ex(signer->work, out, &count) == 1 && count == DIGEST;
}

static void write_hex(const uint8_t digest[DIGEST], char out[STORAGE_S3_HASH_TEXT + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST; i++) {
        out[i * 2] = digits[digest[i] >> 4];
        out[i * 2 + 1] = digits[digest[i] & 15];
    }
    out[STORAGE_S3_HASH_TEXT] = '\0';
}

bool storage_s3_hash(struct storage_s3_signer *signer, struct span body,
                     char out[STORAGE_S3_HASH_TEXT + 1])
{
    uint8_t digest[DIGEST];
    bool sound = hash(signer, body, digest);
    write_hex(digest, out);
    return sound;
}

/* ---- the key of a day ---- */

/* A key longer than a block counts as its hash. */
static bool set_secret(struct storage_s3_signer *signer)
{
    char secret[sizeof signer->secret_key + 4];
    uint8_t digest[DIGEST];
    int count = snprintf(secret, sizeof secret, "AWS4%s", signer->secret_key);
    bool sound = true;
    if (count > BLOCK) {
        sound = hash(signer, span_of(secret, (size_t)count), digest) &&
                set_key(signer, digest, sizeof digest);
    } else {
        sound = set_key(signer, secret, (size_t)count);
    }
    OPENSSL_cleanse(secret, sizeof secret);
    OPENSSL_cleanse(digest, sizeof digest);
    return sound;
}

static bool derive(struct storage_s3_signer *signer, const char *date)
{
    char day[sizeof signer->day];
    uint8_t key[DIGEST];
    snprintf(day, sizeof day, "%.8s", date);
    if (strcmp(day, signer->day) == 0) {
        return true;
    }
    const char *const parts[] = {day, signer->region, "s3", "aws4_request"};
    signer->day[0] = '\0';
    bool sound = set_secret(signer);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && sound; i++) {
        sound = authenticate(signer, span_text(parts[i]), key) && set_key(signer, key, sizeof key);
    }
    OPENSSL_cleanse(key, sizeof key);
    if (sound) {
        memcpy(signer->day, day, sizeof day);
    }
    return sound;
}

/* ---- the signature ---- */

struct span storage_s3_authorization(struct storage_s3_signer *signer,
                                     const struct storage_s3_request *request, struct arena *arena)
{
    uint8_t digest[DIGEST];
    char text[STORAGE_S3_HASH_TEXT + 1];
    bool with_token = request->token[0] != '\0';
    const char *names = with_token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                                   : "host;x-amz-content-sha256;x-amz-date";
    struct span canonical = arena_format(
        arena, "%s\n%.*s\n%.*s\nhost:%.*s\nx-amz-content-sha256:%s\nx-amz-date:%s\n%s%s%s\n%s\n%s",
        request->method, SPAN_ARG(request->path), SPAN_ARG(request->query), SPAN_ARG(request->host),
        request->body_hash, request->date, with_token ? "x-amz-security-token:" : "",
        request->token, with_token ? "\n" : "", names, request->body_hash);
    if (canonical.count == 0 || !derive(signer, request->date) ||
        !hash(signer, canonical, digest)) {
        return SPAN_EMPTY;
    }
    write_hex(digest, text);
    struct span to_sign = arena_format(arena, "%s\n%s\n%s/%s/s3/aws4_request\n%s", algorithm,
                                       request->date, signer->day, signer->region, text);
    if (to_sign.count == 0 || !authenticate(signer, to_sign, digest)) {
        return SPAN_EMPTY;
    }
    write_hex(digest, text);
    return arena_format(arena,
                        "%s Credential=%s/%s/%s/s3/aws4_request, SignedHeaders=%s, Signature=%s",
                        algorithm, signer->access_key, signer->day, signer->region, names, text);
}
