/*
 * main.c: `torture`: an engine with its module server, Redis and Azurite is killed, and they are
 * stopped, slowed and killed, at random moments while gateways begin executions and supply what
 * these wait for. At the end every acknowledged start, callback and message must have had its
 * effect once. Last line: "kills: N executions: N violations: N"; exit code 1 on violations.
 *
 *   torture --strider build/release/strider [--smoke | --seconds N] [--seed N]
 *
 * The seed decides what is done and when; what the machine makes of it differs from run to run.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/servers/azurite.h"
#include "tests/servers/proxy.h"
#include "tests/servers/redis.h"
#include "tests/simulate/random.h"
#include "tests/torture/verdict.h"
#include "tests/torture/watchdog.h"

enum { START_SECONDS = 300, STEP_SECONDS = 300 }; /* what phases may take beyond their own time */
enum { FULL_SECONDS = 1900, SMOKE_SECONDS = 14, CLIENTS = 6, FINISH_MS = 180000 };
enum { PAUSE_MS = 20, PAUSE_AZURITE_MS = 400 }; /* that emulator stores some 200 blobs a second */

struct options {
    const char *strider;
    unsigned seconds;
    uint64_t seed;
    bool smoke;
};

/* A server of a tier, behind a proxy that makes it slow. */
struct tier {
    const char *name;
    struct server server;
    struct proxy *proxy; /* NULL: not installed */
    bool (*start)(struct server *server);
    void (*end)(struct server *server);
    bool down, paused;
    uint64_t mend_ms; /* when its trouble is over; 0: it has none */
};

struct torture {
    struct options options;
    struct torture_engine engine;
    struct test_http *modules;
    struct tier redis, azurite;
    struct torture_clients *clients;
    struct sim_random random;
    _Atomic unsigned kills, violations;
};

static struct torture torture_one;

static void last_words(unsigned more)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const struct torture *torture = &torture_one;
    if (!atomic_flag_test_and_set(&said)) {
        printf("kills: %u executions: %zu violations: %u\n", torture->kills,
               torture->clients == NULL ? 0 : torture_clients_started(torture->clients),
               torture->violations + more);
        fflush(stdout);
    }
}

/* Instead of the watchdog's: something that the torture itself needs is missing. */
static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "torture: %s %s\n", what, why);
    last_words(0);
    _exit(2);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* ---- tiers ---- */

static bool start_redis(struct server *server)
{
    return server_redis_start(server, NULL);
}

static uint16_t open_tier(struct tier *tier, bool installed)
{
    if (!installed || !tier->start(&tier->server)) {
        fprintf(stderr, "torture: without %s\n", tier->name);
        return 0;
    }
    tier->proxy = proxy_start(tier->server.port);
    return tier->proxy == NULL ? 0 : proxy_port(tier->proxy);
}

static void close_tier(struct tier *tier)
{
    proxy_stop(tier->proxy);
    server_remove(&tier->server);
}

static void mend(struct tier *tier)
{
    if (tier->proxy == NULL) {
        return;
    }
    proxy_delay(tier->proxy, 0);
    proxy_swallow(tier->proxy, false);
    proxy_cut_once(tier->proxy);
    if (tier->paused) {
        server_resume(&tier->server);
    }
    if (tier->down && !tier->start(&tier->server)) {
        give_up(tier->name, "did not come back");
    }
    proxy_cut(tier->proxy, false);
    tier->paused = tier->down = false;
    tier->mend_ms = 0;
}

static void trouble(struct tier *tier, struct sim_random *random)
{
    if (tier->proxy == NULL || tier->mend_ms != 0) {
        return;
    }
    switch (sim_below(random, 5)) {
    case 0:
        proxy_delay(tier->proxy, sim_between(random, 50, 1500));
        break;
    case 1:
        proxy_swallow(tier->proxy, true);
        break;
    case 2:
        proxy_cut_once(tier->proxy);
        break;
    case 3:
        server_pause(&tier->server);
        tier->paused = true;
        break;
    default:
        proxy_cut(tier->proxy, true); /* what it says while it ends reaches nobody */
        tier->end(&tier->server);
        tier->down = true;
        break;
    }
    tier->mend_ms = now_ms() + sim_between(random, 200, 6000);
}

