/* server.c: see server.h. */
#include "tests/servers/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REMOVE_HANDLES 16
#define LOOK_AGAIN_MS  10
#define SERVER_STOP_MS 10000
#define UNLOCKED_S     60 /* a directory may be as old before its maker locks it */

static pid_t spawn(const struct server *server, const char *const *arguments);
static const char *parent_directory(void);
static void remove_forsaken(void);
static int lock_directory(const char *directory, int how);
static void remove_directory(const char *path);
static bool become(const char *user);
static bool listens(uint16_t port);
static uint64_t now_ms(void);
static time_t now_s(void);

bool server_find(const char *name, const char *pattern, char path[256])
{
    glob_t found = {0};
    bool there = pattern != NULL && glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (there) {
        snprintf(path, 256, "%s", found.gl_pathv[found.gl_pathc - 1]);
    }
    globfree(&found);
    const char *search = getenv("PATH");
    while (!there && search != NULL && *search != '\0') {
        int count = (int)strcspn(search, ":");
        snprintf(path, 256, "%.*s/%s", count, search, name);
        there = access(path, X_OK) == 0;
        search += count + (search[count] == ':');
    }
    return there;
}

uint16_t server_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t count = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &count) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

bool server_prepare(struct server *server, const char *user)
{
    *server = (struct server){.port = server_free_port()};
    remove_forsaken();
    snprintf(server->directory, sizeof server->directory, "%s/strider-server-XXXXXX",
             parent_directory());
    if (mkdtemp(server->directory) == NULL) {
        server->directory[0] = '\0';
        return false;
    }
    server->lock = lock_directory(server->directory, O_CREAT);
    if (user != NULL && geteuid() == 0) {
        const struct passwd *entry = getpwnam(user);
        server->user = user;
        return entry != NULL && chown(server->directory, entry->pw_uid, entry->pw_gid) == 0;
    }
    return server->port != 0;
}

bool server_run(struct server *server, const char *const *arguments)
{
    int status = -1;
    pid_t pid = spawn(server, arguments);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool server_start(struct server *server, const char *const *arguments)
{
    uint64_t deadline_ms = now_ms() + SERVER_START_MS;
    server->pid = spawn(server, arguments);
    while (server->pid > 0 && now_ms() < deadline_ms) {
        if (listens(server->port)) {
            return true;
        }
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            break;
        }
        poll(NULL, 0, LOOK_AGAIN_MS);
    }
    fprintf(stderr, "%s did not start; see %s/log\n", arguments[0], server->directory);
    server_kill(server);
    return false;
}

void server_kill(struct server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        server->pid = 0;
    }
}

void server_stop(struct server *server)
{
    uint64_t deadline_ms = now_ms() + SERVER_STOP_MS;
    if (server->pid > 0) {
        kill(server->pid, SIGTERM);
    }
    while (server->pid > 0 && now_ms() < deadline_ms) {
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
        } else {
            poll(NULL, 0, LOOK_AGAIN_MS);
        }
    }
    server_kill(server);
}

void server_pause(struct server *server)
{
    kill(server->pid, SIGSTOP);
}

void server_resume(struct server *server)
{
    kill(server->pid, SIGCONT);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void server_remove(struct server *server)
{
    server_kill(server);
    if (server->directory[0] != '\0') {
        remove_directory(server->directory);
        server->directory[0] = '\0';
    }
    if (server->lock > 0) {
        close(server->lock);
        server->lock = 0;
    }
}

static void remove_directory(const char *path)
{
    (void)nftw(path, remove_one, REMOVE_HANDLES, FTW_DEPTH | FTW_PHYS);
}

static const char *parent_directory(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL ? parent : "/tmp";
}

/* Held until the last process that has inherited it is gone; what is started here does not. 0: it
 * is somebody else's, or there is none to be held. */
static int lock_directory(const char *directory, int how)
{
    char path[160];
    snprintf(path, sizeof path, "%s/owner", directory);
    int lock = open(path, O_RDWR | O_CLOEXEC | how, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
        return lock;
    }
    if (lock >= 0) {
        close(lock);
    }
    return 0;
}

static void remove_forsaken(void)
{
    char pattern[160];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/strider-server-??????", parent_directory());
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat status;
        int lock = 0;
        if (lstat(found.gl_pathv[i], &status) == 0 && S_ISDIR(status.st_mode) &&
            now_s() - status.st_mtime > UNLOCKED_S &&
            (lock = lock_directory(found.gl_pathv[i], 0)) > 0) {
            remove_directory(found.gl_pathv[i]);
            close(lock);
        }
    }
    globfree(&found);
}

static const char *variable_of(const char *name)
{
    static char variable[64];
    snprintf(variable, sizeof variable, "STRIDER_TEST_PORT_%s", name);
    return variable;
}

void server_publish(const char *name, const struct server *server)
{
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    setenv(variable_of(name), port, 1);
}

uint16_t server_published(const char *name)
{
    const char *port = getenv(variable_of(name));
    return port == NULL ? 0 : (uint16_t)strtoul(port, NULL, 10);
}

static pid_t spawn(const struct server *server, const char *const *arguments)
{
    pid_t parent = getpid();
    char log[160];
    snprintf(log, sizeof log, "%s/log", server->directory);
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    int in = open("/dev/null", O_RDONLY);
    /* (The signal that a change of user clears is set again behind it.) */
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
        !become(server->user) || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        chdir(server->directory) != 0) {
        _exit(126);
    }
    closefrom(3);
    setpgid(0, 0);
    execv(arguments[0], (char *const *)arguments);
    _exit(127);
}

static bool become(const char *user)
{
    if (user == NULL) {
        return true;
    }
    const struct passwd *entry = getpwnam(user);
    return entry != NULL && initgroups(user, entry->pw_gid) == 0 && setgid(entry->pw_gid) == 0 &&
           setuid(entry->pw_uid) == 0;
}

static bool listens(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return connected;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}
