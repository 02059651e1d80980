/* databases.c: see databases.h. */
#include "tests/servers/databases.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define POSTGRESQL_PLACES "/usr/lib/postgresql/*/bin/"

static bool write_file(const struct server *server, const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", server->directory, name);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    return written && chmod(path, 0644) == 0;
}

bool server_odbc_driver_installed(const char *driver)
{
    char line[256];
    char section[256];
    bool found = false;
    FILE *file = fopen("/etc/odbcinst.ini", "r");
    snprintf(section, sizeof section, "[%s]\n", driver);
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strcmp(line, section) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

bool server_postgresql_installed(void)
{
    char path[256];
    return server_find("postgres", POSTGRESQL_PLACES "postgres", path) &&
           server_find("initdb", POSTGRESQL_PLACES "initdb", path) &&
           server_odbc_driver_installed("PostgreSQL Unicode");
}

bool server_postgresql_start(struct server *server)
{
    char program[256];
    char port[8];
    char data[160];
    char password[160];
    if (server->directory[0] == '\0') {
        if (!server_prepare(server, "postgres") || !write_file(server, "password", "secret\n")) {
            return false;
        }
        snprintf(data, sizeof data, "%s/data", server->directory);
        snprintf(password, sizeof password, "--pwfile=%s/password", server->directory);
        const char *const initialise[] = {
            program,         "-D", data,   "-U",        "strider",     password, "-A",
            "scram-sha-256", "-E", "UTF8", "--no-sync", "--no-locale", NULL};
        if (!server_find("initdb", POSTGRESQL_PLACES "initdb", program) ||
            !server_run(server, initialise)) {
            return false;
        }
    }
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    snprintf(data, sizeof data, "%s/data", server->directory);
    const char *const arguments[] = {program,     "-D", data, "-p", port, "-h",
                                     "127.0.0.1", "-k", data, "-F", NULL};
    return server_find("postgres", POSTGRESQL_PLACES "postgres", program) &&
           server_start(server, arguments);
}

bool server_mariadb_installed(void)
{
    char path[256];
    return server_find("mariadbd", "/usr/sbin/mariadbd", path) &&
           server_find("mariadb-install-db", NULL, path) &&
           server_odbc_driver_installed("MariaDB Unicode");
}

bool server_mariadb_start(struct server *server)
{
    char program[256];
    char port[32];
    char data[160];
    char socket[160];
    char init[160];
    if (server->directory[0] == '\0') {
        if (!server_prepare(server, "mysql") ||
            !write_file(server, "init.sql",
                        "CREATE USER IF NOT EXISTS 'strider'@'127.0.0.1' IDENTIFIED BY 'secret';\n"
                        "GRANT ALL ON *.* TO 'strider'@'127.0.0.1';\n"
                        "CREATE DATABASE IF NOT EXISTS pipeline;\n")) {
            return false;
        }
        snprintf(data, sizeof data, "--datadir=%s/data", server->directory);
        const char *const initialise[] = {program,
                                          "--no-defaults",
                                          data,
                                          "--skip-test-db",
                                          "--auth-root-authentication-method=normal",
                                          NULL};
        if (!server_find("mariadb-install-db", NULL, program) || !server_run(server, initialise)) {
            return false;
        }
    }
    snprintf(port, sizeof port, "--port=%u", (unsigned)server->port);
    snprintf(data, sizeof data, "--datadir=%s/data", server->directory);
    snprintf(socket, sizeof socket, "--socket=%s/socket", server->directory);
    snprintf(init, sizeof init, "--init-file=%s/init.sql", server->directory);
    const char *const arguments[] = {program,
                                     "--no-defaults",
                                     data,
                                     port,
                                     socket,
                                     init,
                                     "--bind-address=127.0.0.1",
                                     "--skip-name-resolve",
                                     "--innodb-flush-log-at-trx-commit=2",
                                     "--innodb-buffer-pool-size=32M",
                                     "--innodb-log-file-size=8M",
                                     NULL};
    return server_find("mariadbd", "/usr/sbin/mariadbd", program) &&
           server_start(server, arguments);
}
