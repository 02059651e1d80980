/*
 * listen.c: local addresses, and the table of NNG's errors.
 */
#include "transport/guard/listen.h"

#include <arpa/inet.h>
#include <nng/nng.h>
#include <strings.h>

#define HOST_BYTES_MAX 64u

static bool scheme_is_local(const char *scheme);

bool transport_url_is_local(const char *url)
{
    nng_url *parsed = NULL;
    if (nng_url_parse(&parsed, url) != 0) {
        return false;
    }
    bool local =
        scheme_is_local(parsed->u_scheme) ||
        (parsed->u_hostname != NULL && transport_host_is_local(span_text(parsed->u_hostname)));
    nng_url_free(parsed);
    return local;
}

static bool scheme_is_local(const char *scheme)
{
    static const char *const local[] = {"ipc", "unix", "abstract", "inproc"};
    for (size_t index = 0; index < sizeof local / sizeof local[0]; index++) {
        if (strcmp(scheme, local[index]) == 0) {
            return true;
        }
    }
    return false;
}

bool transport_host_is_local(struct span host)
{
    char text[HOST_BYTES_MAX];
    if (host.count == 0 || host.count >= sizeof text) {
        return false;
    }
    memcpy(text, host.bytes, host.count);
    text[host.count] = '\0';

    char *name = text;
    if (*name == '[') {
        name++;
        name[strcspn(name, "]")] = '\0';
    } else if (strchr(name, ':') == strrchr(name, ':')) {
        name[strcspn(name, ":")] = '\0';
    }
    if (strcasecmp(name, "localhost") == 0) {
        return true;
    }
    struct in_addr v4;
    if (inet_pton(AF_INET, name, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    struct in6_addr v6;
    return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

enum result transport_result_of_nng(int nng_error)
{
    switch (nng_error) {
    case 0:
        return RESULT_OK;
    case NNG_EADDRINUSE:
    case NNG_EEXIST:
        return RESULT_EXISTS;
    case NNG_EINVAL:
    case NNG_EADDRINVAL:
        return RESULT_INVALID;
    case NNG_ENOTSUP:
        return RESULT_UNSUPPORTED;
    case NNG_EPERM:
        return RESULT_DENIED;
    case NNG_ENOMEM:
    case NNG_ENOFILES:
        return RESULT_LIMIT;
    case NNG_ETIMEDOUT:
        return RESULT_TIMEOUT;
    case NNG_ECLOSED:
    case NNG_ECANCELED:
    case NNG_ECONNRESET:
    case NNG_ECONNABORTED:
    case NNG_ECONNSHUT:
        return RESULT_CLOSED;
    case NNG_EAGAIN:
        return RESULT_AGAIN;
    default:
        return RESULT_IO;
    }
}
