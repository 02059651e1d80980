/*
 * connection.c: see connection.h.
 */
#include "tools/strider/connection.h"

#include <stdlib.h>

#include "proto/wire/reader.h"
#include "tools/strider/input.h"
#include "tools/strider/print.h"
#include "transport/client.h"

#define TIMEOUT_MS     60000u
#define TIMEOUT_MAX_MS 86400000u
#define GRACE_MS       2000u /* the engine's own Timeout reply may take that long to arrive */

static const char *option_or_environment(const struct cli_arguments *arguments, const char *option,
                                         const char *variable)
{
    const char *value = cli_option_value(arguments, option);
    return value != NULL ? value : getenv(variable);
}

int client_connect(const struct cli_arguments *arguments, struct client_connection *out)
{
    const char *url = option_or_environment(arguments, "connect", "STRIDER_CONNECT");
    const char *timeout = cli_option_value(arguments, "timeout");
    *out = (struct client_connection){
        .verb = arguments->verb->name,
        .url = url == NULL ? CLIENT_DEFAULT_URL : url,
        .token = option_or_environment(arguments, "token", "STRIDER_TOKEN"),
        .timeout_ms = TIMEOUT_MS,
        .tls = {option_or_environment(arguments, "tls-certificate", "STRIDER_TLS_CERTIFICATE"),
                option_or_environment(arguments, "tls-authorities", "STRIDER_TLS_AUTHORITIES")},
    };
    if (timeout != NULL && (cli_parse_duration(span_text(timeout), &out->timeout_ms) != RESULT_OK ||
                            out->timeout_ms == 0 || out->timeout_ms > TIMEOUT_MAX_MS)) {
        return cli_complain(
            out->verb, CLI_USAGE,
            "--timeout wants a duration of at most a day, like 500ms or 30s, not \"%s\"", timeout);
    }
    return CLI_DONE;
}

void client_disconnect(struct client_connection *connection)
{
    if (connection->client != NULL) {
        transport_client_close(connection->client);
        connection->client = NULL;
    }
}

static int dial(struct client_connection *connection)
{
    char error[256] = "";
    if (transport_client_open_tls(connection->url, &connection->tls, &connection->client, error) !=
        RESULT_OK) {
        connection->client = NULL;
        return cli_complain(connection->verb, CLI_USAGE, "--connect %s: %s", connection->url,
                            error);
    }
    return CLI_DONE;
}

int client_ask(struct client_connection *connection, struct span request, struct arena *arena,
               struct span *reply)
{
    int code = connection->client == NULL ? dial(connection) : CLI_DONE;
    if (code != CLI_DONE) {
        return code;
    }
    uint32_t timeout_ms = (uint32_t)connection->timeout_ms + GRACE_MS;
    enum result result =
        transport_client_call(connection->client, request, timeout_ms, arena, reply);
    if (result == RESULT_TIMEOUT) {
        return cli_complain(connection->verb, CLI_FAILED,
                            "no answer from %s within %u ms (does an engine serve there?)",
                            connection->url, timeout_ms);
    }
    if (result == RESULT_DENIED) {
        return cli_complain(
            connection->verb, CLI_FAILED,
            "%s: the TLS handshake fails: its certificate must be for that name and "
            "signed by one of --tls-authorities, and it may ask for one of ours "
            "(--tls-certificate)",
            connection->url);
    }
    if (result == RESULT_CLOSED) {
        return cli_complain(connection->verb, CLI_FAILED,
                            "%s: the connection ended without an answer: the engine stopped, or it "
                            "has as many as it takes (front.maxConnections)",
                            connection->url);
    }
    if (result != RESULT_OK) {
        return cli_complain(connection->verb, CLI_FAILED, "%s: %s", connection->url,
                            result_text(result));
    }
    return CLI_DONE;
}

int client_complain_refused(const char *verb, struct span reply, struct arena *arena)
{
    struct span error = wire_find_text(reply, "error");
    struct span code = cli_cell(wire_find_text(error, "code"), arena);
    struct span message = cli_cell(wire_find_text(error, "message"), arena);
    struct span details = cli_cell(wire_find_text(error, "details"), arena);
    return cli_complain(verb, CLI_FAILED, "%.*s: %.*s%s%.*s", SPAN_ARG(code), SPAN_ARG(message),
                        details.count > 0 ? " " : "", SPAN_ARG(details));
}
