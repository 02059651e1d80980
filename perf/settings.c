/*
 * settings.c: see settings.h.
 */
#include "perf/settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/workload.h"

static const char help_text[] =
    "Usage: strider bench WORKLOAD [options]\n"
    "Measures the engine beside a bare ceiling in alternating rounds; prints the figures and their "
    "ratio.\n"
    "\n"
    "Workloads:\n"
    "  core         tasks10 in this process on one thread: no front, no journal\n"
    "  startend     start event to end event\n"
    "  tasks10      ten built-in tasks in sequence\n"
    "  fork5        parallel split into five built-in tasks, and join\n"
    "  modules      one HTTP module; the ceiling is a bare HTTP client loop\n"
    "  waitresume   start, wait at a user task, callback, end\n"
    "  many         startend alone, then beside one execution of --waiting parallel instances\n"
    "  startup      milliseconds to ready with --waiting executions on disk\n"
    "  memory       bytes of memory per waiting execution, at --waiting of them\n"
    "\n"
    "Options:\n"
    "  --seconds S      of one round of one side (2)\n"
    "  --rounds N       rounds of ceiling and engine in turn (3)\n"
    "  --in-flight N    requests at once (64)\n"
    "  --transport T    ipc or tcp (ipc)\n"
    "  --durability D   sync or off (sync)\n"
    "  --step-blobs B   all, waits or off (all)\n"
    "  --audit A        on or off (on)\n"
    "  --shards N       0: the engine's default (0)\n"
    "  --waiting N      executions for startup and memory (1000), instances of many (50000)\n"
    "  --data DIR       where the run's data goes, removed afterwards (/var/tmp)\n"
    "  --json           one JSON line\n"
    "  --help           this text\n";

enum option_key {
    OPTION_SECONDS = 256,
    OPTION_ROUNDS,
    OPTION_IN_FLIGHT,
    OPTION_TRANSPORT,
    OPTION_DURABILITY,
    OPTION_STEP_BLOBS,
    OPTION_AUDIT,
    OPTION_SHARDS,
    OPTION_WAITING,
    OPTION_DATA,
    OPTION_JSON,
    OPTION_HELP,
};

static const struct option options[] = {
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"in-flight", required_argument, NULL, OPTION_IN_FLIGHT},
    {"transport", required_argument, NULL, OPTION_TRANSPORT},
    {"durability", required_argument, NULL, OPTION_DURABILITY},
    {"step-blobs", required_argument, NULL, OPTION_STEP_BLOBS},
    {"audit", required_argument, NULL, OPTION_AUDIT},
    {"shards", required_argument, NULL, OPTION_SHARDS},
    {"waiting", required_argument, NULL, OPTION_WAITING},
    {"data", required_argument, NULL, OPTION_DATA},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

static int refuse(const char *what, const char *value)
{
    fprintf(stderr, "strider bench: %s \"%s\"; see strider bench --help\n", what, value);
    return 2;
}

static bool one_of(const char *value, const char *a, const char *b, const char *c)
{
    return strcmp(value, a) == 0 || strcmp(value, b) == 0 || (c != NULL && strcmp(value, c) == 0);
}

