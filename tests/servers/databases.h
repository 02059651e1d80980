/* databases.h: database servers for tests, each with the user "strider", password "secret", who may
 * make databases. They outlive a kill, but sync
 * nothing: a test's data need not survive a power cut. */
#ifndef TESTS_SERVERS_DATABASES_H
#define TESTS_SERVERS_DATABASES_H

#include "tests/servers/server.h"

/* Is an ODBC driver of this name registered? */
bool server_odbc_driver_installed(const char *driver);

bool server_postgresql_installed(void);
/* One that was killed starts again on its port and data. */
bool server_postgresql_start(struct server *server);

bool server_mariadb_installed(void);
bool server_mariadb_start(struct server *server);

#endif
