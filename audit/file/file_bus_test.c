/* file_bus_test.c: what is set aside on disk is a line of JSON each, appended over restarts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/file/file.h"
#include "proto/message.h"

struct count {
    struct proto_sink sink;
    uint64_t settled;
};

static enum result take(struct proto_sink *self, struct proto_message **message)
{
    cr_assert_eq((*message)->type, PROTO_BUS_SETTLED);
    ((struct count *)self)->settled = (*message)->as.position;
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

static struct audit_bus *open_file(const char *path, struct count *count)
{
    char reason[AUDIT_REASON_BYTES];
    struct audit_bus *bus = NULL;
    struct audit_bus_options options = {.window = 1, .owner.sink = &count->sink};
    cr_assert_eq(audit_file_bus_open(path, &options, &bus, reason), RESULT_OK, "%s", reason);
    return bus;
}

Test(file_bus, keeps_a_line_a_message_whatever_its_bytes_are)
{
    char directory[] = "/tmp/strider-file-bus-XXXXXX";
    char path[64];
    char text[1024] = "";
    struct count count = {.sink.send = take};
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/aside.jsonl", directory);
    struct audit_bus_message first = {
        .id = span_text("x:1"), .reason = span_text("no \"JSON\""), .body = span_text("{\"a\":\n")};
    struct audit_bus_message second = {.body = span_text("\xff\xfe!")};

    struct audit_bus *bus = open_file(path, &count);
    cr_assert_eq(bus->ops->send(bus, &first), RESULT_OK);
    cr_expect_eq(count.settled, 1);
    bus->ops->close(bus);
    bus = open_file(path, &count);
    cr_assert_eq(bus->ops->send(bus, &second), RESULT_OK);
    cr_expect_eq(bus->ops->counters(bus)->settled, 1);
    bus->ops->close(bus);

    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    size_t count_read = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    cr_assert_gt(count_read, 0);
    cr_expect_not_null(
        strstr(text,
               "\"id\":\"x:1\",\"reason\":\"no \\\"JSON\\\"\",\"body\":\"{\\\"a\\\":\\n\"}\n"),
        "%s", text);
    cr_expect_not_null(strstr(text, "\"id\":\"\",\"reason\":\"\",\"body\":\"?\?!\"}\n"), "%s",
                       text);
    unlink(path);
    rmdir(directory);
}

Test(file_bus, says_why_a_file_cannot_be_opened)
{
    char reason[AUDIT_REASON_BYTES] = "";
    struct count count = {.sink.send = take};
    struct audit_bus *bus = NULL;
    struct audit_bus_options options = {.window = 1, .owner.sink = &count.sink};

    cr_assert_eq(audit_file_bus_open("/nowhere/at/all", &options, &bus, reason), RESULT_IO);

    cr_expect_not_null(strstr(reason, "/nowhere/at/all"));
}
