/* dialect_test.c: every flavour's SQL has as many parameters as are bound to it. */
#include "storage/odbc/dialect.h"

#include <criterion/criterion.h>
#include <string.h>

#include "storage/audit_columns.h"

#define FLAVOURS (STORAGE_ODBC_SQL_SERVER + 1)

static size_t count_of(const char *text, char what)
{
    size_t count = 0;
    cr_assert_not_null(text);
    for (const char *at = strchr(text, what); at != NULL; at = strchr(at + 1, what)) {
        count++;
    }
    return count;
}

static void expect_parameters(const char *text, size_t count)
{
    cr_assert_eq(count_of(text, '?'), count, "%s", text);
    cr_assert_eq(count_of(text, '('), count_of(text, ')'), "%s", text);
}

Test(odbc_dialect, is_known_by_the_name_that_the_driver_gives)
{
    static const struct {
        const char *name;
        enum storage_odbc_flavour flavour;
    } rows[] = {{"PostgreSQL", STORAGE_ODBC_POSTGRESQL},
                {"MySQL", STORAGE_ODBC_MYSQL},
                {"MariaDB", STORAGE_ODBC_MYSQL},
                {"Microsoft SQL Server", STORAGE_ODBC_SQL_SERVER}};
    enum storage_odbc_flavour flavour;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(storage_odbc_flavour_of(rows[i].name, &flavour), RESULT_OK);
        cr_assert_eq(flavour, rows[i].flavour);
    }
    cr_assert_eq(storage_odbc_flavour_of("SQLite", &flavour), RESULT_UNSUPPORTED);
}

Test(odbc_dialect, has_as_many_parameters_as_are_bound)
{
    struct arena arena;
    arena_init(&arena, 65536, 1u << 20);
    const struct storage_index_query all = {
        .equal = {span_text("1"), span_text("2"), span_text("3"), span_text("4"), span_text("5")},
        .since = "2026-11-30T10:00:00.000Z",
        .before_start = span_text("s"),
        .before_id = span_text("i"),
        .limit = 10,
    };
    const struct storage_index_query none = {.limit = 10};
    for (int flavour = 0; flavour < FLAVOURS; flavour++) {
        for (size_t rows = 1; rows <= 3; rows++) {
            size_t bound = storage_odbc_takes_arrays(flavour) ? 1 : rows;
            expect_parameters(storage_odbc_upsert(flavour, rows, &arena),
                              bound * STORAGE_AUDIT_COLUMN_COUNT);
            expect_parameters(storage_odbc_insert_logs(flavour, rows, &arena),
                              bound * (STORAGE_LOG_COLUMN_COUNT + 1));
        }
        expect_parameters(storage_odbc_list(flavour, &all, &arena), 9);
        expect_parameters(storage_odbc_list(flavour, &none, &arena), 0);
        expect_parameters(storage_odbc_logs(flavour, 10, &arena), 2);
        cr_assert_not_null(strstr(storage_odbc_list(flavour, &none, &arena), "11"),
                           "one row more than asked for");
    }
    arena_release(&arena);
}

Test(odbc_dialect, makes_three_tables_an_index_and_two_numbers)
{
    struct arena arena;
    arena_init(&arena, 65536, 1u << 20);
    for (int flavour = 0; flavour < FLAVOURS; flavour++) {
        size_t at = 0;
        for (const char *text = storage_odbc_schema(flavour, at, &arena); text != NULL;
             text = storage_odbc_schema(flavour, ++at, &arena)) {
            expect_parameters(text, 0);
        }
        cr_assert_eq(at, 5);
    }
    arena_release(&arena);
}

Test(odbc_dialect, says_when_its_arena_is_full)
{
    struct arena arena;
    arena_init(&arena, 256, 256);

    cr_assert_null(storage_odbc_upsert(STORAGE_ODBC_MYSQL, 1, &arena));
    cr_assert(arena.overflowed);

    arena_release(&arena);
}
