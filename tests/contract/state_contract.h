/* state_contract.h: what every state table must do (storage/state.h). */
#ifndef TESTS_CONTRACT_STATE_CONTRACT_H
#define TESTS_CONTRACT_STATE_CONTRACT_H

#include "storage/state.h"

struct contract_state {
    /* Opens the store as it is; asserts that it works. */
    struct storage_state *(*open)(struct contract_state *self);
    /* Ends it as a kill or a power cut would, in the worst legal way, or in an orderly way. */
    void (*end)(struct contract_state *self, struct storage_state *state, bool orderly);
    /* Makes the store refuse to grow (RESULT_FULL), or no longer. */
    void (*set_full)(struct contract_state *self, struct storage_state *state, bool full);
};

/* X(rule) */
#define CONTRACT_STATE_RULES(X)                                                                    \
    X(finds_what_was_put)                                                                          \
    X(says_not_found)                                                                              \
    X(keeps_its_tables_apart)                                                                      \
    X(lets_the_later_change_of_a_key_win)                                                          \
    X(keeps_an_empty_value)                                                                        \
    X(keeps_large_values_and_longest_keys)                                                         \
    X(refuses_a_bad_key_and_changes_nothing)                                                       \
    X(scans_in_key_order_from_behind_a_key)                                                        \
    X(keeps_what_was_flushed_with_its_position)                                                    \
    X(holds_many_rows)                                                                             \
    X(says_full_and_changes_nothing)                                                               \
    X(says_limit_when_the_arena_is_full)

#define X(rule) void contract_state_##rule(struct contract_state *subject);
CONTRACT_STATE_RULES(X)
#undef X

#endif
