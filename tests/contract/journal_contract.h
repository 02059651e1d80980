/*
 * journal_contract.h: what every journal must do (storage/journal.h). A subject opens and closes
 * one journal over the same store again and again; its files are small, so that a few batches fill
 * many.
 */
#ifndef TESTS_CONTRACT_JOURNAL_CONTRACT_H
#define TESTS_CONTRACT_JOURNAL_CONTRACT_H

#include "storage/journal.h"

#define CONTRACT_JOURNAL_FILE_BYTES (16u << 10)

struct contract_journal {
    /* Opens the store as it is; asserts that it works. */
    struct storage_journal *(*open)(struct contract_journal *self,
                                    struct storage_journal_report *report);
    void (*close)(struct storage_journal *journal);
    /* Makes the store refuse to grow (RESULT_FULL), or no longer. */
    void (*set_full)(struct contract_journal *self, bool full);
};

/* X(rule) */
#define CONTRACT_JOURNAL_RULES(X)                                                                  \
    X(gives_batches_back_in_order)                                                                 \
    X(shows_nothing_before_its_sync)                                                               \
    X(shows_what_was_synced_without_durability)                                                    \
    X(reads_from_the_position_of_any_batch)                                                        \
    X(refuses_positions_outside)                                                                   \
    X(takes_a_batch_larger_than_a_file)                                                            \
    X(refuses_a_batch_over_the_limit)                                                              \
    X(keeps_what_was_synced_over_restarts)                                                         \
    X(trims_without_losing_what_follows)                                                           \
    X(trims_nothing_that_a_reader_holds)                                                           \
    X(closes_a_reader_whose_place_was_trimmed)                                                     \
    X(says_full_and_goes_on_when_there_is_space)                                                   \
    X(is_empty_at_first)

#define X(rule) void contract_journal_##rule(struct contract_journal *subject);
CONTRACT_JOURNAL_RULES(X)
#undef X

#endif
