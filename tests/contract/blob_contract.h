/* blob_contract.h: what every blob tier must do (storage/blob.h). */
#ifndef TESTS_CONTRACT_BLOB_CONTRACT_H
#define TESTS_CONTRACT_BLOB_CONTRACT_H

#include "storage/blob.h"

struct contract_blob {
    /* Opens the store as it is; asserts that it works. */
    struct storage_blob *(*open)(struct contract_blob *self);
    /* Ends it as a kill or a power cut would, in the worst legal way, or in an orderly way. */
    void (*end)(struct contract_blob *self, struct storage_blob *blob, bool orderly);
    /* Makes the store refuse to grow (RESULT_FULL), or no longer. */
    void (*set_full)(struct contract_blob *self, struct storage_blob *blob, bool full);
};

/* X(rule): what every tier must do. */
#define CONTRACT_BLOB_RULES_OF_ALL(X)                                                              \
    X(finds_what_was_put)                                                                          \
    X(says_not_found)                                                                              \
    X(answers_each_request_once_and_each_item)                                                     \
    X(lets_the_newest_bytes_of_a_name_win)                                                         \
    X(rewrites_a_name_whatever_became_of_it)                                                       \
    X(keeps_large_and_empty_blobs)                                                                 \
    X(refuses_bad_names_one_by_one)                                                                \
    X(lists_names_in_order_with_a_limit)                                                           \
    X(removes_all_below_a_prefix_and_nothing_else)                                                 \
    X(keeps_what_was_flushed)

/* Those too that keep their blobs here: they can fill up and are quick, and tell the outcome at
 * once. */
#define CONTRACT_BLOB_RULES(X)                                                                     \
    CONTRACT_BLOB_RULES_OF_ALL(X)                                                                  \
    X(holds_many_names)                                                                            \
    X(says_full_and_keeps_what_there_is)                                                           \
    X(tells_the_outcome_to_a_caller_that_wants_no_answer)

#define X(rule) void contract_blob_##rule(struct contract_blob *subject);
CONTRACT_BLOB_RULES(X)
#undef X

#endif
