/*
 * client_peers_system.c: peers that a client can meet instead of an engine: one that accepts and
 * says nothing, one that reads and never answers, one that answers half, one that answers half and
 * goes, one that is killed meanwhile, and nobody. No call and no verb outlives its time by much.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "proto/wire/writer.h"
#include "tests/system/program.h"
#include "transport/client.h"

enum { CALL_MS = 400, KILL_MS = 150, LATE_MS = 10000, CONNECTIONS_MAX = 64, FRAME_BYTES = 4096 };

/* Bounds are wide because processors are shared; what hung would hang for ever. */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* ---- peers ---- */

enum manner { SILENT, MUTE, HALF, HALF_AND_GONE, KILLED, NOBODY, MANNER_COUNT };

static const char *const manner_names[MANNER_COUNT] = {
    [SILENT] = "a peer that accepts and says nothing",
    [MUTE] = "a peer that reads and never answers",
    [HALF] = "a peer that answers half",
    [HALF_AND_GONE] = "a peer that answers half and goes",
    [KILLED] = "a peer that is killed meanwhile",
    [NOBODY] = "a port where nobody listens",
};

struct peer {
    enum manner manner;
    pid_t pid;
    char url[64];
};

/* What a peer of the SP protocols says first: here REP, version 0. */
static const char greeting[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};
/* A message of 100 bytes, of which only these come. */
static const char half[] = {0, 0, 0, 0, 0, 0, 0, 100, 'h', 'a', 'l', 'f'};

static void greet(enum manner manner, int connection)
{
    if (manner != SILENT) {
        (void)!write(connection, greeting, sizeof greeting);
    }
}

/* Something came. False: it wants no more of this connection. */
static bool hear(enum manner manner, int connection)
{
    char bytes[FRAME_BYTES];
    ssize_t count = read(connection, bytes, sizeof bytes);
    if (count > (ssize_t)sizeof greeting && (manner == HALF || manner == HALF_AND_GONE)) {
        (void)!write(connection, half, sizeof half);
    }
    return count > 0 && !(count > (ssize_t)sizeof greeting && manner == HALF_AND_GONE);
}

static _Noreturn void be_peer(enum manner manner, int listener)
{
    struct pollfd handles[CONNECTIONS_MAX] = {{.fd = listener, .events = POLLIN}};
    nfds_t count = 1;
    for (;;) {
        poll(handles, count, -1);
        if ((handles[0].revents & POLLIN) != 0 && count < CONNECTIONS_MAX) {
            int connection = accept(listener, NULL, NULL);
            greet(manner, connection);
            handles[count++] =
                (struct pollfd){.fd = connection, .events = manner == SILENT ? 0 : POLLIN};
        }
        for (nfds_t i = 1; i < count; i++) {
            if (handles[i].revents != 0 && !hear(manner, handles[i].fd)) {
                close(handles[i].fd);
                handles[i--] = handles[--count];
            }
        }
    }
}

static struct peer peer_start(enum manner manner)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    struct peer peer = {.manner = manner};
    pid_t parent = getpid();
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
    snprintf(peer.url, sizeof peer.url, "tcp://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    if (manner != NOBODY) {
        REQUIRE(listen(listener, CONNECTIONS_MAX) == 0);
        peer.pid = fork();
        REQUIRE(peer.pid >= 0);
        if (peer.pid == 0) {
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
                _exit(126);
            }
            be_peer(manner, listener);
        }
    }
    close(listener);
    return peer;
}

static void peer_end(struct peer *peer)
{
    if (peer->pid != 0) {
        (void)program_end(&peer->pid, SIGKILL);
    }
}

/* ---- calls ---- */

static void *kill_soon(void *argument)
{
    poll(NULL, 0, KILL_MS);
    peer_end(argument);
    return NULL;
}

static enum result call(struct transport_client *client, uint32_t timeout_ms)
{
    struct wire_writer writer;
    struct arena arena;
    struct span reply;
    arena_init(&arena, 4096, 1u << 20);
    wire_writer_init(&writer, &arena, 256);
    wire_write_map(&writer, 2);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "ping");
    enum result result =
        transport_client_call(client, wire_writer_span(&writer), timeout_ms, &arena, &reply);
    arena_release(&arena);
    return result;
}

