/*
 * rabbitmq.c: see rabbitmq.h.
 *
 * Nodes find each other by a port mapper, which RabbitMQ starts as a daemon when there is none; so
 * it is started before, as a process of ours. The names of nodes and the home directory are the
 * server's own.
 */
#include "tests/servers/rabbitmq.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "/usr/lib/rabbitmq/bin/rabbitmq-server"
#define PLUGINS "[rabbitmq_amqp1_0].\n"
/* One scheduler that does not spin while it has nothing to do. */
#define SCHEDULING                                                                                 \
    "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none"

static struct server mapper; /* no directory of its own */

bool server_rabbitmq_installed(void)
{
    char path[256];
    return server_find("rabbitmq-server", PROGRAM, path) && server_find("epmd", NULL, path);
}

static bool write_plugins(const struct server *server)
{
    char path[192];
    snprintf(path, sizeof path, "%s/plugins", server->directory);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(PLUGINS, file) >= 0;
    return file != NULL && fclose(file) == 0 && written;
}

static bool start_mapper(const struct server *server)
{
    char program[256];
    char port[8];
    if (mapper.pid > 0) {
        return true;
    }
    mapper = *server;
    mapper.port = server_free_port();
    snprintf(port, sizeof port, "%u", (unsigned)mapper.port);
    const char *const arguments[] = {program, "-port", port, "-address", "127.0.0.1", NULL};
    return server_find("epmd", NULL, program) && server_start(&mapper, arguments);
}

bool server_rabbitmq_start(struct server *server)
{
    char words[8][256];
    if (server->directory[0] == '\0' && (!server_prepare(server, NULL) || !write_plugins(server))) {
        return false;
    }
    if (!start_mapper(server)) {
        return false;
    }
    const char *directory = server->directory;
    snprintf(words[0], sizeof words[0], "HOME=%s", directory);
    snprintf(words[1], sizeof words[1], "ERL_EPMD_PORT=%u", (unsigned)mapper.port);
    snprintf(words[2], sizeof words[2], "RABBITMQ_NODENAME=strider%u@localhost",
             (unsigned)server->port);
    snprintf(words[3], sizeof words[3], "RABBITMQ_MNESIA_BASE=%s/data", directory);
    snprintf(words[4], sizeof words[4], "RABBITMQ_LOG_BASE=%s/logs", directory);
    snprintf(words[5], sizeof words[5], "RABBITMQ_ENABLED_PLUGINS_FILE=%s/plugins", directory);
    snprintf(words[6], sizeof words[6], "RABBITMQ_NODE_PORT=%u", (unsigned)server->port);
    snprintf(words[7], sizeof words[7], "RABBITMQ_DIST_PORT=%u", (unsigned)server_free_port());
    /* (As under systemd the script becomes the server, so its process id is ours to end.) */
    const char *const arguments[] = {"/usr/bin/env",
                                     words[0],
                                     words[1],
                                     words[2],
                                     words[3],
                                     words[4],
                                     words[5],
                                     words[6],
                                     words[7],
                                     "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
                                     "RABBITMQ_CONFIG_FILE=none",
                                     "RUNNING_UNDER_SYSTEMD=1",
                                     SCHEDULING,
                                     PROGRAM,
                                     NULL};
    return server_start(server, arguments);
}

void server_rabbitmq_remove(struct server *server)
{
    server_kill(&mapper);
    server_remove(server);
}
