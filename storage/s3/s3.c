/* s3.c: see s3.h. */
#include "storage/s3/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "storage/http/percent.h"
#include "storage/s3/sign.h"

#define REGION_WITHOUT_NAME "us-east-1" /* where a bucket is made without naming its region */

struct s3_service {
    struct storage_http_service service; /* first: the transfers point here */
    char endpoint[512];
    char region[64];
    char bucket[64];
    struct span host; /* of the endpoint, its port included */
    struct storage_s3_signer signer;
    char token[4096];
};

static enum result check(const struct storage_s3_options *options, char *reason);
static enum result s3_prepare(struct storage_http_service *service, struct storage_http_call *call,
                              struct arena *arena, CURL *easy, struct curl_slist **headers);
static void s3_close(struct storage_http_service *service);
static void service_free(struct s3_service *self);

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
    self->host = span_text(strstr(self->endpoint, "://") + 3);
    snprintf(self->token, sizeof self->token, "%s",
             options->session_token == NULL ? "" : options->session_token);
    self->service = (struct storage_http_service){
        .name = "s3",
        .words = {.item = "Contents", .name = "Key", .marker = "NextContinuationToken"},
        .container_missing = "NoSuchBucket",
        .container_exists = "BucketAlreadyOwnedByYou",
        .container_busy = "OperationAborted",
        .condition_failed = "PreconditionFailed",
        .blob_exists = "",
        .blob_missing = "NoSuchKey",
        .blob_busy = "ConditionalRequestConflict",
        .prepare = s3_prepare,
        .close = s3_close,
    };
    result = storage_s3_signer_init(&self->signer, options->access_key, options->secret_key,
                                    options->region);
    if (result != RESULT_OK) {
        service_free(self);
        return result;
    }
    return storage_http_blob_open(loop, &options->http, &self->service, out);
}

static void s3_close(struct storage_http_service *service)
{
    service_free((struct s3_service *)service);
}

static void service_free(struct s3_service *self)
{
    storage_s3_signer_release(&self->signer);
    explicit_bzero(self->token, sizeof self->token);
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
    return arena_format(arena, "%.*slist-type=2&max-keys=%u&prefix=%.*s", SPAN_ARG(query),
                        (unsigned)call->limit, SPAN_ARG(prefix));
}

static struct span path_of(const struct s3_service *self, const struct storage_http_call *call,
                           struct arena *arena)
{
    if (call->verb == STORAGE_HTTP_LIST || call->verb == STORAGE_HTTP_MAKE) {
        return arena_format(arena, "/%s", self->bucket);
    }
    struct span name = storage_percent_encode(arena, call->name, true);
    return arena_format(arena, "/%s/%.*s", self->bucket, SPAN_ARG(name));
}

static void format_date(char out[STORAGE_S3_DATE_TEXT + 1])
{
    struct timespec now;
    struct tm date;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    strftime(out, STORAGE_S3_DATE_TEXT + 1, "%Y%m%dT%H%M%SZ", &date);
}

/* All but Content-Type and conditions is signed. Without "Expect:" a large upload would wait for
 * "100 Continue".
 */
static bool add_headers(struct s3_service *self, const struct storage_http_call *call,
                        const struct storage_s3_request *request, struct arena *arena,
                        struct curl_slist **headers)
{
    const char *type = call->verb == STORAGE_HTTP_MAKE  ? "application/xml"
                       : call->verb == STORAGE_HTTP_PUT ? "application/octet-stream"
                                                        : "";
    struct span authorization = storage_s3_authorization(&self->signer, request, arena);
    return authorization.count > 0 && storage_http_header(headers, arena, "Expect", "") &&
           storage_http_header(headers, arena, "Host", (const char *)request->host.bytes) &&
           storage_http_header(headers, arena, "x-amz-date", request->date) &&
           storage_http_header(headers, arena, "x-amz-content-sha256", request->body_hash) &&
           (request->token[0] == '\0' ||
            storage_http_header(headers, arena, "x-amz-security-token", request->token)) &&
           (type[0] == '\0' || storage_http_header(headers, arena, "Content-Type", type)) &&
           (call->if_match == NULL ||
            storage_http_header(headers, arena, "If-Match", call->if_match)) &&
           (!call->if_none || storage_http_header(headers, arena, "If-None-Match", "*")) &&
           storage_http_header(headers, arena, "Authorization", (const char *)authorization.bytes);
}

static enum result s3_prepare(struct storage_http_service *service, struct storage_http_call *call,
                              struct arena *arena, CURL *easy, struct curl_slist **headers)
{
    static const char *const methods[] = {
        [STORAGE_HTTP_PUT] = "PUT",  [STORAGE_HTTP_GET] = "GET",  [STORAGE_HTTP_DELETE] = "DELETE",
        [STORAGE_HTTP_LIST] = "GET", [STORAGE_HTTP_MAKE] = "PUT", [STORAGE_HTTP_LOOK] = "HEAD",
    };
    struct s3_service *self = (struct s3_service *)service;
    if (call->verb == STORAGE_HTTP_MAKE && strcmp(self->region, REGION_WITHOUT_NAME) != 0) {
        call->body = arena_format(
            arena,
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<LocationConstraint>%s</LocationConstraint></CreateBucketConfiguration>",
            self->region);
    }
    struct storage_s3_request request = {.method = methods[call->verb],
                                         .host = self->host,
                                         .path = path_of(self, call, arena),
                                         .token = self->token};
    if (call->verb == STORAGE_HTTP_LIST) {
        request.query = list_query(call, arena);
    }
    format_date(request.date);
    struct span url = arena_format(arena, "%s%.*s%s%.*s", self->endpoint, SPAN_ARG(request.path),
                                   request.query.count > 0 ? "?" : "", SPAN_ARG(request.query));
    bool sound = storage_s3_hash(&self->signer, call->body, request.body_hash) &&
                 add_headers(self, call, &request, arena, headers) && !arena->overflowed;
    return sound && curl_easy_setopt(easy, CURLOPT_URL, (const char *)url.bytes) == CURLE_OK
               ? RESULT_OK
               : RESULT_LIMIT;
}
