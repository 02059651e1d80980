/* redis.h: a redis-server for tests. */
#ifndef TESTS_SERVERS_REDIS_H
#define TESTS_SERVERS_REDIS_H

#include "tests/servers/server.h"

bool server_redis_installed(void);
/* `more`: further arguments of redis-server, ending with NULL (or NULL: none). Keeps nothing on
 * disk. A server that was killed starts again on its port. */
bool server_redis_start(struct server *server, const char *const *more);

#endif
