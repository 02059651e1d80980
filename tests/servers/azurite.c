/* azurite.c: see azurite.h. */
#include "tests/servers/azurite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AZURITE_MAIN "azurite/dist/src/blob/main.js"
#define ACCOUNT      "devstoreaccount1"
/* Public: the same in every emulator. */
#define ACCOUNT_KEY                                                                                \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static bool find(const char *file, char node[256], char main[512])
{
    const char *modules = getenv("STRIDER_NODE_MODULES");
    snprintf(main, 512, "%s/%s",
             modules != NULL ? modules : STRIDER_SOURCE_DIR "/build/node/node_modules", file);
    return server_find("node", NULL, node) && access(main, R_OK) == 0;
}

bool server_azurite_installed(void)
{
    char node[256];
    char main[512];
    return find(AZURITE_MAIN, node, main);
}

bool server_azurite_start(struct server *server)
{
    char node[256];
    char main[512];
    char port[8];
    if (!find(AZURITE_MAIN, node, main) ||
        (server->directory[0] == '\0' && !server_prepare(server, NULL))) {
        return false;
    }
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    const char *const arguments[] = {node,
                                     main,
                                     "--blobHost",
                                     "127.0.0.1",
                                     "--blobPort",
                                     port,
                                     "-l",
                                     server->directory,
                                     "--silent",
                                     "--disableTelemetry",
                                     "--skipApiVersionCheck",
                                     NULL};
    return server_start(server, arguments);
}

void server_azurite_connection(uint16_t port, char out[400])
{
    snprintf(out, 400, "AccountName=%s;AccountKey=%s;BlobEndpoint=http://127.0.0.1:%u/%s", ACCOUNT,
             ACCOUNT_KEY, (unsigned)port, ACCOUNT);
}
