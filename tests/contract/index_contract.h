/* index_contract.h: what every index and audit database must do (storage/index.h). */
#ifndef TESTS_CONTRACT_INDEX_CONTRACT_H
#define TESTS_CONTRACT_INDEX_CONTRACT_H

#include "storage/index.h"

struct contract_index {
    /* Opens the store as it is; asserts that it works. */
    struct storage_index *(*open)(struct contract_index *self);
    /* Makes the store refuse to grow (RESULT_FULL), or no longer. */
    void (*set_full)(struct contract_index *self, bool full);
};

/* X(rule): what every index must do. */
#define CONTRACT_INDEX_RULES_OF_ALL(X)                                                             \
    X(gives_a_row_back_as_its_message)                                                             \
    X(says_not_found)                                                                              \
    X(writes_a_row_only_if_its_revision_is_newer)                                                  \
    X(folds_several_messages_of_one_apply)                                                         \
    X(keeps_each_log_index_once_and_in_order)                                                      \
    X(gives_the_value_of_a_log_entry_back)                                                         \
    X(keeps_position_and_rows_over_a_restart)                                                      \
    X(leaves_the_position_alone_where_there_is_none)                                               \
    X(leaves_out_a_message_without_id_or_revision)                                                 \
    X(lists_the_newest_start_first_page_by_page)                                                   \
    X(filters_a_list)                                                                              \
    X(refuses_a_bad_query)                                                                         \
    X(follows_a_restart_to_its_new_start)                                                          \
    X(removes_row_and_logs)                                                                        \
    X(applies_many_messages_at_once)                                                               \
    X(keeps_texts_as_they_are)                                                                     \
    X(keeps_large_texts_beside_small_ones)

/* Those too whose files are here, so that they can fill up. */
#define CONTRACT_INDEX_RULES(X)                                                                    \
    CONTRACT_INDEX_RULES_OF_ALL(X)                                                                 \
    X(says_full_and_changes_nothing)

#define X(rule) void contract_index_##rule(struct contract_index *subject);
CONTRACT_INDEX_RULES(X)
#undef X

#endif
