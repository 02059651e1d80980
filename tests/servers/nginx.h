/* nginx.h: nginx as a store that takes PUT (WebDAV) below http://127.0.0.1:port/, any name and any
 * headers: for measuring what a client of it costs. Its files lie in the server's directory. */
#ifndef TESTS_SERVERS_NGINX_H
#define TESTS_SERVERS_NGINX_H

#include "tests/servers/server.h"

bool server_nginx_installed(void);
bool server_nginx_start(struct server *server);

#endif
