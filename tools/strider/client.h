/*
 * client.h: the verbs that ask a running engine. client_verbs.c holds the tables: which option of a
 * verb becomes which field of its request (interfaces.md 2), and how the reply looks to a person;
 * client.c carries any of them out.
 */
#ifndef TOOLS_STRIDER_CLIENT_H
#define TOOLS_STRIDER_CLIENT_H

#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tools/strider/connection.h"
#include "tools/strider/verb.h"

/* The options of every verb that asks an engine; ends the table. */
#define CLIENT_CONNECTION_OPTIONS                                                                  \
    {"connect", "URL",                                                                             \
     "the engine's NNG address; else $STRIDER_CONNECT, else\n" CLIENT_DEFAULT_URL},                \
        {"token", "TEXT", "when the engine asks for one; else $STRIDER_TOKEN"},                    \
        {"timeout", "DURATION", "how long to wait for the answer (60s)"},                          \
        {"tls-authorities", "FILE",                                                                \
         "over TLS: whom to trust (PEM); else\n$STRIDER_TLS_AUTHORITIES, else the system's"},      \
        {"tls-certificate", "FILE",                                                                \
         "over TLS: certificate and key to show (PEM); else\n$STRIDER_TLS_CERTIFICATE"},           \
        {"json", NULL, "print the reply as JSON, on a terminal too"},                              \
    {                                                                                              \
        0                                                                                          \
    }

enum client_field_kind {
    CLIENT_TEXT,
    CLIENT_INTEGER,
    CLIENT_JSON,
    CLIENT_FLAG,  /* true when the option is there */
    CLIENT_PAIRS, /* NAME=VALUE, repeats: a map */
    CLIENT_NAMES, /* NAME=NAME, repeats: a map of texts */
    CLIENT_WORDS, /* comma-separated: a list of strings */
};

/* An option that becomes a field; tables end with a NULL option. */
struct client_field {
    const char *option;
    const char *name;
    enum client_field_kind kind;
};

struct client_shape {
    const char *operation; /* the verb's name */
    const char *operand;   /* the field that the operand fills; NULL: none */
    const struct client_field *fields;
    void (*print)(struct span reply, struct arena *arena); /* for a person */
};

/* The shape of a verb's request; the verb must be one of cli_client_verbs. */
const struct client_shape *client_shape_of(const char *verb);

/* Sends the request that the arguments describe and shows its reply; deploy sends one for each
 * file. The exit code. */
int client_run(const struct cli_arguments *arguments);

#endif
