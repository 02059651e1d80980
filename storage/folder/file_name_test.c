/* file_name_test.c: names of blobs and their paths, one to one. */
#include "storage/folder/file_name.h"

#include <criterion/criterion.h>
#include <string.h>

Test(folder_file_name, is_the_name_itself_where_that_can_be)
{
    static const char *const rows[][2] = {
        {"w/e/1.msgpack", "w/e/1.msgpack"},
        {"w-1/a:b@c+d_e/execution.msgpack", "w-1/a:b@c+d_e/execution.msgpack"},
        {"w/b", "w/b%"},
        {"w/b/1", "w/b/1%"},
        {"w/b.msgpack/1.msgpack", "w/b.msgpack%/1.msgpack"},
        {"w/.hidden/..", "w/%2Ehidden/%2E.%"},
        {".msgpack", "%2Emsgpack"},
        {"w//x", "w/%/x%"},
        {"w/\xc3\xbc \\%", "w/%C3%BC%20%5C%25%"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[STORAGE_FOLDER_PATH_MAX];
        uint8_t name[STORAGE_FOLDER_NAME_MAX];
        size_t count = 0;

        cr_assert_eq(storage_folder_path(span_text(rows[i][0]), path), RESULT_OK);

        cr_assert_str_eq(path, rows[i][1], "%s", rows[i][0]);
        cr_assert(storage_folder_name(path, name, &count), "%s", path);
        cr_assert(span_is(span_of(name, count), rows[i][0]), "%s", path);
    }
}

Test(folder_file_name, of_a_folder_is_that_of_what_lies_in_it)
{
    char path[STORAGE_FOLDER_PATH_MAX];

    cr_assert_eq(storage_folder_path(span_text("w/b/"), path), RESULT_OK);
    cr_assert_str_eq(path, "w/b");
    cr_assert_eq(storage_folder_path(span_text("w/b.msgpack/"), path), RESULT_OK);
    cr_assert_str_eq(path, "w/b.msgpack%");
}

Test(folder_file_name, of_any_length_and_bytes_fits_the_file_system)
{
    uint8_t name[STORAGE_FOLDER_NAME_MAX + 1];
    for (int byte = 1; byte < 256; byte += 7) {
        char path[STORAGE_FOLDER_PATH_MAX];
        uint8_t again[STORAGE_FOLDER_NAME_MAX];
        size_t count = 0;
        memset(name, byte, sizeof name);

        cr_assert_eq(storage_folder_path(span_of(name, STORAGE_FOLDER_NAME_MAX), path), RESULT_OK);

        for (const char *part = path; *part != '\0'; part += strspn(part, "/")) {
            size_t part_count = strcspn(part, "/");
            cr_assert_leq(part_count, 255);
            part += part_count;
        }
        cr_assert(storage_folder_name(path, again, &count) || byte == '/', "%s", path);
        cr_assert(byte == '/' ||
                  span_equal(span_of(again, count), span_of(name, STORAGE_FOLDER_NAME_MAX)));
        cr_assert_eq(storage_folder_path(span_of(name, sizeof name), path), RESULT_INVALID);
    }
    char path[STORAGE_FOLDER_PATH_MAX];
    cr_assert_eq(storage_folder_path(SPAN_EMPTY, path), RESULT_INVALID);
}

Test(folder_file_name, of_somebody_elses_file_is_none)
{
    static const char *const paths[] = {"w/notes",      ".tmp/1", "w/.x.msgpack",
                                        "w/%zz%",       "w/%4%",  "w/%61%",
                                        "w/a.msgpack%", "w/a%+",  "w/a b%"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        uint8_t name[STORAGE_FOLDER_NAME_MAX];
        size_t count = 0;
        cr_assert_not(storage_folder_name(paths[i], name, &count), "%s", paths[i]);
    }
}
