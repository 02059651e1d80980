/* s3_standin.c: see s3_standin.h. */
#include "tests/servers/s3_standin.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 8192

/* The request line, taken apart. */
struct call {
    char method[16];
    char path[2048];
    char query[2048];
};

static struct scripted_reply on_request(void *owner, const struct scripted_request *request);
static bool signature_is_right(struct s3_standin *s3, const struct scripted_request *request,
                               const struct call *call);
static bool header(const struct scripted_request *request, const char *name, size_t name_count,
                   char *out, size_t capacity);

bool s3_standin_start(struct s3_standin *s3, struct ev_loop *loop)
{
    *s3 = (struct s3_standin){
        .access_key = "ACCESS", .secret_key = "secret/+key", .region = "us-east-1"};
    bool started = scripted_start(&s3->server, loop, NULL, 0);
    s3->server.function = on_request;
    s3->server.owner = s3;
    return started;
}

void s3_standin_stop(struct s3_standin *s3)
{
    scripted_stop(&s3->server);
    for (size_t i = 0; i < s3->object_count; i++) {
        free(s3->objects[i].bytes);
    }
    free((void *)(uintptr_t)s3->late.head);
    free((void *)(uintptr_t)s3->late.body);
}

/* ---- objects ---- */

static struct scripted_reply error(int status, const char *code)
{
    struct scripted_reply reply = {.status = status, .body = malloc(200)};
    reply.body_count = (size_t)snprintf(
        reply.body, 200, "<?xml version=\"1.0\"?><Error><Code>%s</Code></Error>", code);
    return reply;
}

/* Where a name stands, or would. */
static size_t place_of(const struct s3_standin *s3, const char *name, bool *there)
{
    size_t at = 0;
    while (at < s3->object_count && strcmp(s3->objects[at].name, name) < 0) {
        at++;
    }
    *there = at < s3->object_count && strcmp(s3->objects[at].name, name) == 0;
    return at;
}

static void tell_version(const struct s3_standin_object *object, struct scripted_reply *reply)
{
    snprintf(reply->headers, sizeof reply->headers, "ETag: \"%lu\"\r\n", object->version);
}

/* 0: a put may be done, as far as its conditions go. */
static int check_conditions(const struct s3_standin *s3, const struct scripted_request *request,
                            const struct s3_standin_object *object)
{
    char wanted[128], found[128] = "";
    if (object != NULL) {
        snprintf(found, sizeof found, "\"%lu\"", object->version);
    }
    bool matches = header(request, "if-match", 8, wanted, sizeof wanted);
    if (matches && object == NULL && !s3->knows_no_conditions) {
        return 404;
    }
    bool none = !matches && header(request, "if-none-match", 13, wanted, sizeof wanted);
    if ((matches || none) && s3->knows_no_conditions) {
        return 501;
    }
    return (matches && strcmp(wanted, found) != 0) || (none && object != NULL) ? 412 : 0;
}

static struct scripted_reply put(struct s3_standin *s3, const char *name,
                                 const struct scripted_request *request)
{
    bool there = false;
    size_t at = place_of(s3, name, &there);
    int refused = check_conditions(s3, request, there ? &s3->objects[at] : NULL);
    if (refused != 0) {
        return error(refused, refused == 404   ? "NoSuchKey"
                              : refused == 412 ? "PreconditionFailed"
                                               : "NotImplemented");
    }
    if (!there && s3->object_count == S3_STANDIN_OBJECTS_MAX) {
        return error(507, "Full");
    }
    if (!there) {
        memmove(&s3->objects[at + 1], &s3->objects[at],
                (s3->object_count - at) * sizeof s3->objects[0]);
        s3->object_count++;
        s3->objects[at] = (struct s3_standin_object){0};
        snprintf(s3->objects[at].name, sizeof s3->objects[at].name, "%s", name);
    }
    free(s3->objects[at].bytes);
    s3->objects[at].bytes = malloc(request->body_count + 1);
    s3->objects[at].count = request->body_count;
    memcpy(s3->objects[at].bytes, request->body, request->body_count);
    s3->objects[at].version = ++s3->version_last;
    struct scripted_reply reply = {.status = 200};
    tell_version(&s3->objects[at], &reply);
    return reply;
}

