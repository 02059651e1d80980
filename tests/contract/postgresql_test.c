/* postgresql_test.c: the index in PostgreSQL, over ODBC, keeps its contract. */
#include "tests/contract/odbc_contract.h"
#include "tests/contract/servers_main.h"
#include "tests/servers/databases.h"

#define POSTGRESQL "postgresql"

int main(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return contract_servers_main(argc, argv, POSTGRESQL, server_postgresql_installed,
                                 server_postgresql_start);
}

static struct contract_odbc server_of(void)
{
    return (struct contract_odbc){
        .driver = "PostgreSQL Unicode",
        .more = "",
        .transactional = true,
        .first_base = "postgres",
        .port = server_published(POSTGRESQL),
        .start = server_postgresql_start,
    };
}

#define X(rule)                                                                                    \
    Test(index_in_postgresql, rule)                                                                \
    {                                                                                              \
        CONTRACT_NEEDS(POSTGRESQL);                                                                \
        struct contract_odbc server = server_of();                                                 \
        contract_odbc_index(&server, contract_index_##rule);                                       \
    }
CONTRACT_INDEX_RULES_OF_ALL(X)
#undef X

#define X(rule)                                                                                    \
    Test(index_in_postgresql, rule)                                                                \
    {                                                                                              \
        CONTRACT_NEEDS(POSTGRESQL);                                                                \
        struct contract_odbc server = server_of();                                                 \
        contract_odbc_##rule(&server);                                                             \
    }
CONTRACT_ODBC_RULES(X)
#undef X
