/* hot_contract.h: what every hot tier must do (storage/hot.h). Times are whatever the caller says.
 */
#ifndef TESTS_CONTRACT_HOT_CONTRACT_H
#define TESTS_CONTRACT_HOT_CONTRACT_H

#include "storage/hot.h"

#define CONTRACT_HOT_TTL_MS 1000u

/* X(rule): each gets an empty tier with the ttl above. */
#define CONTRACT_HOT_RULES(X)                                                                      \
    X(finds_what_was_put)                                                                          \
    X(says_not_found)                                                                              \
    X(replaces_bytes_of_any_size)                                                                  \
    X(forgets_after_the_ttl)                                                                       \
    X(slides_the_ttl_with_each_touch)                                                              \
    X(removes_sessions)                                                                            \
    X(resolves_the_newest_binding)                                                                 \
    X(unbinds_only_what_still_points_at_the_execution)                                             \
    X(keeps_sessions_and_bindings_apart)                                                           \
    X(holds_many_sessions)

#define X(rule) void contract_hot_##rule(struct storage_hot *hot);
CONTRACT_HOT_RULES(X)
#undef X

#endif
