/* s3.c: see s3.h. */
#include "storage/s3/s3.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/http/percent.h"

#define REGION_WITHOUT_NAME "us-east-1" /* where a bucket is made without naming its region */

struct s3_service {
    struct storage_http_service service; /* first: the transfers point here */
    char endpoint[512];
    char region[64];
    char bucket[64];
    char login[512]; /* "access:secret" */
    char signing[128];
    char token[4096];
};

static enum result check(const struct storage_s3_options *options, char *reason);
static enum result s3_prepare(struct storage_http_service *service, struct storage_http_call *call,
                              struct arena *arena, CURL *easy, struct curl_slist **headers);
static void s3_close(struct storage_http_service *service);

enum result storage_s3_blob_open(struct ev_loop *loop, const struct storage_s3_options *options,
                                 struct storage_blob **out, char reason[STORAGE_S3_REASON_BYTES])
{
    enum result result = check(options, reason);
    struct s3_service *self = result == RESULT_OK ? calloc(1, sizeof *self) : NULL;
    if (self == NULL) {
        return result == RESULT_OK ? RESULT_LIMIT : result;
    }
    size_t endpoint_count = strlen(options->endpoint);
    endpoint_count -= options->endpoint[endpoint_count - 1] == '/';
    snprintf(self->endpoint, sizeof self->endpoint, "%.*s", (int)endpoint_count, options->endpoint);
    snprintf(self->region, sizeof self->region, "%s", options->region);
    snprintf(self->bucket, sizeof self->bucket, "%s", options->bucket);
    snprintf(self->login, sizeof self->login, "%s:%s", options->access_key, options->secret_key);
    snprintf(self->signing, sizeof self->signing, "aws:amz:%s:s3", options->region);
    snprintf(self->token, sizeof self->token, "%s",
             options->session_token == NULL ? "" : options->session_token);
    self->service = (struct storage_http_service){
        .name = "s3",
        .words = {.item = "Contents", .name = "Key", .marker = "NextContinuationToken"},
        .container_missing = "NoSuchBucket",
        .container_exists = "BucketAlreadyOwnedByYou",
        .container_busy = "OperationAborted",
        .prepare = s3_prepare,
        .close = s3_close,
    };
    return storage_http_blob_open(loop, &options->http, &self->service, out);
}

static void s3_close(struct storage_http_service *service)
{
    struct s3_service *self = (struct s3_service *)service;
    explicit_bzero(self, sizeof *self);
    free(self);
}

static enum result refuse(char *reason, const char *why)
{
    snprintf(reason, STORAGE_S3_REASON_BYTES, "%s", why);
    return RESULT_INVALID;
}

/* Only letters, digits and `more`; from `least` to `most` of them. */
static bool is_of(const char *text, const char *more, size_t least, size_t most)
{
    size_t count = 0;
    for (; text[count] != '\0'; count++) {
        char byte = text[count];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9');
        if (!plain && strchr(more, byte) == NULL) {
            return false;
        }
    }
    return count >= least && count <= most;
}

static enum result check(const struct storage_s3_options *options, char *reason)
{
    const char *host = strstr(options->endpoint, "://");
    struct span endpoint = span_text(options->endpoint);
    if ((!span_starts_with(endpoint, "https://") && !span_starts_with(endpoint, "http://")) ||
        endpoint.count > 500 || !is_of(host + 3, ".-:[]/", 1, 500)) {
        return refuse(reason, "the endpoint must be an https:// or http:// URL of a host");
    }
    const char *slash = strchr(host + 3, '/');
    if (slash != NULL && slash[1] != '\0') {
        return refuse(reason, "the endpoint may have no path");
    }
    if (!is_of(options->region, "-", 1, 63)) {
        return refuse(reason, "the region is a name such as eu-central-1");
    }
    if (!is_of(options->bucket, ".-", 3, 63) || options->bucket[0] == '.') {
        return refuse(reason, "a bucket's name is 3 to 63 letters, digits, dots and dashes");
    }
    if (!is_of(options->access_key, "", 1, 128)) {
        return refuse(reason, "the access key is letters and digits");
    }
    if (options->secret_key[0] == '\0' || strlen(options->secret_key) > 256) {
        return refuse(reason, "the secret key is missing or too long");
    }
    if (options->session_token != NULL && strlen(options->session_token) >= 4096) {
        return refuse(reason, "the session token is too long");
    }
    return RESULT_OK;
}

/* The query's parameters in the order of their names, which is what is signed. */
static struct span list_query(const struct storage_http_call *call, struct arena *arena)
{
    struct span query = SPAN_EMPTY;
    if (call->marker.count > 0) {
        struct span marker = storage_percent_encode(arena, call->marker, false);
        query = arena_format(arena, "continuation-token=%.*s&", SPAN_ARG(marker));
    }
    struct span prefix = storage_percent_encode(arena, call->name, false);
    return arena_format(arena, "?%.*slist-type=2&max-keys=%u&prefix=%.*s", SPAN_ARG(query),
                        (unsigned)call->limit, SPAN_ARG(prefix));
}

/* S3 wants the body's hash said, and libcurl (7.88) signs what is said. */
static bool add_hash(struct span body, struct arena *arena, struct curl_slist **headers)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[EVP_MAX_MD_SIZE];
    char text[EVP_MAX_MD_SIZE * 2 + 1];
    unsigned count = 0;
    const void *bytes = body.count > 0 ? (const void *)body.bytes : "";
    if (EVP_Digest(bytes, body.count, digest, &count, EVP_sha256(), NULL) != 1) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        text[i * 2] = digits[digest[i] >> 4];
        text[i * 2 + 1] = digits[digest[i] & 15];
    }
    text[count * 2] = '\0';
    return storage_http_header(headers, arena, "x-amz-content-sha256", text);
}

static enum result s3_prepare(struct storage_http_service *service, struct storage_http_call *call,
                              struct arena *arena, CURL *easy, struct curl_slist **headers)
{
    struct s3_service *self = (struct s3_service *)service;
    struct span tail = SPAN_EMPTY;
    bool sound = true;
    if (call->verb == STORAGE_HTTP_LIST) {
        tail = list_query(call, arena);
    } else if (call->verb != STORAGE_HTTP_MAKE) {
        struct span name = storage_percent_encode(arena, call->name, true);
        tail = arena_format(arena, "/%.*s", SPAN_ARG(name));
    } else if (strcmp(self->region, REGION_WITHOUT_NAME) != 0) {
        call->body = arena_format(
            arena,
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<LocationConstraint>%s</LocationConstraint></CreateBucketConfiguration>",
            self->region);
    }
    struct span url =
        arena_format(arena, "%s/%s%.*s", self->endpoint, self->bucket, SPAN_ARG(tail));
    if (call->verb == STORAGE_HTTP_PUT) {
        sound = storage_http_header(headers, arena, "Content-Type", "application/octet-stream");
    } else if (call->verb == STORAGE_HTTP_MAKE) {
        sound = storage_http_header(headers, arena, "Content-Type", "application/xml");
    }
    /* (No "Expect:" as Azure gets: libcurl 7.88 signs that header but does not send it.) */
    sound = sound && add_hash(call->body, arena, headers);
    if (self->token[0] != '\0') {
        sound = sound && storage_http_header(headers, arena, "x-amz-security-token", self->token);
    }
    if (!sound || arena->overflowed) {
        return RESULT_LIMIT;
    }
    bool set = curl_easy_setopt(easy, CURLOPT_URL, (const char *)url.bytes) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_USERPWD, self->login) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, self->signing) == CURLE_OK;
    return set ? RESULT_OK : RESULT_LIMIT;
}
