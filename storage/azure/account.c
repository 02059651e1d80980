/* account.c: see account.h. */
#include "storage/azure/account.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX_DEFAULT "core.windows.net"
/* Public: the same in every emulator. */
#define EMULATOR                                                                                   \
    "AccountName=devstoreaccount1;AccountKey="                                                     \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"    \
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1"

/* The parts of a connection string, empty where absent. */
struct parts {
    struct span protocol;
    struct span name;
    struct span key;
    struct span suffix;
    struct span endpoint;
    struct span sas;
    struct span development;
};

static enum result read_parts(struct span text, struct parts *out, char *reason);
static enum result read_key(struct span text, struct storage_azure_account *out);

static enum result refuse(char *reason, const char *why)
{
    snprintf(reason, STORAGE_AZURE_REASON_BYTES, "%s", why);
    return RESULT_INVALID;
}

static bool is_of(struct span text, const char *more)
{
    for (size_t i = 0; i < text.count; i++) {
        uint8_t byte = text.bytes[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
        if (!plain && (byte == 0 || strchr(more, byte) == NULL)) {
            return false;
        }
    }
    return text.count > 0;
}

static bool copy(struct span text, char *out, size_t capacity)
{
    if (text.count >= capacity) {
        return false;
    }
    snprintf(out, capacity, "%.*s", SPAN_ARG(text));
    return true;
}

enum result storage_azure_account_read(const char *connection, struct storage_azure_account *out,
                                       char reason[STORAGE_AZURE_REASON_BYTES])
{
    struct parts parts;
    *out = (struct storage_azure_account){0};
    enum result result = read_parts(span_text(connection), &parts, reason);
    if (result == RESULT_OK && parts.development.count > 0) {
        if (!span_is(parts.development, "true")) {
            return refuse(reason, "UseDevelopmentStorage can only be true");
        }
        result = read_parts(span_text(EMULATOR), &parts, reason);
    }
    if (result != RESULT_OK) {
        return result;
    }
    if (parts.key.count > 0 && parts.sas.count > 0) {
        return refuse(reason, "AccountKey and SharedAccessSignature exclude each other");
    }
    if (parts.key.count == 0 && parts.sas.count == 0) {
        return refuse(reason, "there is neither AccountKey nor SharedAccessSignature");
    }
    if (parts.name.count > 0 && (!is_of(parts.name, "") || parts.name.count > 63)) {
        return refuse(reason, "AccountName is lower-case letters and digits");
    }
    if (parts.name.count == 0 && (parts.key.count > 0 || parts.endpoint.count == 0)) {
        return refuse(reason, "AccountName is missing");
    }
    copy(parts.name, out->name, sizeof out->name);
    if (parts.endpoint.count == 0) {
        struct span protocol = parts.protocol.count > 0 ? parts.protocol : span_text("https");
        struct span suffix = parts.suffix.count > 0 ? parts.suffix : span_text(SUFFIX_DEFAULT);
        if (!span_is(protocol, "https") && !span_is(protocol, "http")) {
            return refuse(reason, "DefaultEndpointsProtocol is https or http");
        }
        if (!is_of(suffix, ".-ABCDEFGHIJKLMNOPQRSTUVWXYZ:") || suffix.count > 200) {
            return refuse(reason, "EndpointSuffix is no host name");
        }
        snprintf(out->endpoint, sizeof out->endpoint, "%.*s://%s.blob.%.*s", SPAN_ARG(protocol),
                 out->name, SPAN_ARG(suffix));
    } else {
        struct span endpoint = parts.endpoint;
        while (endpoint.count > 0 && endpoint.bytes[endpoint.count - 1] == '/') {
            endpoint.count--;
        }
        if ((!span_starts_with(endpoint, "https://") && !span_starts_with(endpoint, "http://")) ||
            memchr(endpoint.bytes, '?', endpoint.count) != NULL ||
            !copy(endpoint, out->endpoint, sizeof out->endpoint)) {
            return refuse(reason, "BlobEndpoint must be an https:// or http:// URL without query");
        }
    }
    if (parts.key.count > 0 && read_key(parts.key, out) != RESULT_OK) {
        return refuse(reason, "AccountKey is not in base64, or not of a key's length");
    }
    struct span sas = parts.sas;
    if (sas.count > 0 && sas.bytes[0] == '?') {
        sas = span_of(sas.bytes + 1, sas.count - 1);
    }
    if (sas.count > 0 && (memmem(sas.bytes, sas.count, "sig=", 4) == NULL ||
                          !copy(sas, out->sas, sizeof out->sas))) {
        return refuse(reason, "SharedAccessSignature has no sig=, or is too long");
    }
    return RESULT_OK;
}

/* "Name=value;…": a value may hold '=' (base64, signatures). */
static enum result read_parts(struct span text, struct parts *out, char *reason)
{
    *out = (struct parts){0};
    const struct {
        const char *name;
        struct span *value;
    } rows[] = {
        {"DefaultEndpointsProtocol", &out->protocol},
        {"AccountName", &out->name},
        {"AccountKey", &out->key},
        {"EndpointSuffix", &out->suffix},
        {"BlobEndpoint", &out->endpoint},
        {"SharedAccessSignature", &out->sas},
        {"UseDevelopmentStorage", &out->development},
    };
    while (text.count > 0) {
        const uint8_t *end = memchr(text.bytes, ';', text.count);
        struct span part =
            span_of(text.bytes, end == NULL ? text.count : (size_t)(end - text.bytes));
        text = end == NULL ? SPAN_EMPTY : span_of(end + 1, text.count - part.count - 1);
        part = span_trim(part);
        const uint8_t *equals = memchr(part.bytes, '=', part.count);
        if (part.count == 0) {
            continue;
        }
        if (equals == NULL) {
            return refuse(reason, "a connection string is Name=value;Name=value");
        }
        struct span name = span_of(part.bytes, (size_t)(equals - part.bytes));
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (span_is(name, rows[i].name)) {
                *rows[i].value = span_of(equals + 1, part.count - name.count - 1);
            }
        }
        /* (Others are of other services: QueueEndpoint, TableEndpoint, FileEndpoint.) */
    }
    return RESULT_OK;
}

