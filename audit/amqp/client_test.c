/* client_test.c: options that cannot work are refused when a side is opened, with the reason. */
#include <criterion/criterion.h>
#include <string.h>

#include "audit/amqp/amqp.h"

Test(amqp_client, refuses_options_that_cannot_work)
{
    static const struct {
        struct audit_amqp_options options;
        const char *reason;
    } rows[] = {
        {{.url = "http://host", .queue = "q"}, "must begin with amqp://"},
        {{.url = "amqp://host", .queue = ""}, "a queue's name"},
        {{.url = "amqp://host", .queue = "two words"}, "a queue's name"},
        {{.url = "amqps://host", .queue = "q", .ca_file = "/nowhere.pem"}, "certificates"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct audit_bus *bus = NULL;
        struct audit_source *source = NULL;
        struct audit_bus_options sending = {.window = 4};
        struct audit_source_options receiving = {.window = 4};
        char reason[AUDIT_REASON_BYTES] = "";

        cr_expect_eq(audit_amqp_bus_open(&rows[i].options, &sending, &bus, reason), RESULT_INVALID);
        cr_expect_not_null(strstr(reason, rows[i].reason), "%s", reason);
        cr_expect_eq(audit_amqp_source_open(&rows[i].options, &receiving, &source, reason),
                     RESULT_INVALID);
        cr_expect_not_null(strstr(reason, rows[i].reason), "%s", reason);
    }
}
