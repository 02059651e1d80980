/* file_limit.c: see file_limit.h. */
#include "tests/contract/file_limit.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PAGE_BYTES 4096u

void contract_file_limit(uint64_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == UINT64_MAX ? limit.rlim_max : bytes;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

uint64_t contract_file_bytes(const char *path)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return ((uint64_t)status.st_size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}
