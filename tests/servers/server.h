/*
 * server.h: real servers for tests: a program on a private port of the loopback with a private
 * data directory, ended by its own process id, and by the kernel when the test program dies.
 * Which programs there are: redis.h, azurite.h, postgres.h, mariadb.h.
 */
#ifndef TESTS_SERVERS_SERVER_H
#define TESTS_SERVERS_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVER_START_MS 240000u /* on a machine with much else to do */

struct server {
    pid_t pid; /* 0: not running */
    uint16_t port;
    char directory[128]; /* its own, below $TMPDIR or /tmp; "log" holds what it says */
    int lock;            /* on the directory, while somebody of this test program lives; 0: none */
    const char *user;    /* whom it runs as when the tests run as root; NULL: as we do */
};

/* The path of an installed program: the last that a glob pattern finds (NULL: none), else from
 * $PATH. False: not installed. */
bool server_find(const char *name, const char *pattern, char path[256]);
/* A port that was free a moment ago. */
uint16_t server_free_port(void);
/*
 * A new empty directory, owned by `user`, and a port. Directories of test programs that were killed
 * are removed first: the kernel has let go of their locks.
 */
bool server_prepare(struct server *server, const char *user);
/* Runs a program to its end, as the server's user, its output into the log: did it succeed? */
bool server_run(struct server *server, const char *const *arguments);
/* Starts a program that stays; false when it does not listen within SERVER_START_MS. */
bool server_start(struct server *server, const char *const *arguments);
/* SIGKILL: as a crash. The directory stays. */
void server_kill(struct server *server);
/* SIGTERM, and SIGKILL where it has not ended after ten seconds. The directory stays. */
void server_stop(struct server *server);
/* It takes connections but answers nothing, until it is resumed. */
void server_pause(struct server *server);
void server_resume(struct server *server);
/* Ends it and removes its directory; of one that was never started too. */
void server_remove(struct server *server);

/* Hands a server's port to the test processes of this program, which inherit the environment. */
void server_publish(const char *name, const struct server *server);
/* The port that was published; 0: that server is not installed here. */
uint16_t server_published(const char *name);

#endif
