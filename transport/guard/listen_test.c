/* listen_test.c: which addresses reach only this machine. */
#include <criterion/criterion.h>

#include "transport/guard/listen.h"

Test(listen, local_urls_are_those_that_only_this_machine_reaches)
{
    static const struct {
        const char *url;
        bool local;
    } rows[] = {
        {"tcp://127.0.0.1:7700", true},
        {"tcp://127.9.9.9:1", true},
        {"tcp://localhost:7700", true},
        {"tcp://[::1]:7700", true},
        {"ipc:///tmp/strider.ipc", true},
        {"inproc://test", true},
        {"ws://127.0.0.1:7700/x", true},
        {"tls+tcp://127.0.0.1:7700", true},
        {"http://127.0.0.1:7780", true},
        {"tcp://0.0.0.0:7700", false},
        {"tcp://*:7700", false},
        {"tcp://:7700", false},
        {"tcp://[::]:7700", false},
        {"tcp://10.0.0.1:7700", false},
        {"tcp://127.example.org:7700", false},
        {"ws://example.org:7700/x", false},
        {"http://0.0.0.0:7780", false},
        {"nonsense", false},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        cr_assert_eq(transport_url_is_local(rows[index].url), rows[index].local, "%s",
                     rows[index].url);
    }
}

Test(listen, host_header_is_local_with_and_without_port)
{
    static const struct {
        const char *host;
        bool local;
    } rows[] = {
        {"localhost", true},
        {"LOCALHOST:7780", true},
        {"127.0.0.1:7780", true},
        {"[::1]:7780", true},
        {"::1", true},
        {"evil.example:7780", false},
        {"127.0.0.1.evil.org", false},
        {"", false},
        {"[::2]:7780", false},
        {"localhost.evil", false},
        {"10.0.0.1", false},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        cr_assert_eq(transport_host_is_local(span_text(rows[index].host)), rows[index].local, "%s",
                     rows[index].host);
    }
}
