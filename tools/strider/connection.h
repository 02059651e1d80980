/*
 * connection.h: a verb's way to a running engine: the options --connect, --token and --timeout, one
 * request after the other. Complains in the verb's name.
 */
#ifndef TOOLS_STRIDER_CONNECTION_H
#define TOOLS_STRIDER_CONNECTION_H

#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tools/strider/verb.h"
#include "transport/tls.h"

#define CLIENT_DEFAULT_URL "tcp://127.0.0.1:7700"

struct transport_client;

struct client_connection {
    const char *verb;
    const char *url;
    const char *token; /* or NULL */
    uint64_t timeout_ms;
    struct transport_tls tls;
    struct transport_client *client; /* NULL until the first request */
};

/*
 * Reads the options. CLI_DONE, CLI_USAGE. Disconnect in either case. The engine is dialed by the
 * first request: a verb whose other arguments are wrong never is a peer that comes and goes, which
 * NNG 1.5.2 over IPC does not take well.
 */
int client_connect(const struct cli_arguments *arguments, struct client_connection *out);
void client_disconnect(struct client_connection *connection);
/* CLI_USAGE: the address is none. CLI_DONE: *reply is what the engine said, which may be a refusal.
 */
int client_ask(struct client_connection *connection, struct span request, struct arena *arena,
               struct span *reply);
/* For a person: code and message of a reply that is a refusal. Returns CLI_FAILED. */
int client_complain_refused(const char *verb, struct span reply, struct arena *arena);

#endif
