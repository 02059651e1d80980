/* redis_url.c: see redis_url.h. */
#include "storage/redis/redis_url.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/host.h"
#include "proto/base/text.h"

#define SCHEME_PLAIN "redis://"
#define SCHEME_TLS   "rediss://"
#define PORT_DEFAULT 6379u
#define DATABASE_MAX 65535u

static enum result read_login(struct span text, struct storage_redis_place *out, char *reason);

static enum result refuse(char *reason, const char *why)
{
    snprintf(reason, STORAGE_REDIS_REASON_BYTES, "%s", why);
    return RESULT_INVALID;
}

enum result storage_redis_url_read(const char *url, struct storage_redis_place *out,
                                   char reason[STORAGE_REDIS_REASON_BYTES])
{
    *out = (struct storage_redis_place){.port = PORT_DEFAULT};
    struct span rest = span_text(url);
    if (span_starts_with(rest, SCHEME_TLS)) {
        refuse(reason, "rediss:// is not supported: the hiredis library of this build has no TLS; "
                       "use redis:// to a TLS tunnel on this host");
        return RESULT_UNSUPPORTED;
    }
    if (!span_starts_with(rest, SCHEME_PLAIN)) {
        return refuse(reason, "the URL must begin with redis://");
    }
    rest = span_text(url + strlen(SCHEME_PLAIN));
    if (memchr(rest.bytes, '?', rest.count) != NULL || memchr(rest.bytes, '#', rest.count)) {
        return refuse(reason, "the URL may have no ?query and no #fragment (in a password: %3F, "
                              "%23)");
    }
    const uint8_t *at = memrchr(rest.bytes, '@', rest.count);
    if (at != NULL) {
        size_t count = (size_t)(at - rest.bytes);
        enum result result = read_login(span_of(rest.bytes, count), out, reason);
        if (result != RESULT_OK) {
            return result;
        }
        rest = span_of(at + 1, rest.count - count - 1);
    }
    const uint8_t *slash = memchr(rest.bytes, '/', rest.count);
    if (slash != NULL) {
        size_t count = (size_t)(slash - rest.bytes);
        struct span database = span_of(slash + 1, rest.count - count - 1);
        if (database.count > 0 && !text_read_number(database, DATABASE_MAX, &out->database)) {
            return refuse(reason, "the path of the URL must be a database number, as in /3");
        }
        rest.count = count;
    }
    const char *why = host_read(rest, out->host, sizeof out->host, &out->port);
    return why == NULL ? RESULT_OK : refuse(reason, why);
}

static enum result read_login(struct span text, struct storage_redis_place *out, char *reason)
{
    const uint8_t *colon = memchr(text.bytes, ':', text.count);
    if (colon == NULL) {
        return refuse(reason, "a user needs a password: redis://user:password@host, or "
                              "redis://:password@host for the default user");
    }
    size_t count = (size_t)(colon - text.bytes);
    struct span password = span_of(colon + 1, text.count - count - 1);
    if (password.count == 0) {
        return refuse(reason, "the password is empty");
    }
    if (!text_percent_decode(span_of(text.bytes, count), out->user, sizeof out->user) ||
        !text_percent_decode(password, out->password, sizeof out->password)) {
        return refuse(reason, "user or password is too long, or has a % that does not begin an "
                              "escape such as %40");
    }
    return RESULT_OK;
}
