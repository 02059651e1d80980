/* azure.c: see azure.h. */
#include "storage/azure/azure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/assert.h"
#include "storage/http/percent.h"

#define VERSION        "2021-12-02"
#define CONTENT_TYPE   "application/octet-stream"
#define DATE_BYTES     32u
#define PARAMETERS_MAX 5u

struct azure_service {
    struct storage_http_service service; /* first: the transfers point here */
    struct storage_azure_account account;
    char container[64];
};

static enum result azure_prepare(struct storage_http_service *service,
                                 struct storage_http_call *call, struct arena *arena, CURL *easy,
                                 struct curl_slist **headers);
static void azure_close(struct storage_http_service *service);

enum result storage_azure_blob_open(struct ev_loop *loop,
                                    const struct storage_azure_options *options,
                                    struct storage_blob **out,
                                    char reason[STORAGE_AZURE_REASON_BYTES])
{
    if (!storage_azure_container_is_valid(options->container)) {
        snprintf(reason, STORAGE_AZURE_REASON_BYTES,
                 "a container's name is 3 to 63 lower-case letters, digits and single dashes");
        return RESULT_INVALID;
    }
    struct azure_service *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = storage_azure_account_read(options->connection, &self->account, reason);
    if (result != RESULT_OK) {
        azure_close(&self->service);
        return result;
    }
    snprintf(self->container, sizeof self->container, "%s", options->container);
    self->service = (struct storage_http_service){
        .name = "azure",
        .words = {.item = "Blob", .name = "Name", .marker = "NextMarker"},
        .container_missing = "ContainerNotFound",
        .container_exists = "ContainerAlreadyExists",
        .container_busy = "ContainerBeingDeleted",
        .condition_failed = "ConditionNotMet",
        .blob_exists = "BlobAlreadyExists",
        .blob_missing = "BlobNotFound",
        .blob_busy = "",
        .prepare = azure_prepare,
        .close = azure_close,
    };
    return storage_http_blob_open(loop, &options->http, &self->service, out);
}

static void azure_close(struct storage_http_service *service)
{
    struct azure_service *self = (struct azure_service *)service;
    explicit_bzero(&self->account, sizeof self->account);
    free(self);
}

/* RFC 1123, in English whatever the locale. */
static void format_date(char out[DATE_BYTES])
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct timespec now;
    struct tm date;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    snprintf(out, DATE_BYTES, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[date.tm_wday],
             date.tm_mday, months[date.tm_mon], date.tm_year + 1900, date.tm_hour, date.tm_min,
             date.tm_sec);
}

/* The parameters of a call's query in the order of their names. */
static size_t parameters_of(const struct storage_http_call *call, struct arena *arena,
                            struct storage_azure_parameter out[PARAMETERS_MAX])
{
    size_t count = 0;
    bool lists = call->verb == STORAGE_HTTP_LIST;
    if (lists) {
        out[count++] = (struct storage_azure_parameter){"comp", span_text("list")};
    }
    if (lists && call->marker.count > 0) {
        out[count++] = (struct storage_azure_parameter){"marker", call->marker};
    }
    if (lists) {
        out[count++] = (struct storage_azure_parameter){
            "maxresults", arena_format(arena, "%u", (unsigned)call->limit)};
    }
    if (lists && call->name.count > 0) {
        out[count++] = (struct storage_azure_parameter){"prefix", call->name};
    }
    if (lists || call->verb == STORAGE_HTTP_MAKE) {
        out[count++] = (struct storage_azure_parameter){"restype", span_text("container")};
    }
    return count;
}

/* What follows the host in an http(s) URL. */
static struct span path_of(struct span url)
{
    const uint8_t *host = (const uint8_t *)memmem(url.bytes, url.count, "://", 3) + 3;
    size_t left = (size_t)(url.bytes + url.count - host);
    const uint8_t *path = memchr(host, '/', left);
    return path == NULL ? SPAN_EMPTY : span_of(path, (size_t)(url.bytes + url.count - path));
}