static enum result read_key(struct span text, struct storage_azure_account *out)
{
    size_t padding = 0;
    while (padding < 2 && padding < text.count && text.bytes[text.count - 1 - padding] == '=') {
        padding++;
    }
    if (text.count == 0 || text.count % 4 != 0 || text.count / 4 * 3 > sizeof out->key) {
        return RESULT_INVALID;
    }
    int count = EVP_DecodeBlock(out->key, text.bytes, (int)text.count);
    if (count <= (int)padding) {
        return RESULT_INVALID;
    }
    out->key_count = (size_t)count - padding;
    return RESULT_OK;
}

bool storage_azure_container_is_valid(const char *name)
{
    struct span text = span_text(name);
    return text.count >= 3 && text.count <= 63 && is_of(text, "-") && text.bytes[0] != '-' &&
           text.bytes[text.count - 1] != '-' && strstr(name, "--") == NULL;
}

struct span storage_azure_string_to_sign(const struct storage_azure_account *account,
                                         const struct storage_azure_request *request,
                                         struct arena *arena)
{
    char length[24] = "";
    if (request->content_bytes > 0) { /* "0" is left out since version 2015-02-21 */
        snprintf(length, sizeof length, "%zu", request->content_bytes);
    }
    bool typed = request->blob_type[0] != '\0';
    /* Verb, Content-Encoding, -Language, -Length, -MD5, -Type, Date, If-Modified-Since, If-Match,
     * If-None-Match, If-Unmodified-Since, Range; then the x-ms- headers in their order. */
    struct span text =
        arena_format(arena,
                     "%s\n\n\n%s\n\n%s\n\n\n%s\n%s\n\n\n"
                     "%s%s%sx-ms-date:%s\nx-ms-version:%s\n"
                     "/%s%.*s",
                     request->method, length, request->content_type,
                     request->if_match == NULL ? "" : request->if_match,
                     request->if_none_match == NULL ? "" : request->if_none_match,
                     typed ? "x-ms-blob-type:" : "", request->blob_type, typed ? "\n" : "",
                     request->date, request->version, account->name, SPAN_ARG(request->path));
    for (size_t i = 0; i < request->parameter_count && text.count > 0; i++) {
        text = arena_format(arena, "%.*s\n%s:%.*s", SPAN_ARG(text), request->parameters[i].name,
                            SPAN_ARG(request->parameters[i].value));
    }
    return text;
}

struct span storage_azure_authorization(const struct storage_azure_account *account,
                                        struct span string_to_sign, struct arena *arena)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    unsigned char text[EVP_MAX_MD_SIZE * 2];
    if (HMAC(EVP_sha256(), account->key, (int)account->key_count, string_to_sign.bytes,
             string_to_sign.count, digest, &count) == NULL) {
        return SPAN_EMPTY;
    }
    EVP_EncodeBlock(text, digest, (int)count);
    return arena_format(arena, "SharedKey %s:%s", account->name, (const char *)text);
}