/* ---- what there is ---- */

static bool write_text(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && written;
}

static bool write_project(struct torture *torture)
{
    char directory[160];
    char url[TEST_HTTP_URL_BYTES];
    char modules[600];
    char name[40];
    snprintf(directory, sizeof directory, "%s/project", torture->engine.directory);
    test_http_url(torture->modules, "/module", url);
    snprintf(modules, sizeof modules,
             "{\"modules\":[{\"taskTypes\":[\"serviceTask\"],\"url\":\"%s\",\"timeoutMs\":20000,"
             "\"maxAttempts\":20,\"maxConcurrent\":64}]}",
             url);
    bool written = mkdir(directory, 0700) == 0 &&
                   write_text(directory, "project.json",
                              "{\"projectId\":\"default\",\"workspaceId\":\"default\"}") &&
                   write_text(directory, "modules.json", modules);
    for (int kind = 0; kind < TORTURE_KIND_COUNT; kind++) {
        snprintf(name, sizeof name, "%s.bpmn", torture_kinds[kind].process);
        written = written && write_text(directory, name, torture_kinds[kind].definition);
    }
    return written;
}

static void set_up(struct torture *torture)
{
    static const struct test_http_reply replies[] = {
        {.body = "{\"output\":1,\"logs\":[{\"level\":\"INFO\",\"message\":\"ran\"}]}"}};
    struct torture_engine *engine = &torture->engine;
    const char *parent = getenv("TMPDIR");
    snprintf(engine->directory, sizeof engine->directory, "%s/strider-torture-XXXXXX",
             parent == NULL ? "/tmp" : parent);
    torture->modules = test_http_start();
    if (mkdtemp(engine->directory) == NULL || torture->modules == NULL || !write_project(torture)) {
        give_up(engine->directory, "is no place to work in");
    }
    test_http_script(torture->modules, "/module", replies, 1);
    snprintf(engine->url, sizeof engine->url, "ipc://%s/front", engine->directory);
    engine->program = torture->options.strider;
    torture->redis = (struct tier){.name = "redis", .start = start_redis, .end = server_kill};
    /* Azurite writes down every 5 s what it has acknowledged: a SIGKILL loses blobs that no service
     * would. */
    torture->azurite =
        (struct tier){.name = "azurite", .start = server_azurite_start, .end = server_stop};
    engine->redis_port = open_tier(&torture->redis, server_redis_installed());
    engine->azurite_port =
        torture->options.smoke ? 0 : open_tier(&torture->azurite, server_azurite_installed());
}

static void tear_down(struct torture *torture)
{
    char command[200];
    test_http_stop(torture->modules);
    close_tier(&torture->redis);
    close_tier(&torture->azurite);
    if (torture->violations > 0) {
        fprintf(stderr, "torture: what there was stays in %s\n", torture->engine.directory);
        return;
    }
    snprintf(command, sizeof command, "rm -rf '%s'", torture->engine.directory);
    if (system(command) != 0) {
        fprintf(stderr, "torture: %s stays\n", torture->engine.directory);
    }
}

static void start_engine(struct torture *torture)
{
    if (!torture_engine_start(&torture->engine)) {
        fprintf(stderr, "violation: the engine does not start\n");
        torture->violations++;
        fprintf(stderr, "torture: what there was stays in %s\n", torture->engine.directory);
        last_words(0);
        _exit(1);
    }
}

/* ---- the torture ---- */

