/* mariadb_test.c: the index in MariaDB, over ODBC, keeps its contract. */
#include "tests/contract/odbc_contract.h"
#include "tests/contract/servers_main.h"
#include "tests/servers/databases.h"

#define MARIADB "mariadb"

int main(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return contract_servers_main(argc, argv, MARIADB, server_mariadb_installed,
                                 server_mariadb_start);
}

static struct contract_odbc server_of(void)
{
    return (struct contract_odbc){
        .driver = "MariaDB Unicode",
        .more = "",
        .first_base = "mysql",
        .port = server_published(MARIADB),
        .start = server_mariadb_start,
    };
}

#define X(rule)                                                                                    \
    Test(index_in_mariadb, rule)                                                                   \
    {                                                                                              \
        CONTRACT_NEEDS(MARIADB);                                                                   \
        struct contract_odbc server = server_of();                                                 \
        contract_odbc_index(&server, contract_index_##rule);                                       \
    }
CONTRACT_INDEX_RULES_OF_ALL(X)
#undef X

#define X(rule)                                                                                    \
    Test(index_in_mariadb, rule)                                                                   \
    {                                                                                              \
        CONTRACT_NEEDS(MARIADB);                                                                   \
        struct contract_odbc server = server_of();                                                 \
        contract_odbc_##rule(&server);                                                             \
    }
CONTRACT_ODBC_RULES(X)
#undef X
