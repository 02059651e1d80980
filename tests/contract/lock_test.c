/* lock_test.c: one engine a data directory. */
#include <criterion/criterion.h>
#include <sys/stat.h>

#include "storage/embedded/embedded.h"
#include "tests/contract/support.h"

Test(directory_lock, is_held_by_one_only_and_makes_the_directory)
{
    struct contract_directory directory = contract_directory_new();
    const char *path = contract_path(&directory, "a/b/c");
    int first = -1;
    int second = -1;

    cr_assert_eq(storage_directory_lock(path, &first), RESULT_OK);
    cr_assert_eq(storage_directory_lock(path, &second), RESULT_EXISTS);
    storage_directory_unlock(first);
    cr_assert_eq(storage_directory_lock(path, &second), RESULT_OK);

    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0700);
    storage_directory_unlock(second);
    contract_directory_remove(&directory);
}

Test(directory_lock, refuses_a_path_through_a_file)
{
    struct contract_directory directory = contract_directory_new();
    int lock = -1;
    cr_assert_eq(storage_directory_lock("/dev/null/data", &lock), RESULT_INVALID);
    cr_assert_eq(storage_directory_lock("", &lock), RESULT_INVALID);
    contract_directory_remove(&directory);
}
