/*
 * storage_fuzz.c: what the storage adapters read from configs, services and directories. The first
 * byte picks the reader: URLs of Redis, connection strings of Azure, listings, names of blobs as
 * paths and back, queries of the index, audit messages. What is refused has a reason; a blob's name
 * and its path are one to one.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "storage/audit_message.h"
#include "storage/azure/account.h"
#include "storage/folder/file_name.h"
#include "storage/http/listing.h"
#include "storage/index_query.h"
#include "storage/redis/redis_url.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES_MAX = 64 << 20 };

static struct arena arena;

static void read_url(const char *text)
{
    struct storage_redis_place place;
    char reason[STORAGE_REDIS_REASON_BYTES] = "";
    enum result result = storage_redis_url_read(text, &place, reason);
    MUST((result == RESULT_OK) == (reason[0] == '\0'));
    MUST(result != RESULT_OK || (place.port > 0 && place.host[0] != '\0'));
}

static void read_connection(const char *text)
{
    struct storage_azure_account account;
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    enum result result = storage_azure_account_read(text, &account, reason);
    MUST((result == RESULT_OK) == (reason[0] == '\0'));
    MUST(result != RESULT_OK || (account.key_count > 0) != (account.sas[0] != '\0'));
    (void)storage_azure_container_is_valid(text);
}

static void count_name(void *owner, struct span name)
{
    size_t *bytes = owner;
    *bytes += name.count;
}

static void read_listing(struct span input)
{
    static const struct storage_listing_words words = {"Blob", "Name", "NextMarker"};
    struct span marker;
    size_t bytes = 0;
    if (storage_listing_read(input, &words, &arena, count_name, &bytes, &marker) == RESULT_OK) {
        MUST(bytes + marker.count <= input.count);
    }
}

static void read_name(struct span input)
{
    char path[STORAGE_FOLDER_PATH_MAX];
    uint8_t name[STORAGE_FOLDER_NAME_MAX];
    size_t count = 0;
    if (storage_folder_path(input, path) != RESULT_OK) {
        MUST(input.count == 0 || input.count > STORAGE_FOLDER_NAME_MAX);
        return;
    }
    MUST(strlen(path) < sizeof path && path[0] != '/' && path[0] != '.');
    MUST(strstr(path, "/.") == NULL);
    if (input.bytes[input.count - 1] != '/') {
        MUST(storage_folder_name(path, name, &count));
        MUST(span_equal(span_of(name, count), input));
    }
}

static void read_path(const char *text)
{
    char path[STORAGE_FOLDER_PATH_MAX];
    uint8_t name[STORAGE_FOLDER_NAME_MAX];
    size_t count = 0;
    if (storage_folder_name(text, name, &count)) {
        MUST(storage_folder_path(span_of(name, count), path) == RESULT_OK);
        MUST(strcmp(path, text) == 0);
    }
}

static void read_value(struct span input)
{
    struct storage_index_query query;
    struct storage_audit_message message;
    size_t offset = 0;
    const char *reason = NULL;
    if (wire_validate(input, LIMIT_DEPTH, &offset, &reason) != RESULT_OK) {
        return;
    }
    if (storage_index_query_read(input, &query) == RESULT_OK) {
        MUST(query.limit >= 1 && query.limit <= 1000);
    }
    if (storage_audit_message_read(input, &message)) {
        MUST(message.execution_id.count > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0) {
        return 0;
    }
    char *text = malloc(count);
    memcpy(text, bytes + 1, count - 1);
    text[count - 1] = '\0';
    struct span input = span_of(bytes + 1, count - 1);
    arena_init(&arena, 4096, ARENA_BYTES_MAX);
    switch (bytes[0] % 6) {
    case 0:
        read_url(text);
        break;
    case 1:
        read_connection(text);
        break;
    case 2:
        read_listing(input);
        break;
    case 3:
        read_name(input);
        break;
    case 4:
        read_path(text);
        break;
    case 5:
        read_value(input);
        break;
    }
    arena_release(&arena);
    free(text);
    return 0;
}
