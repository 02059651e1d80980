/* redis.c: see redis.h. */
#include "tests/servers/redis.h"

#include <stdio.h>

bool server_redis_installed(void)
{
    char path[256];
    return server_find("redis-server", NULL, path);
}

bool server_redis_start(struct server *server, const char *const *more)
{
    char path[256];
    char port[8];
    if (!server_find("redis-server", NULL, path) ||
        (server->directory[0] == '\0' && !server_prepare(server, NULL))) {
        return false;
    }
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    const char *arguments[40] = {path,     "--bind", "127.0.0.1",    "--port", port,
                                 "--save", "",       "--appendonly", "no"};
    size_t count = 9;
    for (size_t i = 0; more != NULL && more[i] != NULL && count < 39; i++) {
        arguments[count++] = more[i];
    }
    return server_start(server, arguments);
}