static void calls_end_in_time(enum manner manner)
{
    enum { CALLS = 5 };
    struct peer peer = peer_start(manner);
    struct transport_client *client;
    pthread_t killer;
    char error[256];
    uint64_t begun_ms = now_ms();
    CHECK_CASE(manner_names[manner]);
    REQUIRE(transport_client_open(peer.url, &client, error) == RESULT_OK);
    if (manner == KILLED) {
        REQUIRE(pthread_create(&killer, NULL, kill_soon, &peer) == 0);
    }
    for (int i = 0; i < CALLS; i++) {
        enum result result = call(client, CALL_MS);
        CHECK(result == RESULT_TIMEOUT || result == RESULT_CLOSED);
    }
    transport_client_close(client);
    CHECK(now_ms() - begun_ms < CALLS * CALL_MS + LATE_MS);
    if (manner == KILLED) {
        pthread_join(killer, NULL);
    }
    peer_end(&peer);
}

static void dead_connections_are_given_up(void)
{
    enum { WAIT_MS = 2600 }; /* beyond the time that a connection may take nothing */
    struct peer nobody = peer_start(NOBODY);
    struct peer mute = peer_start(MUTE);
    struct transport_client *client;
    char error[256];
    CHECK_CASE("a connection that takes nothing for a while is given up within the call");
    REQUIRE(transport_client_open(nobody.url, &client, error) == RESULT_OK);
    CHECK_INT(call(client, WAIT_MS), RESULT_TIMEOUT);
    CHECK_INT(transport_client_reopened(client), 1);
    transport_client_close(client);

    CHECK_CASE("so is one whose peer lets three replies in a row be late, and not before");
    REQUIRE(transport_client_open(mute.url, &client, error) == RESULT_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(transport_client_reopened(client), 0);
        CHECK_INT(call(client, CALL_MS), RESULT_TIMEOUT);
    }
    CHECK_INT(transport_client_reopened(client), 1);
    transport_client_close(client);
    peer_end(&mute);
}

/* ---- verbs ---- */

enum { VERB_COUNT = 4 };

struct running {
    pid_t pid;
    uint64_t begun_ms;
};

static struct running run_verb(const char *log, const char *url, int which)
{
    const char *const verbs[VERB_COUNT][9] = {
        {"strider", "ping", "--connect", url, "--timeout", "300ms", NULL},
        {"strider", "get", "x", "--connect", url, "--timeout", "300ms", NULL},
        {"strider", "list", "--connect", url, "--timeout", "300ms", NULL},
        {"strider", "backup", "/nonexistent/copy", "--connect", url, "--timeout", "300ms", NULL},
    };
    return (struct running){.pid = program_spawn(log, verbs[which]), .begun_ms = now_ms()};
}

/* Its exit code; -1: it was still there at the end of its time, and was killed. */
static int exit_code(struct running *running)
{
    int status = 0;
    while (waitpid(running->pid, &status, WNOHANG) != running->pid) {
        if (now_ms() > running->begun_ms + 2 * LATE_MS) {
            (void)program_end(&running->pid, SIGKILL);
            return -1;
        }
        poll(NULL, 0, 20);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

/* All at once: each waits for its peer most of the time. */
static void verbs_end_in_time(void)
{
    static const char log[] = "/tmp/strider-client-peers-log";
    struct peer peers[MANNER_COUNT];
    struct running running[MANNER_COUNT][VERB_COUNT];
    for (int manner = 0; manner < MANNER_COUNT; manner++) {
        peers[manner] = peer_start((enum manner)manner);
        for (int verb = 0; verb < VERB_COUNT; verb++) {
            running[manner][verb] = run_verb(log, peers[manner].url, verb);
        }
    }
    poll(NULL, 0, 4 * KILL_MS);
    peer_end(&peers[KILLED]);
    for (int manner = 0; manner < MANNER_COUNT; manner++) {
        CHECK_CASE(manner_names[manner]);
        for (int verb = 0; verb < VERB_COUNT; verb++) {
            CHECK_INT(exit_code(&running[manner][verb]), 1);
        }
        peer_end(&peers[manner]);
    }
    unlink(log);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    fprintf(stderr, "verbs of the command line against:\n");
    verbs_end_in_time();
    fprintf(stderr, "calls against:\n");
    for (int manner = 0; manner < MANNER_COUNT; manner++) {
        calls_end_in_time((enum manner)manner);
    }
    dead_connections_are_given_up();
    return check_report();
}