static void torment(struct torture *torture)
{
    torture_watchdog_phase("the torment", torture->options.seconds + STEP_SECONDS);
    uint64_t until_ms = now_ms() + torture->options.seconds * 1000ull;
    uint64_t kill_ms = now_ms() + 1000;
    struct tier *tiers[] = {&torture->redis, &torture->azurite};
    while (now_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        uint64_t at_ms = now_ms();
        for (size_t i = 0; i < 2; i++) {
            if (tiers[i]->mend_ms != 0 && at_ms >= tiers[i]->mend_ms) {
                mend(tiers[i]);
            } else if (sim_below(&torture->random, 300) == 0) {
                trouble(tiers[i], &torture->random);
            }
        }
        if (at_ms >= kill_ms) {
            torture_engine_kill(&torture->engine);
            torture->kills++;
            start_engine(torture);
            kill_ms = now_ms() + sim_between(&torture->random, 50, 6000);
        }
    }
    mend(&torture->redis);
    mend(&torture->azurite);
}

static void judge(struct torture *torture)
{
    torture_watchdog_phase("the gateways' last requests", FINISH_MS / 1000 + STEP_SECONDS);
    if (!torture_clients_finish(torture->clients, FINISH_MS)) {
        fprintf(stderr, "violation: not all was acknowledged within %d s of peace\n",
                FINISH_MS / 1000);
        torture->violations++;
    }
    fprintf(stderr, "torture: gateways took a new connection for a dead one %u times\n",
            torture_clients_reopened(torture->clients));
    torture->violations += torture_clients_violations(torture->clients);
    /* Ends are read from the blob tier; an emulator of one may still have the torment's backlog. */
    unsigned patience_s = FINISH_MS / 1000 + torture->options.seconds;
    torture_watchdog_phase("the executions' ends", patience_s + STEP_SECONDS);
    torture->violations +=
        torture_verdict_ends(torture->clients, &torture->engine, patience_s * 1000ull);
    torture_watchdog_phase("the engine's end", STEP_SECONDS);
    int status = torture_engine_stop(&torture->engine);
    if (status != 0) {
        fprintf(stderr, "violation: the engine ended with status %d\n", status);
        torture->violations++;
    }
    torture_watchdog_phase("the verdict", STEP_SECONDS);
    torture->violations += torture_verdict_front(&torture->engine);
    torture->violations += torture_verdict_audit(torture->clients, &torture->engine);
    torture->violations += torture_verdict_calls(torture->modules);
}

static bool read_options(int argc, char *argv[], struct options *out)
{
    *out = (struct options){.seconds = FULL_SECONDS, .seed = 1};
    for (int i = 1; i < argc; i++) {
        bool value = i + 1 < argc;
        if (strcmp(argv[i], "--smoke") == 0) {
            out->smoke = true;
            out->seconds = SMOKE_SECONDS;
        } else if (strcmp(argv[i], "--seconds") == 0 && value) {
            out->seconds = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0 && value) {
            out->seed = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--strider") == 0 && value) {
            out->strider = argv[++i];
        } else {
            return false;
        }
    }
    return out->strider != NULL && out->seconds > 0;
}

int main(int argc, char *argv[])
{
    struct torture *torture = &torture_one;
    if (!read_options(argc, argv, &torture->options)) {
        fprintf(stderr, "usage: torture --strider PROGRAM [--smoke | --seconds N] [--seed N]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    torture_watchdog_start(last_words);
    torture_watchdog_phase("its set-up", START_SECONDS);
    torture->random = sim_random_of(torture->options.seed, 1);
    set_up(torture);
    start_engine(torture);
    torture->clients = torture_clients_start(
        torture->engine.url, CLIENTS,
        torture->engine.azurite_port == 0 ? PAUSE_MS : PAUSE_AZURITE_MS, torture->options.seed);
    if (torture->clients == NULL) {
        give_up("gateways", "could not begin: no memory");
    }
    torment(torture);
    judge(torture);
    torture_watchdog_phase("its clearing up", STEP_SECONDS);
    tear_down(torture);
    last_words(0);
    return torture->violations > 0 ? 1 : 0;
}
