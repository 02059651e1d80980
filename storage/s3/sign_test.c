/*
 * sign_test.c: signatures beside those that the S3 API reference works out ("Examples: Signature
 * Calculations", with its public example keys), and what is kept between them.
 */
#include "storage/s3/sign.h"

#include <criterion/criterion.h>
#include <string.h>

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct storage_s3_signer signer;
static struct arena arena;

static void begin(void)
{
    arena_init(&arena, 4096, 65536);
    cr_assert_eq(storage_s3_signer_init(&signer, "AKIAIOSFODNN7EXAMPLE",
                                        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"),
                 RESULT_OK);
}

static void end(void)
{
    storage_s3_signer_release(&signer);
    arena_release(&arena);
}

TestSuite(s3_signature, .init = begin, .fini = end);

static struct storage_s3_request request_of(const char *query, const char *date)
{
    struct storage_s3_request request = {.method = "GET",
                                         .host = span_text("examplebucket.s3.amazonaws.com"),
                                         .path = span_text("/"),
                                         .query = span_text(query),
                                         .body_hash = EMPTY_HASH,
                                         .token = ""};
    memcpy(request.date, date, strlen(date));
    return request;
}

static const char *signature(const struct storage_s3_request *request)
{
    struct span text = storage_s3_authorization(&signer, request, &arena);
    const char *at = strstr((const char *)text.bytes, "Signature=");
    return at == NULL ? "" : at + strlen("Signature=");
}

Test(s3_signature, is_what_the_reference_works_out)
{
    struct storage_s3_request lifecycle = request_of("lifecycle=", "20130524T000000Z");
    struct storage_s3_request list = request_of("max-keys=2&prefix=J", "20130524T000000Z");

    struct span whole = storage_s3_authorization(&signer, &lifecycle, &arena);

    cr_expect_str_eq(
        (const char *)whole.bytes,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
        "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    cr_expect_str_eq(signature(&list),
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

Test(s3_signature, follows_the_day)
{
    struct storage_s3_request today = request_of("lifecycle=", "20130524T000000Z");
    struct storage_s3_request tomorrow = request_of("lifecycle=", "20130525T000000Z");
    char first[STORAGE_S3_HASH_TEXT + 1];
    memcpy(first, signature(&today), sizeof first);
    char next[STORAGE_S3_HASH_TEXT + 1];
    memcpy(next, signature(&tomorrow), sizeof next);

    storage_s3_signer_release(&signer);
    cr_assert_eq(storage_s3_signer_init(&signer, "AKIAIOSFODNN7EXAMPLE",
                                        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"),
                 RESULT_OK);

    cr_expect_str_eq(signature(&tomorrow), next, "with the key of that day, not of the day before");
    cr_expect_str_eq(signature(&today), first, "also back again");
    cr_expect_str_neq(first, next);
}

Test(s3_signature, covers_the_token_of_temporary_credentials)
{
    struct storage_s3_request request = request_of("lifecycle=", "20130524T000000Z");
    request.token = "a token";
    struct span text = storage_s3_authorization(&signer, &request, &arena);
    cr_expect_not_null(strstr((const char *)text.bytes, ";x-amz-security-token, "));
    char first[STORAGE_S3_HASH_TEXT + 1];
    memcpy(first, signature(&request), sizeof first);
    request.token = "another";

    cr_expect_str_neq(signature(&request), first);
}

Test(s3_signature, hashes_bodies_and_takes_secrets_longer_than_a_block)
{
    char hash[STORAGE_S3_HASH_TEXT + 1];
    char secret[257];
    struct storage_s3_request request = request_of("lifecycle=", "20130524T000000Z");
    cr_assert(storage_s3_hash(&signer, SPAN_EMPTY, hash));
    cr_expect_str_eq(hash, EMPTY_HASH);
    cr_assert(storage_s3_hash(&signer, span_text("Welcome to Amazon S3."), hash));
    cr_expect_str_eq(hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    memset(secret, 's', sizeof secret - 1);
    secret[sizeof secret - 1] = '\0';
    storage_s3_signer_release(&signer);
    cr_assert_eq(storage_s3_signer_init(&signer, "A", secret, "r"), RESULT_OK);

    cr_expect_eq(strlen(signature(&request)), (size_t)STORAGE_S3_HASH_TEXT);
}

Test(s3_signature, is_empty_without_room)
{
    struct storage_s3_request request = request_of("lifecycle=", "20130524T000000Z");
    struct arena small;
    arena_init(&small, 256, 256);

    cr_expect_eq(storage_s3_authorization(&signer, &request, &small).count, 0);
    arena_release(&small);
}
