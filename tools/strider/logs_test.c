#include <criterion/criterion.h>

#include "proto/wire/json.h"
#include "tools/strider/logs.h"

static const char *line(enum logs_format format, enum log_level level, const char *fields)
{
    static char out[LOGS_LINE_BYTES + 1];
    out[logs_format_line(out, format, level, "SOME-ID", span_text(fields), 1764498453123)] = '\0';
    return out;
}

Test(logs, json_has_a_member_for_each_field)
{
    cr_expect_str_eq(
        line(LOGS_JSON, LOG_WARN, "shard=3 id=0042 why=\"no room, \t\\ now\" empty= last"),
        "{\"at\":\"2025-11-30T10:27:33.123Z\",\"level\":\"WARN\",\"id\":\"SOME-ID\",\"shard\":3,"
        "\"id\":\"0042\",\"why\":\"no room, \\u0009\\\\ now\",\"empty\":\"\",\"last\":\"\"}\n");
}

Test(logs, text_is_aligned_by_level_and_has_no_control_characters)
{
    cr_expect_str_eq(line(LOGS_TEXT, LOG_INFO, "a=1"), "10:27:33.123 INFO  SOME-ID a=1\n");
    cr_expect_str_eq(line(LOGS_TEXT, LOG_DEBUG, "a=\x1b[1m"),
                     "10:27:33.123 DEBUG SOME-ID a= [1m\n");
    cr_expect_str_eq(line(LOGS_TEXT, LOG_CRITICAL, ""), "10:27:33.123 CRITICAL SOME-ID \n");
}

Test(logs, a_line_of_any_length_is_whole_json_within_its_bound)
{
    static char fields[40000];
    for (size_t count = 1; count < sizeof(fields); count = count * 5 / 4 + 1) {
        memset(fields, 0, sizeof(fields));
        memset(fields, '\x01', count);
        memcpy(fields, "a=\"", count < 3 ? count : 3);
        const char *text = line(LOGS_JSON, LOG_ERROR, fields);
        struct arena arena;
        struct span value;
        struct json_error error;
        arena_init(&arena, 4096, 1 << 20);
        cr_expect_eq(json_to_wire(span_text(text), 4, &arena, &value, &error), RESULT_OK,
                     "%zu bytes: %s", count, text);
        cr_expect_eq(text[strlen(text) - 1], '\n');
        arena_release(&arena);
    }
}
