/* nginx.c: see nginx.h. */
#include "tests/servers/nginx.h"

#include <stdio.h>
#include <unistd.h>

#define NGINX_PATTERN "/usr/sbin/nginx"

/* One process that we end by its id; nothing outside the directory is touched. */
static const char configuration[] =
    "daemon off;\nmaster_process off;\npid %s/pid;\nerror_log stderr;\n"
    "events { worker_connections 256; }\n"
    "http {\n"
    "  access_log off;\n  keepalive_requests 10000000;\n  client_max_body_size 64m;\n"
    "  client_body_temp_path %s/body;\n  proxy_temp_path %s/unused;\n"
    "  fastcgi_temp_path %s/unused;\n  uwsgi_temp_path %s/unused;\n  scgi_temp_path %s/unused;\n"
    "  server {\n"
    "    listen 127.0.0.1:%u;\n    root %s/files;\n"
    "    location / { dav_methods PUT DELETE; create_full_put_path on; }\n"
    "  }\n"
    "}\n";

bool server_nginx_installed(void)
{
    char path[256];
    return server_find("nginx", NGINX_PATTERN, path);
}

static bool write_configuration(const struct server *server, const char *path)
{
    const char *at = server->directory;
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    fprintf(file, configuration, at, at, at, at, at, at, (unsigned)server->port, at);
    return fclose(file) == 0;
}

bool server_nginx_start(struct server *server)
{
    char path[256];
    char own[160];
    if (!server_find("nginx", NGINX_PATTERN, path) ||
        (server->directory[0] == '\0' && !server_prepare(server, "www-data"))) {
        return false;
    }
    snprintf(own, sizeof own, "%s/nginx.conf", server->directory);
    const char *const arguments[] = {path, "-p", server->directory, "-c", own, NULL};
    return write_configuration(server, own) && server_start(server, arguments);
}