static struct scripted_reply get(struct s3_standin *s3, const char *name)
{
    bool there = false;
    const struct s3_standin_object *object = &s3->objects[place_of(s3, name, &there)];
    if (!there) {
        return error(404, "NoSuchKey");
    }
    struct scripted_reply reply = {
        .status = 200, .body = malloc(object->count + 1), .body_count = object->count};
    memcpy(reply.body, object->bytes, object->count);
    tell_version(object, &reply);
    return reply;
}

static struct scripted_reply look(struct s3_standin *s3, const char *name)
{
    bool there = false;
    const struct s3_standin_object *object = &s3->objects[place_of(s3, name, &there)];
    struct scripted_reply reply = {.status = there ? 200 : 404};
    if (there) {
        tell_version(object, &reply);
    }
    return reply;
}

static struct scripted_reply erase(struct s3_standin *s3, const char *name)
{
    bool there = false;
    size_t at = place_of(s3, name, &there);
    if (there) {
        free(s3->objects[at].bytes);
        s3->object_count--;
        memmove(&s3->objects[at], &s3->objects[at + 1],
                (s3->object_count - at) * sizeof s3->objects[0]);
    }
    return (struct scripted_reply){.status = 204};
}

static size_t decode(const char *text, size_t count, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used + 1 < capacity; i++) {
        char hex[3] = {0};
        if (text[i] == '%' && i + 2 < count) {
            memcpy(hex, text + i + 1, 2);
            out[used++] = (char)strtoul(hex, NULL, 16);
            i += 2;
        } else {
            out[used++] = text[i];
        }
    }
    out[used] = '\0';
    return used;
}

/* The decoded value of a query's parameter; "" when it is not there. */
static void parameter(const char *query, const char *name, char *out, size_t capacity)
{
    size_t name_count = strlen(name);
    out[0] = '\0';
    for (const char *at = query; *at != '\0'; at += strcspn(at, "&"), at += *at == '&') {
        if (strncmp(at, name, name_count) == 0 && at[name_count] == '=') {
            const char *value = at + name_count + 1;
            decode(value, strcspn(value, "&"), out, capacity);
        }
    }
}

/* A page: names in order, at most max-keys; the token is the last name of the page before. */
static struct scripted_reply list(const struct s3_standin *s3, const char *bucket,
                                  const char *query)
{
    char prefix[S3_STANDIN_NAME_BYTES];
    char token[S3_STANDIN_NAME_BYTES];
    char limit[16];
    size_t bucket_count = strlen(bucket);
    size_t keys = 0;
    const char *last = "";
    bool more = false;
    struct scripted_reply reply = {.status = 200};
    FILE *out = open_memstream(&reply.body, &reply.body_count);
    parameter(query, "prefix", prefix, sizeof prefix);
    parameter(query, "continuation-token", token, sizeof token);
    parameter(query, "max-keys", limit, sizeof limit);
    fprintf(out, "<ListBucketResult><Name>%s</Name>", bucket);
    for (size_t i = 0; i < s3->object_count && !more; i++) {
        const char *name = s3->objects[i].name;
        const char *key = name + bucket_count + 1;
        if (strncmp(name, bucket, bucket_count) != 0 || name[bucket_count] != '/' ||
            strncmp(key, prefix, strlen(prefix)) != 0 || strcmp(key, token) <= 0) {
            continue;
        }
        more = keys == strtoul(limit, NULL, 10) || (s3->page_max > 0 && keys == s3->page_max);
        if (!more) {
            fprintf(out, "<Contents><Key>%s</Key></Contents>", key);
            last = key;
            keys++;
        }
    }
    if (more) {
        fprintf(out, "<NextContinuationToken>%s</NextContinuationToken>", last);
    }
    fprintf(out, "</ListBucketResult>");
    fclose(out);
    return reply;
}

