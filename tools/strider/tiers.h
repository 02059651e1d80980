/*
 * tiers.h: the stores that other servers or folders keep, as the configuration names them: the hot
 * tier, the blob tier, the index (docs/operations.md). Which adapter runs is known here alone.
 */
#ifndef TOOLS_STRIDER_TIERS_H
#define TOOLS_STRIDER_TIERS_H

#include "storage/blob.h"
#include "storage/hot.h"
#include "storage/index.h"

struct ev_loop;

/* In the order of the choices in config_keys.def. */
enum cli_hot_kind { CLI_HOT_EMBEDDED, CLI_HOT_REDIS };
enum cli_blob_kind { CLI_BLOB_EMBEDDED, CLI_BLOB_FOLDER, CLI_BLOB_AZURE, CLI_BLOB_S3 };
enum cli_index_kind { CLI_INDEX_EMBEDDED, CLI_INDEX_ODBC };

struct cli_tiers_options {
    enum cli_hot_kind hot_kind;
    const char *hot_url;
    const char *hot_key_prefix;
    uint64_t hot_ttl_ms;
    uint32_t hot_timeout_ms;
    enum cli_blob_kind blob_kind;
    const char *blob_directory;
    const char *blob_connection;
    const char *blob_container;
    uint32_t blob_parallel;
    uint32_t blob_timeout_ms;
    uint32_t blob_tries;
    const char *s3_endpoint;
    const char *s3_region;
    const char *s3_access_key;
    const char *s3_secret_key;
    const char *s3_session_token;
    enum cli_index_kind index_kind;
    const char *index_connection;
    uint32_t index_timeout_ms;
};

/* On a server: it needs a loop, and may be away. */
bool cli_tiers_blob_is_elsewhere(const struct cli_tiers_options *options);

/* Each opens what its kind says, which is not the embedded one. That a server is away is no error;
 * a configuration that cannot work is: `error` names the key, and holds no secret. */
MUST_USE enum result cli_tiers_open_index(const struct cli_tiers_options *options,
                                          struct storage_index **out, char error[512]);
MUST_USE enum result cli_tiers_open_folder(const struct cli_tiers_options *options,
                                           struct storage_blob **out, char error[512]);
MUST_USE enum result cli_tiers_open_hot(const struct cli_tiers_options *options,
                                        struct ev_loop *loop, struct storage_hot **out,
                                        char error[512]);
MUST_USE enum result cli_tiers_open_blob(const struct cli_tiers_options *options,
                                         struct ev_loop *loop, struct storage_blob **out,
                                         char error[512]);

#endif
