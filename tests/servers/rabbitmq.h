/* rabbitmq.h: RabbitMQ with its AMQP 1.0 plugin for tests: user and password "guest". It takes some
 * ten seconds to start: one a program. */
#ifndef TESTS_SERVERS_RABBITMQ_H
#define TESTS_SERVERS_RABBITMQ_H

#include "tests/servers/server.h"

bool server_rabbitmq_installed(void);
/*
 * One that was killed starts again on its port and data. Beside it runs its port mapper, which ends
 * by server_rabbitmq_remove, and with this program.
 */
bool server_rabbitmq_start(struct server *server);
/*
 * It speaks TLS too, where there is a program to make a certificate with: the port is published as
 * RABBITMQ_TLS; the certificate, for "localhost", is its own authority. NULL: it does not.
 */
#define RABBITMQ_TLS "rabbitmq_tls"
const char *server_rabbitmq_certificate(void);
/* In place of server_remove, which leaves the port mapper alone. */
void server_rabbitmq_remove(struct server *server);

#endif