static struct scripted_reply put_in_time(struct s3_standin *s3, const char *name,
                                         const struct scripted_request *request)
{
    enum s3_standin_late late = s3->next_put;
    s3->next_put = S3_IN_TIME;
    if (late == S3_LATE) {
        char *body = malloc(request->body_count + 1);
        memcpy(body, request->body, request->body_count);
        s3->late = (struct scripted_request){
            .head = strdup(request->head), .body = body, .body_count = request->body_count};
        return (struct scripted_reply){0};
    }
    struct scripted_reply reply = put(s3, name, request);
    reply.status = late == S3_ANSWER_LOST ? 0 : reply.status;
    return reply;
}

int s3_standin_run_late(struct s3_standin *s3)
{
    if (s3->late.head == NULL) {
        return 0;
    }
    struct scripted_reply reply = on_request(s3, &s3->late);
    free((void *)(uintptr_t)s3->late.head);
    free((void *)(uintptr_t)s3->late.body);
    s3->late = (struct scripted_request){0};
    free(reply.body);
    return reply.status;
}

static struct scripted_reply on_request(void *owner, const struct scripted_request *request)
{
    struct s3_standin *s3 = owner;
    struct call call = {0};
    char name[S3_STANDIN_NAME_BYTES];
    char bucket[64];
    bool there = false;
    if (sscanf(request->head, "%15s %2047[^ ?]?%2047[^ ]", call.method, call.path, call.query) <
            2 ||
        !signature_is_right(s3, request, &call)) {
        return error(403, "SignatureDoesNotMatch");
    }
    decode(call.path + 1, strlen(call.path + 1), name, sizeof name);
    snprintf(bucket, sizeof bucket, "%.*s", (int)strcspn(name, "/"), name);
    bool of_bucket = strcmp(bucket, name) == 0;
    place_of(s3, bucket, &there);
    if (!there && !(of_bucket && strcmp(call.method, "PUT") == 0)) {
        return error(404, "NoSuchBucket");
    }
    if (strcmp(call.method, "PUT") == 0) {
        return there && of_bucket ? error(409, "BucketAlreadyOwnedByYou")
               : of_bucket        ? put(s3, name, request)
                                  : put_in_time(s3, name, request);
    }
    if (strcmp(call.method, "HEAD") == 0) {
        return look(s3, name);
    }
    if (strcmp(call.method, "DELETE") == 0) {
        return erase(s3, name);
    }
    return of_bucket ? list(s3, bucket, call.query) : get(s3, name);
}

/* ---- signatures ---- */

static void to_hex(const uint8_t *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(out + i * 2, 3, "%02x", bytes[i]);
    }
}

static void hash(const void *bytes, size_t count, char out[65])
{
    uint8_t digest[32];
    EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
    to_hex(digest, sizeof digest, out);
}

static void sign(const void *key, size_t key_count, const char *text, uint8_t out[32])
{
    HMAC(EVP_sha256(), key, (int)key_count, (const unsigned char *)text, strlen(text), out, NULL);
}

/* A header's value without the spaces around it; false when there is no such header. */
static bool header(const struct scripted_request *request, const char *name, size_t name_count,
                   char *out, size_t capacity)
{
    for (const char *line = strstr(request->head, "\r\n"); line != NULL;
         line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, name_count) == 0 && line[2 + name_count] == ':') {
            const char *value = line + 3 + name_count;
            value += strspn(value, " ");
            snprintf(out, capacity, "%.*s", (int)strcspn(value, "\r"), value);
            return true;
        }
    }
    return false;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The parameters in the order of their names. */
static void canonical_query(const char *query, char *out, size_t capacity)
{
    char copy[2048];
    char *parts[32];
    size_t count = 0;
    size_t used = 0;
    char *rest = copy;
    snprintf(copy, sizeof copy, "%s", query);
    for (char *part = strsep(&rest, "&"); part != NULL && *part != '\0' && count < 32;
         part = strsep(&rest, "&")) {
        parts[count++] = part;
    }
    qsort(parts, count, sizeof parts[0], compare_texts);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i > 0 ? "&" : "", parts[i]);
    }
}

