/* full_files.h: a file layer over another one that can be told that the disk is full. */
#ifndef TESTS_CONTRACT_FULL_FILES_H
#define TESTS_CONTRACT_FULL_FILES_H

#include "storage/file.h"

struct contract_full_files {
    struct storage_files files; /* first */
    struct storage_files *below;
    bool full_for_reservations; /* no space can be reserved */
    bool full_for_writes;       /* nor be written */
    bool refuse_sync;           /* syncs say RESULT_IO */
};

void contract_full_files_init(struct contract_full_files *self, struct storage_files *below);

#endif
