/* url_test.c: which URLs of a broker are understood, and that a refusal quotes none. */
#include <criterion/criterion.h>
#include <string.h>

#include "audit/amqp/url.h"

static const struct {
    const char *url;
    const char *host;
    unsigned port;
    const char *user;
    const char *password;
    bool tls;
} sound[] = {
    {"amqp://broker", "broker", 5672, "", "", false},
    {"amqp://broker/", "broker", 5672, "", "", false},
    {"amqps://broker", "broker", 5671, "", "", true},
    {"amqp://guest:guest@127.0.0.1:5673", "127.0.0.1", 5673, "guest", "guest", false},
    {"amqps://Root:a%2Fb%2Bc%3D@bus.example.net", "bus.example.net", 5671, "Root", "a/b+c=", true},
    {"amqp://u:p@ss@host", "host", 5672, "u", "p@ss", false},
    {"amqp://u:@host", "host", 5672, "u", "", false},
    {"amqp://[::1]:5000", "::1", 5000, "", "", false},
    {"amqp://[::1]", "::1", 5672, "", "", false},
};

Test(amqp_url, gives_host_port_login_and_tls)
{
    for (size_t i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        struct audit_amqp_place place;
        const char *reason = "";
        cr_assert_eq(audit_amqp_url_read(sound[i].url, &place, &reason), RESULT_OK, "%s: %s",
                     sound[i].url, reason);
        cr_expect_str_eq(place.host, sound[i].host);
        cr_expect_eq(place.port, sound[i].port, "%s", sound[i].url);
        cr_expect_str_eq(place.user, sound[i].user);
        cr_expect_str_eq(place.password, sound[i].password);
        cr_expect_eq(place.tls, sound[i].tls);
    }
}

Test(amqp_url, refuses_what_it_does_not_understand_without_quoting_it)
{
    static const char *const broken[] = {
        "",
        "amqp:/host",
        "http://host",
        "amqp://",
        "amqp://:5672",
        "amqp://host:0",
        "amqp://host:65536",
        "amqp://host:12345678901",
        "amqp://host:x",
        "amqp://[::1",
        "amqp://[::1]x:1",
        "amqp://sesame@host",
        "amqp://:sesame@host",
        "amqp://user:sesame%4@host",
        "amqp://user:sesame%00@host",
        "amqp://user:sesame@host/queue",
        "amqp://user:sesame@host?x=1",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct audit_amqp_place place;
        const char *reason = NULL;
        cr_assert_eq(audit_amqp_url_read(broken[i], &place, &reason), RESULT_INVALID, "%s",
                     broken[i]);
        cr_assert_not_null(reason);
        cr_expect_null(strstr(reason, "sesame"));
    }
}
