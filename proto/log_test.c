#include "proto/log.h"

#include <stdio.h>

#include <criterion/criterion.h>

static unsigned lines;
static char last_line[4096];
static size_t last_count;

static void capture(enum log_level level, const char *id, struct span fields)
{
    lines++;
    last_count = fields.count;
    snprintf(last_line, sizeof last_line, "%d %s %.*s", (int)level, id, SPAN_ARG(fields));
}

Test(log, lines_before_a_writer_is_set_are_dropped)
{
    cr_expect_not(log_enabled(LOG_CRITICAL));
    log_line(LOG_CRITICAL, "NOBODY-LISTENS", "a=%d", 1);
    cr_expect_eq(lines, 0u);
}

Test(log, the_writer_gets_level_id_and_formatted_fields)
{
    log_set_writer(capture, LOG_INFO);

    log_line(LOG_WARN, "STORAGE-PUT-RETRY", "shard=%u wait_ms=%u", 3u, 400u);

    cr_expect_str_eq(last_line, "2 STORAGE-PUT-RETRY shard=3 wait_ms=400");
}

Test(log, levels_below_the_least_are_off)
{
    log_set_writer(capture, LOG_WARN);

    log_line(LOG_DEBUG, "A", "x=%d", 1);
    log_line(LOG_INFO, "A", "x=%d", 1);
    cr_expect_eq(lines, 0u);
    log_line(LOG_WARN, "A", "x=%d", 1);
    log_line(LOG_CRITICAL, "A", "x=%d", 1);
    cr_expect_eq(lines, 2u);
    cr_expect_not(log_enabled(LOG_INFO));
    cr_expect(log_enabled(LOG_ERROR));
}

Test(log, long_lines_are_cut_at_2000_bytes)
{
    log_set_writer(capture, LOG_DEBUG);

    log_line(LOG_INFO, "LONG", "x=%0*d", 3000, 1);

    cr_expect_eq(last_count, 2000u);
}
