/* hook_secret.c: see hook_secret.h. */
#include "transport/admin/hook_secret.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "proto/base/text.h"
#include "transport/admin.h"
#include "transport/admin/address.h"
#include "transport/admin/hook.h"
#include "transport/guard/token.h"

#define DIGEST_BYTES      32u
#define SIGNATURE_BEGIN   "sha256="
#define ARENA_BLOCK_BYTES 1024u
#define ARENA_BYTES_MAX   65536u /* NNG's lines are shorter */

static const char *secret_in(const char *entry, struct span path);
static bool is_signed(const char *secret, struct span body, const char *signature);

bool transport_hook_secret_is_sound(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals != NULL && equals != entry && equals[1] != '\0';
}

const char *hook_secret_of(const char *const *entries, size_t count, const char *uri)
{
    if (count == 0 || !hook_is_at(uri)) {
        return NULL;
    }
    struct arena arena;
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    struct span path = address_decode(&arena, hook_path_of(uri), false);
    const char *secret = NULL;
    const char *any = NULL;
    for (size_t index = 0; index < count && secret == NULL; index++) {
        secret = secret_in(entries[index], path);
        any = any != NULL ? any : secret_in(entries[index], span_text("*"));
    }
    arena_release(&arena);
    return secret != NULL ? secret : any;
}

static const char *secret_in(const char *entry, struct span path)
{
    const char *equals = strchr(entry, '=');
    return equals != NULL && span_equal(span_of(entry, (size_t)(equals - entry)), path) ? equals + 1
                                                                                        : NULL;
}

bool hook_secret_is_known(const char *secret, struct span body, const char *signature,
                          const char *token)
{
    if (signature == NULL && token == NULL) {
        return false;
    }
    bool known = signature == NULL || is_signed(secret, body, signature);
    return known && (token == NULL || transport_token_accepted(&secret, 1, span_text(token)));
}

static bool is_signed(const char *secret, struct span body, const char *signature)
{
    uint8_t expected[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    size_t begin = strlen(SIGNATURE_BEGIN);
    if (strncmp(signature, SIGNATURE_BEGIN, begin) != 0 ||
        strlen(signature) != begin + 2 * DIGEST_BYTES || strlen(secret) > INT_MAX ||
        HMAC(EVP_sha256(), secret, (int)strlen(secret), body.bytes, body.count, expected, &count) ==
            NULL ||
        count != DIGEST_BYTES) {
        return false;
    }
    unsigned difference = 0;
    for (size_t index = 0; index < DIGEST_BYTES; index++) {
        int high = text_hex_digit((uint8_t)signature[begin + 2 * index]);
        int low = text_hex_digit((uint8_t)signature[begin + 2 * index + 1]);
        difference |= high < 0 || low < 0 ? 1u : (unsigned)(high * 16 + low) ^ expected[index];
    }
    return difference == 0;
}