static enum result azure_prepare(struct storage_http_service *service,
                                 struct storage_http_call *call, struct arena *arena, CURL *easy,
                                 struct curl_slist **headers)
{
    static const char *const methods[] = {
        [STORAGE_HTTP_PUT] = "PUT",  [STORAGE_HTTP_GET] = "GET",  [STORAGE_HTTP_DELETE] = "DELETE",
        [STORAGE_HTTP_LIST] = "GET", [STORAGE_HTTP_MAKE] = "PUT", [STORAGE_HTTP_LOOK] = "HEAD",
    };
    struct azure_service *self = (struct azure_service *)service;
    struct storage_azure_parameter parameters[PARAMETERS_MAX];
    size_t parameter_count = parameters_of(call, arena, parameters);
    ASSERT(parameter_count <= PARAMETERS_MAX);
    bool puts = call->verb == STORAGE_HTTP_PUT;
    bool of_container = call->verb == STORAGE_HTTP_LIST || call->verb == STORAGE_HTTP_MAKE;
    struct span name = of_container ? SPAN_EMPTY : storage_percent_encode(arena, call->name, true);
    struct span url = arena_format(arena, "%s/%s%s%.*s", self->account.endpoint, self->container,
                                   of_container ? "" : "/", SPAN_ARG(name));
    struct span whole = url;
    for (size_t i = 0; i < parameter_count; i++) {
        struct span value = storage_percent_encode(arena, parameters[i].value, false);
        whole = arena_format(arena, "%.*s%c%s=%.*s", SPAN_ARG(whole), i == 0 ? '?' : '&',
                             parameters[i].name, SPAN_ARG(value));
    }
    if (self->account.key_count == 0) {
        whole = arena_format(arena, "%.*s%c%s", SPAN_ARG(whole), parameter_count == 0 ? '?' : '&',
                             self->account.sas);
    }
    char date[DATE_BYTES];
    format_date(date);
    const struct storage_azure_request request = {
        .method = methods[call->verb],
        .content_bytes = puts ? call->body.count : 0,
        .content_type = puts || call->verb == STORAGE_HTTP_MAKE ? CONTENT_TYPE : "",
        .date = date,
        .version = VERSION,
        .blob_type = puts ? "BlockBlob" : "",
        .if_match = call->if_match,
        .if_none_match = call->if_none ? "*" : NULL,
        .path = url.count > 0 ? path_of(url) : SPAN_EMPTY,
        .parameters = parameters,
        .parameter_count = parameter_count,
    };
    /* (Without "Expect:" a large upload would wait for a "100 Continue".) */
    bool sound = storage_http_header(headers, arena, "Expect", "") &&
                 storage_http_header(headers, arena, "x-ms-date", date) &&
                 storage_http_header(headers, arena, "x-ms-version", VERSION);
    if (request.content_type[0] != '\0') {
        sound = sound && storage_http_header(headers, arena, "Content-Type", CONTENT_TYPE);
    }
    if (puts) {
        sound = sound && storage_http_header(headers, arena, "x-ms-blob-type", "BlockBlob");
    }
    if (call->if_match != NULL) {
        sound = sound && storage_http_header(headers, arena, "If-Match", call->if_match);
    }
    if (call->if_none) {
        sound = sound && storage_http_header(headers, arena, "If-None-Match", "*");
    }
    if (self->account.key_count > 0) {
        struct span text = storage_azure_string_to_sign(&self->account, &request, arena);
        struct span signature = storage_azure_authorization(&self->account, text, arena);
        sound = sound && signature.count > 0 &&
                storage_http_header(headers, arena, "Authorization", (const char *)signature.bytes);
    }
    if (!sound || arena->overflowed) {
        return RESULT_LIMIT;
    }
    return curl_easy_setopt(easy, CURLOPT_URL, (const char *)whole.bytes) == CURLE_OK
               ? RESULT_OK
               : RESULT_LIMIT;
}
