/*
 * id.c: which ids are valid, and the three kinds of UUID that we make.
 */
#include "proto/base/id.h"

#include <openssl/evp.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/text.h"

/* Namespace of our version 5 UUIDs: fixed for ever, since a start's executionId derives from it. */
static const uint8_t strider_namespace[16] = {0x5b, 0x1f, 0x0e, 0x52, 0x9c, 0x37, 0x4a, 0x8d,
                                              0xa6, 0x40, 0x7d, 0x11, 0xe8, 0x2c, 0x93, 0xf4};

static bool is_id_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.' ||
           byte == ':' || byte == '@' || byte == '+';
}

bool id_is_valid(struct span text)
{
    if (text.count == 0 || text.count > LIMIT_ID_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.count; i++) {
        if (!is_id_byte(text.bytes[i])) {
            return false;
        }
    }
    return text.bytes[0] != '.' && text.bytes[text.count - 1] != '.';
}

/* C0 and DEL are one byte; C1 (U+0080..U+009F) is 0xc2 0x80..0x9f. */
bool channel_session_id_is_valid(struct span text)
{
    if (text.count == 0 || text.count > LIMIT_CHANNEL_SESSION_BYTES ||
        text_utf8_valid_count(text) != text.count) {
        return false;
    }
    for (size_t i = 0; i < text.count; i++) {
        uint8_t byte = text.bytes[i];
        if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && text.bytes[i + 1] < 0xa0)) {
            return false;
        }
    }
    return true;
}

enum result execution_id_parse(struct span text, struct execution_id *out)
{
    *out = (struct execution_id){0};
    if (!id_is_valid(text)) {
        return RESULT_INVALID;
    }
    out->count = (uint8_t)text.count;
    memcpy(out->text, text.bytes, text.count);
    return RESULT_OK;
}

void uuid_format(struct uuid uuid, char out[UUID_TEXT_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    char *next = out;
    for (unsigned i = 0; i < sizeof uuid.bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *next++ = '-';
        }
        *next++ = digits[uuid.bytes[i] >> 4];
        *next++ = digits[uuid.bytes[i] & 15];
    }
    *next = '\0';
    ASSERT(next == out + UUID_TEXT_BYTES);
}

/* RFC 9562 §4.1, §4.2: version in the high half of byte 6, variant 10 in the top bits of byte 8. */
static struct uuid stamp(struct uuid uuid, unsigned version)
{
    uuid.bytes[6] = (uint8_t)(version << 4 | (uuid.bytes[6] & 0x0f));
    uuid.bytes[8] = (uint8_t)(0x80 | (uuid.bytes[8] & 0x3f));
    return uuid;
}

struct uuid uuid_v7(uint64_t unix_ms, const uint8_t random_bytes[10])
{
    struct uuid uuid;
    for (unsigned i = 0; i < 6; i++) {
        uuid.bytes[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    }
    memcpy(uuid.bytes + 6, random_bytes, 10);
    return stamp(uuid, 7);
}

struct uuid uuid_v5_in(const uint8_t name_space[16], const struct span *parts, size_t part_count)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    ASSERT(context != NULL); /* a hundred bytes at start-up or at a start: no input can cause it */
    bool hashed = EVP_DigestInit_ex(context, EVP_sha1(), NULL) == 1 &&
                  EVP_DigestUpdate(context, name_space, 16) == 1;
    for (size_t i = 0; i < part_count; i++) {
        hashed = hashed && EVP_DigestUpdate(context, parts[i].bytes, parts[i].count) == 1;
    }
    hashed = hashed && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    ASSERT(hashed);
    struct uuid uuid;
    memcpy(uuid.bytes, digest, sizeof uuid.bytes);
    return stamp(uuid, 5);
}

struct uuid uuid_v5(struct span workspace_id, struct span request_id)
{
    /* A valid workspaceId has no NUL, so the name is unambiguous. */
    struct span parts[] = {workspace_id, span_of("\0", 1), request_id};
    return uuid_v5_in(strider_namespace, parts, sizeof parts / sizeof parts[0]);
}

struct uuid uuid_of_step(struct span execution_id, uint32_t run, uint32_t sequence)
{
    ASSERT(execution_id.count <= LIMIT_ID_BYTES);
    uint8_t name[LIMIT_ID_BYTES + 8];
    size_t count = execution_id.count;
    if (count > 0) {
        memcpy(name, execution_id.bytes, count);
    }
    for (unsigned i = 0; i < 4; i++) {
        name[count + i] = (uint8_t)(run >> 8 * i);
        name[count + 4 + i] = (uint8_t)(sequence >> 8 * i);
    }
    struct uuid uuid;
    base_hash_128(span_of(name, count + 8), 0, uuid.bytes);
    return stamp(uuid, 8);
}
