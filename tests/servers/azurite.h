/*
 * azurite.h: the emulator of Azure Blob for tests, an npm package: looked for in
 * $STRIDER_NODE_MODULES, else in build/node/node_modules of the source tree (`tools/dev test`
 * installs it there).
 */
#ifndef TESTS_SERVERS_AZURITE_H
#define TESTS_SERVERS_AZURITE_H

#include "tests/servers/server.h"

bool server_azurite_installed(void);
/* A server that was killed starts again on its port and directory. */
bool server_azurite_start(struct server *server);
/* "AccountName=…;AccountKey=…;BlobEndpoint=…" of the emulator's account. */
void server_azurite_connection(uint16_t port, char out[400]);

#endif