static bool parse_count(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* Returns NULL, or what is wrong with the value. */
static const char *take(struct settings *out, int key, const char *value)
{
    char *end;
    switch (key) {
    case OPTION_SECONDS:
        out->seconds = strtod(value, &end);
        return *end == '\0' && out->seconds >= 0.05 && out->seconds <= 600
                   ? NULL
                   : "--seconds takes 0.05 to 600, not";
    case OPTION_ROUNDS:
        return parse_count(value, 1, 100, &out->rounds) ? NULL : "--rounds takes 1 to 100, not";
    case OPTION_IN_FLIGHT:
        return parse_count(value, 1, 4096, &out->in_flight) ? NULL
                                                            : "--in-flight takes 1 to 4096, not";
    case OPTION_TRANSPORT:
        out->transport = value;
        return one_of(value, "ipc", "tcp", NULL) ? NULL : "--transport takes ipc or tcp, not";
    case OPTION_DURABILITY:
        out->durable = strcmp(value, "sync") == 0;
        return one_of(value, "sync", "off", NULL) ? NULL : "--durability takes sync or off, not";
    case OPTION_STEP_BLOBS:
        out->step_blobs = value;
        return one_of(value, "all", "waits", "off") ? NULL
                                                    : "--step-blobs takes all, waits or off, not";
    case OPTION_AUDIT:
        out->audit = strcmp(value, "on") == 0;
        return one_of(value, "on", "off", NULL) ? NULL : "--audit takes on or off, not";
    case OPTION_SHARDS:
        return parse_count(value, 0, 64, &out->shards) ? NULL : "--shards takes 0 to 64, not";
    case OPTION_WAITING:
        return parse_count(value, 1, 10000000, &out->waiting)
                   ? NULL
                   : "--waiting takes 1 to 10000000, not";
    case OPTION_DATA:
        out->directory = value;
        return NULL;
    case OPTION_JSON:
        out->json = true;
        return NULL;
    default:
        return "unknown option";
    }
}

static bool workload_exists(const char *name)
{
    return workload_find(name) != NULL || one_of(name, "core", "startup", "memory");
}

int settings_parse(int argc, char **argv, struct settings *out)
{
    *out = (struct settings){.seconds = 2,
                             .rounds = 3,
                             .in_flight = 64,
                             .waiting = 0,
                             .transport = "ipc",
                             .step_blobs = "all",
                             .durable = true,
                             .audit = true,
                             .directory = "/var/tmp"};
    optind = 1;
    opterr = 0;
    for (;;) {
        int key = getopt_long(argc, argv, "h", options, NULL);
        if (key == -1) {
            break;
        }
        if (key == OPTION_HELP || key == 'h') {
            fputs(help_text, stdout);
            return 3;
        }
        const char *problem =
            key == '?' ? "unknown option or missing value" : take(out, key, optarg);
        if (problem != NULL) {
            return refuse(problem, key == '?' ? argv[optind - 1] : optarg);
        }
    }
    if (optind >= argc) {
        fputs("strider bench: which workload? See strider bench --help\n", stderr);
        return 2;
    }
    out->workload = argv[optind];
    if (!workload_exists(out->workload)) {
        return refuse("no workload", out->workload);
    }
    if (out->waiting == 0) {
        out->waiting = strcmp(out->workload, "many") == 0 ? 50000 : 1000;
    }
    return optind + 1 == argc ? 0 : refuse("one workload at a time, not also", argv[optind + 1]);
}

void settings_export(const struct settings *settings, const char *listen)
{
    char shards[16];
    snprintf(shards, sizeof shards, "%u", settings->shards);
    setenv("STRIDER_FRONT_LISTEN", listen, 1);
    setenv("STRIDER_ADMIN_LISTEN", "off", 1);
    setenv("STRIDER_ENGINE_SHARDS", shards, 1);
    setenv("STRIDER_ENGINE_DURABILITY", settings->durable ? "sync" : "off", 1);
    setenv("STRIDER_ENGINE_STEP_BLOBS", settings->step_blobs, 1);
    setenv("STRIDER_ENGINE_AUDIT", settings->audit ? "true" : "false", 1);
    setenv("STRIDER_FRONT_MAX_PENDING", "8192", 1);
    setenv("STRIDER_LOG_FORMAT", "text", 1);
    setenv("STRIDER_LOG_LEVEL", "warn", 1);
}

uint32_t settings_pairs(const struct settings *settings, struct wire_writer *writer)
{
    bool shipped = settings->durable && settings->audit && strcmp(settings->step_blobs, "all") == 0;
    wire_pair_text(writer, "workload", settings->workload);
    wire_write_text(writer, "settings");
    wire_write_map(writer, 6);
    wire_pair_text(writer, "durability", settings->durable ? "sync" : "off");
    wire_pair_text(writer, "stepBlobs", settings->step_blobs);
    wire_pair_bool(writer, "audit", settings->audit);
    wire_pair_int(writer, "shards", settings->shards);
    wire_pair_text(writer, "transport", settings->transport);
    wire_pair_bool(writer, "shippedDefaults", shipped);
    return 2;
}

uint32_t settings_latency_pairs(double throughput, const struct histogram *latency,
                                struct wire_writer *writer)
{
    wire_pair_int(writer, "throughput", (int64_t)throughput);
    wire_pair_int(writer, "p50Us", (int64_t)histogram_at(latency, 0.5));
    wire_pair_int(writer, "p99Us", (int64_t)histogram_at(latency, 0.99));
    wire_pair_int(writer, "p999Us", (int64_t)histogram_at(latency, 0.999));
    return 4;
}
