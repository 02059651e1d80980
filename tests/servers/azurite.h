/*
 * azurite.h: the emulators of Azure Blob and S3 for tests, both npm packages: looked for in
 * $STRIDER_NODE_MODULES, else in build/node/node_modules of the source tree (`tools/dev test`
 * installs them there).
 */
#ifndef TESTS_SERVERS_AZURITE_H
#define TESTS_SERVERS_AZURITE_H

#include "tests/servers/server.h"

bool server_azurite_installed(void);
/* A server that was killed starts again on its port and directory. */
bool server_azurite_start(struct server *server);
/* "AccountName=…;AccountKey=…;BlobEndpoint=…" of the emulator's account. */
void server_azurite_connection(uint16_t port, char out[400]);

/* s3rver: account S3RVER, secret S3RVER. */
bool server_s3rver_installed(void);
bool server_s3rver_start(struct server *server);

#endif
