/*
 * tiers.c: see tiers.h. From configuration to the options of the adapters; no decision besides.
 */
#include "tools/strider/tiers.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "storage/azure/azure.h"
#include "storage/folder/folder.h"
#include "storage/odbc/odbc.h"
#include "storage/redis/redis.h"
#include "storage/s3/s3.h"

static enum result explain(char error[512], const char *key, const char *reason, enum result result)
{
    if (result != RESULT_OK) {
        snprintf(error, 512, "%s: %s", key, reason[0] == '\0' ? result_text(result) : reason);
    }
    return result;
}

bool cli_tiers_blob_is_elsewhere(const struct cli_tiers_options *options)
{
    return options->blob_kind == CLI_BLOB_AZURE || options->blob_kind == CLI_BLOB_S3;
}

enum result cli_tiers_open_index(const struct cli_tiers_options *options,
                                 struct storage_index **out, char error[512])
{
    ASSERT(options->index_kind == CLI_INDEX_ODBC);
    char reason[STORAGE_ODBC_REASON_BYTES] = "";
    const struct storage_odbc_options odbc = {
        .connection = options->index_connection,
        .timeout_s = (options->index_timeout_ms + 999) / 1000,
        .may_be_away = true,
    };
    if (odbc.connection[0] == '\0') {
        return explain(error, "index.connection", "is empty, and index.kind is odbc",
                       RESULT_INVALID);
    }
    return explain(error, "index.connection", reason, storage_odbc_index_open(&odbc, out, reason));
}

enum result cli_tiers_open_folder(const struct cli_tiers_options *options,
                                  struct storage_blob **out, char error[512])
{
    ASSERT(options->blob_kind == CLI_BLOB_FOLDER);
    if (options->blob_directory[0] == '\0') {
        return explain(error, "blob.directory", "is empty, and blob.kind is folder",
                       RESULT_INVALID);
    }
    return explain(error, "blob.directory", "",
                   storage_folder_blob_open(options->blob_directory, out));
}

enum result cli_tiers_open_hot(const struct cli_tiers_options *options, struct ev_loop *loop,
                               struct storage_hot **out, char error[512])
{
    ASSERT(options->hot_kind == CLI_HOT_REDIS);
    char reason[STORAGE_REDIS_REASON_BYTES] = "";
    struct storage_redis_options redis = {STORAGE_REDIS_OPTIONS_DEFAULT};
    redis.url = options->hot_url;
    redis.key_prefix = options->hot_key_prefix;
    redis.ttl_ms = options->hot_ttl_ms;
    redis.timeout_ms = options->hot_timeout_ms;
    if (redis.url[0] == '\0') {
        return explain(error, "hot.url", "is empty, and hot.kind is redis", RESULT_INVALID);
    }
    return explain(error, "hot.url", reason, storage_redis_hot_open(loop, &redis, out, reason));
}

static enum result open_azure(const struct cli_tiers_options *options, struct ev_loop *loop,
                              const struct storage_http_options *http, struct storage_blob **out,
                              char error[512])
{
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    const struct storage_azure_options azure = {.connection = options->blob_connection,
                                                .container = options->blob_container,
                                                .http = *http};
    return explain(error, "blob.connection", reason,
                   storage_azure_blob_open(loop, &azure, out, reason));
}

static enum result open_s3(const struct cli_tiers_options *options, struct ev_loop *loop,
                           const struct storage_http_options *http, struct storage_blob **out,
                           char error[512])
{
    char reason[STORAGE_S3_REASON_BYTES] = "";
    const struct storage_s3_options s3 = {.endpoint = options->s3_endpoint,
                                          .region = options->s3_region,
                                          .bucket = options->blob_container,
                                          .access_key = options->s3_access_key,
                                          .secret_key = options->s3_secret_key,
                                          .session_token = options->s3_session_token,
                                          .http = *http};
    return explain(error, "blob.s3Endpoint", reason, storage_s3_blob_open(loop, &s3, out, reason));
}

enum result cli_tiers_open_blob(const struct cli_tiers_options *options, struct ev_loop *loop,
                                struct storage_blob **out, char error[512])
{
    ASSERT(cli_tiers_blob_is_elsewhere(options));
    struct storage_http_options http = {STORAGE_HTTP_OPTIONS_DEFAULT};
    http.parallel_max = options->blob_parallel;
    http.timeout_ms = options->blob_timeout_ms;
    http.tries_max = options->blob_tries;
    return options->blob_kind == CLI_BLOB_AZURE ? open_azure(options, loop, &http, out, error)
                                                : open_s3(options, loop, &http, out, error);
}
