/* redis_url_test.c: what redis:// URLs say, and how wrong ones are refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "storage/redis/redis_url.h"

Test(redis_url, says_where_and_as_whom)
{
    static const struct {
        const char *url;
        struct storage_redis_place place;
    } rows[] = {
        {"redis://localhost", {"localhost", 6379, 0, "", ""}},
        {"redis://10.0.0.7:7001/", {"10.0.0.7", 7001, 0, "", ""}},
        {"redis://h:1/15", {"h", 1, 15, "", ""}},
        {"redis://:secret@h", {"h", 6379, 0, "", "secret"}},
        {"redis://ann:s%40c%2Fr:t@h:65535/3", {"h", 65535, 3, "ann", "s@c/r:t"}},
        {"redis://:p@[::1]:7000/1", {"::1", 7000, 1, "", "p"}},
        {"redis://[fe80::1]", {"fe80::1", 6379, 0, "", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storage_redis_place place;
        char reason[STORAGE_REDIS_REASON_BYTES] = "";

        enum result result = storage_redis_url_read(rows[i].url, &place, reason);

        cr_assert_eq(result, RESULT_OK, "%s: %s", rows[i].url, reason);
        cr_assert_str_eq(place.host, rows[i].place.host);
        cr_assert_eq(place.port, rows[i].place.port);
        cr_assert_eq(place.database, rows[i].place.database);
        cr_assert_str_eq(place.user, rows[i].place.user);
        cr_assert_str_eq(place.password, rows[i].place.password);
    }
}

Test(redis_url, refuses_what_it_cannot_use_and_never_tells_the_password)
{
    static const struct {
        const char *url;
        const char *reason; /* a part of it */
    } rows[] = {
        {"http://h", "redis://"},
        {"", "redis://"},
        {"redis://", "host"},
        {"redis://:0", "port"},
        {"redis://h:", "port"},
        {"redis://h:65536", "port"},
        {"redis://h:6379x", "port"},
        {"redis://[::1", "]"},
        {"redis://[::1]x", "port"},
        {"redis://[]", "host"},
        {"redis://h/one", "database"},
        {"redis://h/1/2", "database"},
        {"redis://h/99999999999", "database"},
        {"redis://hunter2@h", "password"},
        {"redis://ann:@h", "empty"},
        {"redis://:hunter2%@h", "%40"},
        {"redis://:hunter2%4@h", "%40"},
        {"redis://:hunter2%zz@h", "%40"},
        {"redis://:hunter2%00@h", "%40"},
        {"redis://h?timeout=1", "query"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storage_redis_place place;
        char reason[STORAGE_REDIS_REASON_BYTES] = "";

        cr_assert_eq(storage_redis_url_read(rows[i].url, &place, reason), RESULT_INVALID, "%s",
                     rows[i].url);

        cr_assert_not_null(strstr(reason, rows[i].reason), "%s: %s", rows[i].url, reason);
        cr_assert_null(strstr(reason, "hunter2"), "%s", reason);
    }
}

Test(redis_url, names_tls_as_not_supported)
{
    struct storage_redis_place place;
    char reason[STORAGE_REDIS_REASON_BYTES] = "";

    cr_assert_eq(storage_redis_url_read("rediss://h", &place, reason), RESULT_UNSUPPORTED);

    cr_assert_not_null(strstr(reason, "rediss://"), "%s", reason);
    cr_assert_not_null(strstr(reason, "TLS"), "%s", reason);
}
