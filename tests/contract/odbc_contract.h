/*
 * odbc_contract.h: the index contract over ODBC, and what ODBC adds to it, for one database server;
 * each rule gets a database of its own.
 */
#ifndef TESTS_CONTRACT_ODBC_CONTRACT_H
#define TESTS_CONTRACT_ODBC_CONTRACT_H

#include "tests/contract/index_contract.h"
#include "tests/servers/server.h"

struct contract_odbc {
    const char *driver;     /* as it is registered */
    const char *more;       /* further parts of the connection string, each with a ';' */
    bool transactional;     /* it makes tables all or none: there are no half-made ones */
    const char *first_base; /* a database that every server has */
    uint16_t port;
    bool (*start)(struct server *server);
};

/* A rule of the index contract. */
void contract_odbc_index(const struct contract_odbc *server,
                         void (*rule)(struct contract_index *subject));

/* X(rule) */
#define CONTRACT_ODBC_RULES(X)                                                                     \
    X(keeps_what_the_database_would_refuse)                                                        \
    X(keeps_long_and_many_byte_texts)                                                              \
    X(has_the_tables_and_columns_that_others_rely_on)                                              \
    X(goes_on_making_tables_that_were_half_made)                                                   \
    X(takes_tables_whose_state_was_a_text)                                                         \
    X(refuses_tables_of_a_later_version)                                                           \
    X(denies_wrong_credentials_and_tells_no_secret)                                                \
    X(names_a_missing_driver)                                                                      \
    X(goes_on_when_the_server_has_been_away)

#define X(rule) void contract_odbc_##rule(const struct contract_odbc *server);
CONTRACT_ODBC_RULES(X)
#undef X

#endif
