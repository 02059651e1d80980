/* host_test.c: hosts and ports as URLs have them. */
#include "proto/base/host.h"

#include <criterion/criterion.h>

enum { PORT_BEFORE = 7 };

Test(host, is_read_with_its_port_and_without)
{
    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
    } rows[] = {
        {"db", "db", PORT_BEFORE},
        {"db:1", "db", 1},
        {"10.0.0.1:65535", "10.0.0.1", 65535},
        {"[::1]", "::1", PORT_BEFORE},
        {"[::1]:80", "::1", 80},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char host[16];
        uint16_t port = PORT_BEFORE;
        cr_expect_null(host_read(span_text(rows[i].text), host, sizeof host, &port));
        cr_expect_str_eq(host, rows[i].host, "row %zu", i);
        cr_expect_eq(port, rows[i].port, "row %zu", i);
    }
}

Test(host, says_what_is_wrong)
{
    static const char port_wrong[] = "the port must be a number from 1 to 65535";
    static const char host_wrong[] = "the URL names no host, or one that is too long";
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"", host_wrong},
        {":80", host_wrong},
        {"[]:80", host_wrong},
        {"a-host-of-sixteen:80", host_wrong},
        {"db:", port_wrong},
        {"db:0", port_wrong},
        {"db:65536", port_wrong},
        {"db:000080", port_wrong},
        {"db:8x", port_wrong},
        {"::1", port_wrong},
        {"[::1", "the host begins with [ but has no ]"},
        {"[::1]80", "between ] and the port there must be a colon"},
        {"[::1]x:80", "between ] and the port there must be a colon"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char host[16];
        uint16_t port = 0;
        const char *reason = host_read(span_text(rows[i].text), host, sizeof host, &port);
        cr_expect_str_eq(reason == NULL ? "" : reason, rows[i].reason, "row %zu", i);
    }
}
