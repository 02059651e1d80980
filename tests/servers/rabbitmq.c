/*
 * rabbitmq.c: see rabbitmq.h.
 *
 * Nodes find each other by a port mapper, which RabbitMQ starts as a daemon when there is none; so
 * it is started before, as a process of ours. The names of nodes and the home directory are the
 * server's own.
 */
#include "tests/servers/rabbitmq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "/usr/lib/rabbitmq/bin/rabbitmq-server"
#define PLUGINS "[rabbitmq_amqp1_0].\n"
/* One scheduler that does not spin while it has nothing to do. */
#define SCHEDULING                                                                                 \
    "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none"

#define CERTIFICATE "STRIDER_TEST_RABBITMQ_CERTIFICATE"

static struct server mapper; /* no directory of its own */

bool server_rabbitmq_installed(void)
{
    char path[256];
    return server_find("rabbitmq-server", PROGRAM, path) && server_find("epmd", NULL, path);
}

const char *server_rabbitmq_certificate(void)
{
    return getenv(CERTIFICATE);
}

static bool write_file(const struct server *server, const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", server->directory, name);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && written;
}

/* A key and a certificate, and the settings of a listener with them. */
static bool write_tls(struct server *server)
{
    char program[256];
    char key[160];
    char certificate[160];
    char settings[1024];
    struct server tls = {.port = server_free_port()};
    snprintf(key, sizeof key, "%s/key.pem", server->directory);
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", server->directory);
    const char *const arguments[] = {program,
                                     "req",
                                     "-x509",
                                     "-newkey",
                                     "ec",
                                     "-pkeyopt",
                                     "ec_paramgen_curve:prime256v1",
                                     "-nodes",
                                     "-days",
                                     "2",
                                     "-subj",
                                     "/CN=localhost",
                                     "-addext",
                                     "subjectAltName=DNS:localhost",
                                     "-keyout",
                                     key,
                                     "-out",
                                     certificate,
                                     NULL};
    if (!server_find("openssl", NULL, program)) {
        return write_file(server, "rabbitmq.conf", "");
    }
    snprintf(settings, sizeof settings,
             "listeners.ssl.1 = 127.0.0.1:%u\nssl_options.certfile = %s\n"
             "ssl_options.keyfile = %s\nssl_options.cacertfile = %s\n"
             "ssl_options.verify = verify_none\n",
             (unsigned)tls.port, certificate, key, certificate);
    setenv(CERTIFICATE, certificate, 1);
    server_publish(RABBITMQ_TLS, &tls);
    return server_run(server, arguments) && write_file(server, "rabbitmq.conf", settings);
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
    char words[9][256];
    if (server->directory[0] == '\0' &&
        (!server_prepare(server, NULL) || !write_file(server, "plugins", PLUGINS) ||
         !write_tls(server))) {
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
    snprintf(words[8], sizeof words[8], "RABBITMQ_CONFIG_FILE=%s/rabbitmq.conf", directory);
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
                                     words[8],
                                     "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
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
