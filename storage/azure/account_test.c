/* account_test.c: connection strings, and what is signed how. */
#include "storage/azure/account.h"

#include <criterion/criterion.h>
#include <string.h>

#define KEY64                                                                                      \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static struct storage_azure_account account_of(const char *connection)
{
    struct storage_azure_account account;
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    cr_assert_eq(storage_azure_account_read(connection, &account, reason), RESULT_OK, "%s", reason);
    return account;
}

Test(azure_account, is_read_from_the_connection_string_of_the_portal)
{
    struct storage_azure_account account =
        account_of("DefaultEndpointsProtocol=https;AccountName=shop1;AccountKey=" KEY64
                   ";EndpointSuffix=core.chinacloudapi.cn");

    cr_assert_str_eq(account.endpoint, "https://shop1.blob.core.chinacloudapi.cn");
    cr_assert_str_eq(account.name, "shop1");
    cr_assert_eq(account.key_count, 64);
    cr_assert_str_eq(account_of("AccountName=a;AccountKey=AAAA").endpoint,
                     "https://a.blob.core.windows.net");
    cr_assert_eq(account_of("AccountName=a;AccountKey=AAA=").key_count, 2);
}

Test(azure_account, may_be_the_emulators)
{
    struct storage_azure_account account = account_of("UseDevelopmentStorage=true");

    cr_assert_str_eq(account.endpoint, "http://127.0.0.1:10000/devstoreaccount1");
    cr_assert_str_eq(account.name, "devstoreaccount1");
    cr_assert_eq(account.key_count, 64);
}

Test(azure_account, may_come_with_a_signature_instead_of_a_key)
{
    struct storage_azure_account account =
        account_of("BlobEndpoint=https://h/a/;QueueEndpoint=https://q/;"
                   "SharedAccessSignature=?sv=2021-12-02&sig=x%3D");

    cr_assert_str_eq(account.endpoint, "https://h/a");
    cr_assert_str_eq(account.sas, "sv=2021-12-02&sig=x%3D");
    cr_assert_eq(account.key_count, 0);
}

Test(azure_account, is_refused_with_a_reason_that_tells_no_secret)
{
    static const struct {
        const char *connection;
        const char *reason; /* a part of it */
    } rows[] = {
        {"", "neither"},
        {"hunter2", "Name=value"},
        {"AccountName=a", "neither"},
        {"AccountKey=hunter22", "AccountName"},
        {"AccountName=a;AccountKey=hunter2", "base64"},
        {"AccountName=a;AccountKey=hunter2!", "base64"},
        {"AccountName=A/B;AccountKey=AAAA", "lower-case"},
        {"AccountName=a;AccountKey=AAAA;SharedAccessSignature=sig=hunter2", "exclude"},
        {"AccountName=a;SharedAccessSignature=hunter2", "sig="},
        {"AccountName=a;AccountKey=AAAA;DefaultEndpointsProtocol=ftp", "https or http"},
        {"AccountName=a;AccountKey=AAAA;EndpointSuffix=a/b", "host name"},
        {"AccountName=a;AccountKey=AAAA;BlobEndpoint=file:///x", "BlobEndpoint"},
        {"AccountName=a;AccountKey=AAAA;BlobEndpoint=http://h?x", "BlobEndpoint"},
        {"UseDevelopmentStorage=yes", "UseDevelopmentStorage"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storage_azure_account account;
        char reason[STORAGE_AZURE_REASON_BYTES] = "";

        cr_assert_eq(storage_azure_account_read(rows[i].connection, &account, reason),
                     RESULT_INVALID, "%s", rows[i].connection);

        cr_assert_not_null(strstr(reason, rows[i].reason), "%s: %s", rows[i].connection, reason);
        cr_assert_null(strstr(reason, "hunter2"));
    }
}

Test(azure_account, containers_have_the_names_that_azure_allows)
{
    static const char *const good[] = {"abc", "execution-audit", "0-0", "a1b2c3"};
    static const char *const bad[] = {"", "ab", "-abc", "abc-", "a--b", "ABC", "a_b", "a/b", "a.b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cr_assert(storage_azure_container_is_valid(good[i]), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_not(storage_azure_container_is_valid(bad[i]), "%s", bad[i]);
    }
}

/* The example of "Authorize with Shared Key": Get Container Metadata, without its timeout. */
Test(azure_account, signs_the_text_of_the_documents)
{
    struct storage_azure_account account = account_of("AccountName=myaccount;AccountKey=" KEY64);
    struct arena arena;
    arena_init(&arena, 4096, 65536);
    const struct storage_azure_parameter parameters[] = {
        {"comp", span_text("metadata")},
        {"restype", span_text("container")},
        {"timeout", span_text("20")},
    };
    const struct storage_azure_request request = {
        .method = "GET",
        .content_type = "",
        .date = "Fri, 26 Jun 2015 23:39:12 GMT",
        .version = "2015-02-21",
        .blob_type = "",
        .path = span_text("/mycontainer"),
        .parameters = parameters,
        .parameter_count = 3,
    };

    struct span text = storage_azure_string_to_sign(&account, &request, &arena);
    struct span signature = storage_azure_authorization(&account, text, &arena);

    cr_assert_str_eq((const char *)text.bytes,
                     "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
                     "x-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\n"
                     "restype:container\ntimeout:20");
    cr_assert_str_eq((const char *)signature.bytes,
                     "SharedKey myaccount:1u9lui2jDxj0+fpbHjQ5m5NnastJRSYM+PSmfi8TXx4=");
    arena_release(&arena);
}

Test(azure_account, signs_length_type_and_kind_of_an_upload)
{
    struct storage_azure_account account = account_of("UseDevelopmentStorage=true");
    struct arena arena;
    arena_init(&arena, 4096, 65536);
    const struct storage_azure_request request = {
        .method = "PUT",
        .content_bytes = 11,
        .content_type = "application/octet-stream",
        .date = "D",
        .version = "V",
        .blob_type = "BlockBlob",
        .path = span_text("/devstoreaccount1/c/w/a%40b"),
    };

    struct span text = storage_azure_string_to_sign(&account, &request, &arena);

    cr_assert_str_eq((const char *)text.bytes,
                     "PUT\n\n\n11\n\napplication/octet-stream\n\n\n\n\n\n\n"
                     "x-ms-blob-type:BlockBlob\nx-ms-date:D\nx-ms-version:V\n"
                     "/devstoreaccount1/devstoreaccount1/c/w/a%40b");
    arena_release(&arena);
}
