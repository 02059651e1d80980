/* url.c: see url.h. */
#include "audit/amqp/url.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/host.h"
#include "proto/base/text.h"

#define SCHEME_PLAIN "amqp://"
#define SCHEME_TLS   "amqps://"
#define PORT_PLAIN   5672u
#define PORT_TLS     5671u

static enum result read_login(struct span text, struct audit_amqp_place *out, const char **reason);

static enum result refuse(const char **reason, const char *why)
{
    *reason = why;
    return RESULT_INVALID;
}

static bool has_any(struct span text, const char *bytes)
{
    for (; *bytes != '\0'; bytes++) {
        if (text.count > 0 && memchr(text.bytes, *bytes, text.count) != NULL) {
            return true;
        }
    }
    return false;
}

enum result audit_amqp_url_read(const char *url, struct audit_amqp_place *out, const char **reason)
{
    struct span rest = span_text(url);
    *out = (struct audit_amqp_place){.tls = span_starts_with(rest, SCHEME_TLS)};
    if (!out->tls && !span_starts_with(rest, SCHEME_PLAIN)) {
        return refuse(reason, "the URL must begin with amqp:// or amqps://");
    }
    out->port = out->tls ? PORT_TLS : PORT_PLAIN;
    rest = span_text(url + strlen(out->tls ? SCHEME_TLS : SCHEME_PLAIN));
    const uint8_t *at = rest.count == 0 ? NULL : memrchr(rest.bytes, '@', rest.count);
    if (at != NULL) {
        size_t count = (size_t)(at - rest.bytes);
        enum result result = read_login(span_of(rest.bytes, count), out, reason);
        if (result != RESULT_OK) {
            return result;
        }
        rest = span_of(at + 1, rest.count - count - 1);
    }
    if (rest.count > 0 && rest.bytes[rest.count - 1] == '/') {
        rest.count--;
    }
    if (has_any(rest, "/?#")) {
        return refuse(reason, "the URL may have no path, ?query or #fragment: the queue has a "
                              "setting of its own (in a password: %2F, %3F, %23)");
    }
    const char *why = host_read(rest, out->host, sizeof out->host, &out->port);
    return why == NULL ? RESULT_OK : refuse(reason, why);
}

static enum result read_login(struct span text, struct audit_amqp_place *out, const char **reason)
{
    const uint8_t *colon = text.count == 0 ? NULL : memchr(text.bytes, ':', text.count);
    if (colon == NULL || colon == text.bytes) {
        return refuse(reason, "a login is user:password; leave it and the @ out to be anonymous");
    }
    size_t count = (size_t)(colon - text.bytes);
    if (!text_percent_decode(span_of(text.bytes, count), out->user, sizeof out->user) ||
        !text_percent_decode(span_of(colon + 1, text.count - count - 1), out->password,
                             sizeof out->password)) {
        return refuse(reason, "user or password is too long, or has a % that does not begin an "
                              "escape such as %40");
    }
    return RESULT_OK;
}
