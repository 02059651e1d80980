/*
 * file_limit.h: makes the kernel refuse to let any file of this process grow beyond a size, which a
 * library's own files meet just as a full disk (EFBIG for ENOSPC).
 */
#ifndef TESTS_CONTRACT_FILE_LIMIT_H
#define TESTS_CONTRACT_FILE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* UINT64_MAX: no limit. */
void contract_file_limit(uint64_t bytes);
/* Size of a file, rounded up to a page. */
uint64_t contract_file_bytes(const char *path);

#endif
