/* redis_url.c: see redis_url.h. */
#include "storage/redis/redis_url.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/span.h"
#include "proto/base/text.h"

#define SCHEME_PLAIN "redis://"
#define SCHEME_TLS   "rediss://"
#define PORT_DEFAULT 6379u
#define DATABASE_MAX 65535u

static enum result read_login(struct span text, struct storage_redis_place *out, char *reason);
static enum result read_host(struct span text, struct storage_redis_place *out, char *reason);
static bool read_number(struct span text, uint32_t most, uint32_t *out);

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
        if (database.count > 0 && !read_number(database, DATABASE_MAX, &out->database)) {
            return refuse(reason, "the path of the URL must be a database number, as in /3");
        }
        rest.count = count;
    }
    return read_host(rest, out, reason);
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

static enum result read_host(struct span text, struct storage_redis_place *out, char *reason)
{
    struct span host = text;
    struct span port = SPAN_EMPTY;
    const uint8_t *close = memchr(text.bytes, ']', text.count);
    bool bracketed = text.count > 0 && text.bytes[0] == '[';
    const uint8_t *colon =
        bracketed ? (close == NULL ? NULL : close + 1) : memchr(text.bytes, ':', text.count);
    if (bracketed && close == NULL) {
        return refuse(reason, "the host begins with [ but has no ]");
    }
    if (colon != NULL && colon < text.bytes + text.count) {
        uint32_t number = 0;
        port = span_of(colon + 1, (size_t)(text.bytes + text.count - colon) - 1);
        host.count = (size_t)(colon - text.bytes);
        if (*colon != ':' || !read_number(port, UINT16_MAX, &number) || number == 0) {
            return refuse(reason, "the port must be a number from 1 to 65535");
        }
        out->port = (uint16_t)number;
    }
    if (bracketed) {
        host = span_of(host.bytes + 1, host.count - 2);
    }
    if (host.count == 0 || host.count >= sizeof out->host) {
        return refuse(reason, "the URL names no host, or one that is too long");
    }
    memcpy(out->host, host.bytes, host.count);
    out->host[host.count] = '\0';
    return RESULT_OK;
}

static bool read_number(struct span text, uint32_t most, uint32_t *out)
{
    uint32_t number = 0;
    if (text.count == 0 || text.count > 5) {
        return false;
    }
    for (size_t i = 0; i < text.count; i++) {
        if (!isdigit(text.bytes[i])) {
            return false;
        }
        number = number * 10 + (uint32_t)(text.bytes[i] - '0');
    }
    *out = number;
    return number <= most;
}
