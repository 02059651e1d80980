/* bus_contract.h: what every audit bus must do (audit/bus.h). */
#ifndef TESTS_CONTRACT_BUS_CONTRACT_H
#define TESTS_CONTRACT_BUS_CONTRACT_H

#include "audit/bus.h"

/* A queue of its own for one test, and how to reach it. */
struct contract_bus {
    struct audit_bus *(*open_bus)(struct contract_bus *self, uint32_t window,
                                  struct proto_sink *owner);
    struct audit_source *(*open_source)(struct contract_bus *self, uint32_t window,
                                        struct proto_sink *owner);
    /* From now on open_bus reaches nobody. */
    void (*go_away)(struct contract_bus *self);
};

/* X(rule): each gets an empty queue. */
#define CONTRACT_BUS_RULES(X)                                                                      \
    X(brings_ids_and_bodies_in_the_order_of_sending)                                               \
    X(counts_what_is_settled)                                                                      \
    X(takes_no_more_than_its_window)                                                               \
    X(brings_no_more_than_the_window_of_a_source)                                                  \
    X(brings_no_more_bytes_than_may_be_unsettled)                                                  \
    X(brings_again_what_was_not_accepted)                                                          \
    X(shares_a_queue_among_sources)                                                                \
    X(keeps_messages_until_somebody_receives)

#define X(rule) void contract_bus_##rule(struct contract_bus *queue);
CONTRACT_BUS_RULES(X)
#undef X

#endif