/* Decoded and encoded again: S3 encodes all but A-Z a-z 0-9 - . _ ~ and the '/'. */
static void canonical_path(const char *path, char *out, size_t capacity)
{
    char plain[2048];
    size_t used = 0;
    size_t count = decode(path, strlen(path), plain, sizeof plain);
    for (size_t i = 0; i < count && used + 4 < capacity; i++) {
        bool kept = isalnum((unsigned char)plain[i]) || strchr("-._~/", plain[i]) != NULL;
        used += (size_t)snprintf(out + used, capacity - used, kept ? "%c" : "%%%02X",
                                 (unsigned char)plain[i]);
    }
}

static bool refuse(struct s3_standin *s3, const char *why)
{
    snprintf(s3->refused, sizeof s3->refused, "%s", why);
    return false;
}

/* https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html */
static bool signature_is_right(struct s3_standin *s3, const struct scripted_request *request,
                               const struct call *call)
{
    char line[1024];
    char credential[256];
    char names[512];
    char signature[128];
    char date[32];
    char stated[80];
    char body_hash[65];
    char value[4096];
    char text[TEXT_BYTES];
    char path[4096];
    char query[2048];
    if (!header(request, "authorization", 13, line, sizeof line) ||
        sscanf(line,
               "AWS4-HMAC-SHA256 Credential=%255[^,], SignedHeaders=%511[^,], "
               "Signature=%127s",
               credential, names, signature) != 3) {
        return refuse(s3, "no Authorization of Signature Version 4");
    }
    hash(request->body, request->body_count, body_hash);
    if (!header(request, "x-amz-date", 10, date, sizeof date) ||
        !header(request, "x-amz-content-sha256", 20, stated, sizeof stated) ||
        strcmp(stated, body_hash) != 0) {
        return refuse(s3, "x-amz-date or x-amz-content-sha256 is missing or wrong");
    }
    char scope[256];
    snprintf(scope, sizeof scope, "%.8s/%s/s3/aws4_request", date, s3->region);
    snprintf(value, sizeof value, "%s/%s", s3->access_key, scope);
    if (strcmp(value, credential) != 0) {
        return refuse(s3, "another credential or scope");
    }
    canonical_path(call->path, path, sizeof path);
    canonical_query(call->query, query, sizeof query);
    size_t used = (size_t)snprintf(text, sizeof text, "%s\n%s\n%s\n", call->method, path, query);
    for (const char *at = names; *at != '\0'; at += strcspn(at, ";"), at += *at == ';') {
        size_t count = strcspn(at, ";");
        if (!header(request, at, count, value, sizeof value)) {
            return refuse(s3, "a header is signed that was not sent");
        }
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%.*s:%s\n", (int)count, at, value);
    }
    if (header(request, "x-amz-security-token", 20, value, sizeof value) &&
        strstr(names, "x-amz-security-token") == NULL) {
        return refuse(s3, "the session token is not signed");
    }
    if (strstr(names, "host;") == NULL || strstr(names, "x-amz-content-sha256") == NULL) {
        return refuse(s3, "host or body are not signed");
    }
    snprintf(text + used, sizeof text - used, "\n%s\n%s", names, body_hash);
    char request_hash[65];
    char to_sign[512];
    uint8_t key[32];
    char expected[65];
    hash(text, strlen(text), request_hash);
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", date, scope, request_hash);
    snprintf(value, sizeof value, "AWS4%s", s3->secret_key);
    date[8] = '\0';
    sign(value, strlen(value), date, key);
    sign(key, sizeof key, s3->region, key);
    sign(key, sizeof key, "s3", key);
    sign(key, sizeof key, "aws4_request", key);
    sign(key, sizeof key, to_sign, key);
    to_hex(key, sizeof key, expected);
    return strcmp(expected, signature) == 0 || refuse(s3, "the signature does not match");
}
