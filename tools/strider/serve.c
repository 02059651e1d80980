/*
 * serve.c: `strider serve`: configuration, wiring of ports, actors and listeners, and the life of
 * the process by signals.
 *
 * The main thread only waits for signals; all of them are blocked before the first thread starts.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "proto/message.h"
#include "tools/strider/config.h"
#include "tools/strider/host.h"
#include "tools/strider/input.h"
#include "tools/strider/inspector/inspector.h"
#include "tools/strider/logs.h"
#include "tools/strider/metrics_page.h"
#include "tools/strider/process.h"
#include "tools/strider/project.h"
#include "tools/strider/verbs.h"
#include "transport/admin.h"
#include "transport/front.h"
#include "transport/guard/token.h"

#define RELOAD_ARENA_BYTES (64u << 20)
#define TOKEN_FILE_BYTES   (1u << 20)
#define TOKENS_MAX         256u
#define FILES_RESERVED     1024u
#define FILES_RESERVED_MIN 64u /* an idle engine has some 40 open */
#define CONNECTIONS_MIN    16u
#define CONNECTIONS_MAX    1000000u

extern char **environ;

/*
 * The way of events to the admin listener. The runtime needs its observer when it is made, the
 * listener needs the runtime's router: so the runtime gets this, and the listener is put behind it
 * later. `target` is written once (release) after the listener is whole and read (acquire) by the
 * threads that observe; they are joined before the listener closes.
 */
struct relay {
    struct proto_sink sink;
    _Atomic(struct proto_sink *) target;
    struct transport_admin *admin; /* written before target */
};

struct server {
    struct config config;
    struct cli_host host;
    struct relay relay;
    struct transport_front *front;
    struct transport_admin *admin;
    struct inspector inspector;
    const char *tokens[TOKENS_MAX];
    size_t token_count;
    uint64_t born_us;
    uint64_t descriptors; /* that may be open */
};

static uint64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static enum result relay_send(struct proto_sink *self, struct proto_message **message)
{
    struct relay *relay = (struct relay *)self;
    struct proto_sink *target = atomic_load_explicit(&relay->target, memory_order_acquire);
    return target == NULL ? RESULT_CLOSED : target->send(target, message);
}

static bool relay_is_watched(struct proto_sink *self)
{
    struct relay *relay = (struct relay *)self;
    return atomic_load_explicit(&relay->target, memory_order_acquire) != NULL &&
           transport_admin_is_watched(relay->admin);
}

/* ---- configuration ---- */

static enum result apply_options(struct config *config, const struct cli_arguments *arguments)
{
    static const struct {
        const char *option;
        enum config_key key;
    } lists[] = {{"project", CONFIG_PROJECTS}, {"listen", CONFIG_FRONT_LISTEN}};
    enum result result = RESULT_OK;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && result == RESULT_OK; i++) {
        const char *items[CLI_VALUES_MAX];
        char source[32];
        size_t count = 0;
        while ((items[count] = cli_option_nth(arguments, lists[i].option, count)) != NULL) {
            count++;
        }
        snprintf(source, sizeof(source), "option --%s", lists[i].option);
        if (count > 0) {
            result = config_set_list(config, lists[i].key, items, count, source);
        }
    }
    const char *data = cli_option_value(arguments, "data");
    if (result == RESULT_OK && data != NULL) {
        result = config_set_list(config, CONFIG_DATA_DIR, &data, 1, "option --data");
    }
    const char *admin = cli_option_value(arguments, "admin");
    if (result == RESULT_OK && admin != NULL) {
        result = config_set_list(config, CONFIG_ADMIN_LISTEN, &admin, 1, "option --admin");
    }
    const char *set;
    for (size_t i = 0; result == RESULT_OK && (set = cli_option_nth(arguments, "set", i)) != NULL;
         i++) {
        char name[128];
        size_t length = strcspn(set, "=");
        if (set[length] == '\0' || length == 0 || length >= sizeof(name)) {
            snprintf(config->problem, sizeof(config->problem), "--set wants KEY=VALUE, not \"%s\"",
                     set);
            return RESULT_INVALID;
        }
        snprintf(name, sizeof(name), "%.*s", (int)length, set);
        result = config_set(config, name, set + length + 1, "option --set");
    }
    return result;
}

static enum result read_config(struct config *config, const struct cli_arguments *arguments)
{
    const char *file = cli_option_value(arguments, "config");
    enum result result = file == NULL ? RESULT_OK : config_read_file(config, file);
    if (result == RESULT_OK) {
        result = config_read_environment(config, environ);
    }
    return result == RESULT_OK ? apply_options(config, arguments) : result;
}

/* The text lives in the config's arena. */
static int add_token(struct server *server, const char *source, const char *token)
{
    if (strlen(token) > TRANSPORT_TOKEN_BYTES_MAX) {
        return cli_complain("serve", CLI_USAGE, "%s: a token is longer than %u bytes", source,
                            TRANSPORT_TOKEN_BYTES_MAX);
    }
    if (server->token_count == TOKENS_MAX) {
        return cli_complain("serve", CLI_USAGE, "%s: there are more than %u tokens", source,
                            TOKENS_MAX);
    }
    server->tokens[server->token_count++] = token;
    return CLI_DONE;
}

/* The configured tokens and those of auth.file, one a line. */
static int gather_tokens(struct server *server)
{
    const struct config_value *configured = &server->config.values[CONFIG_AUTH_TOKENS];
    int code = CLI_DONE;
    for (size_t i = 0; i < configured->count && code == CLI_DONE; i++) {
        code = add_token(server, "auth.tokens", configured->items[i]);
    }
    const char *file = config_text(&server->config, CONFIG_AUTH_FILE);
    if (code != CLI_DONE || file[0] == '\0') {
        return code;
    }
    struct span text;
    char problem[512];
    struct arena *arena = &server->config.arena;
    if (cli_read_file(file, TOKEN_FILE_BYTES, arena, &text, problem) != RESULT_OK) {
        return cli_complain("serve", CLI_USAGE, "auth.file: %s", problem);
    }
    size_t before = server->token_count;
    while (text.count > 0 && code == CLI_DONE) {
        const uint8_t *newline = memchr(text.bytes, '\n', text.count);
        size_t length = newline == NULL ? text.count : (size_t)(newline - text.bytes);
        struct span line = span_trim(span_of(text.bytes, length));
        if (line.count > 0 && line.bytes[0] != '#') {
            struct span token = arena_copy(arena, line);
            code = token.count == 0 ? cli_complain("serve", CLI_FAILED, "auth.file: no memory")
                                    : add_token(server, "auth.file", (const char *)token.bytes);
        }
        length += newline != NULL;
        text = span_of(text.bytes + length, text.count - length);
    }
    if (code == CLI_DONE && server->token_count == before) {
        return cli_complain("serve", CLI_USAGE, "auth.file: %s holds no token", file);
    }
    return code;
}

/* ---- projects ---- */

/* Reads all configured projects and loads them, all or nothing. The problem is a text that may have
 * several lines. */
static enum result load_projects(struct server *server, struct cli_projects *projects,
                                 struct arena *arena, struct span *problem)
{
    const struct config_value *folders = &server->config.values[CONFIG_PROJECTS];
    for (size_t i = 0; i < folders->count; i++) {
        if (cli_projects_add(projects, folders->items[i]) != RESULT_OK) {
            *problem = span_text(projects->problem);
            return RESULT_INVALID;
        }
    }
    if (projects->count == 0) {
        return RESULT_OK;
    }
    enum result result = actor_runtime_load(server->host.runtime, projects->projects,
                                            projects->count, arena, problem);
    if (result != RESULT_OK && problem->count == 0) {
        *problem = span_text(result_text(result));
    }
    return result;
}

static void print_problem(struct span problem)
{
    while (problem.count > 0 && problem.bytes[problem.count - 1] == '\n') {
        problem.count--;
    }
    fprintf(stderr, "%.*s\n", SPAN_ARG(problem));
}

static int load_at_start(struct server *server)
{
    struct cli_projects projects;
    struct arena arena;
    struct span problem = SPAN_EMPTY;
    cli_projects_init(&projects);
    arena_init(&arena, 65536, RELOAD_ARENA_BYTES);
    int code = CLI_DONE;
    if (load_projects(server, &projects, &arena, &problem) != RESULT_OK) {
        code = cli_complain("serve", CLI_USAGE, "the projects cannot be loaded:");
        print_problem(problem);
    }
    arena_release(&arena);
    cli_projects_release(&projects);
    return code;
}

static void reload(struct server *server)
{
    struct cli_projects projects;
    struct arena arena;
    struct span problem = SPAN_EMPTY;
    cli_projects_init(&projects);
    arena_init(&arena, 65536, RELOAD_ARENA_BYTES);
    uint64_t begin_us = monotonic_us();
    if (load_projects(server, &projects, &arena, &problem) == RESULT_OK) {
        uint64_t elapsed_ms = (monotonic_us() - begin_us) / 1000;
        log_line(LOG_INFO, "SERVE-RELOADED", "projects=%zu definitions=%zu ms=%" PRIu64,
                 projects.count, projects.definition_count, elapsed_ms);
        fprintf(stderr, "strider: reloaded %zu projects, %zu definitions, in %" PRIu64 " ms\n",
                projects.count, projects.definition_count, elapsed_ms);
    } else {
        log_line(LOG_ERROR, "SERVE-RELOAD-REFUSED", "projects=%zu", projects.count);
        fprintf(stderr, "strider: reload refused, all projects stay as they were:\n");
        print_problem(problem);
    }
    arena_release(&arena);
    cli_projects_release(&projects);
}

/* ---- what the admin listener shows ---- */

static bool view_ready(void *owner, struct arena *arena, struct span *why_not)
{
    struct server *server = owner;
    return actor_runtime_ready(server->host.runtime, arena, why_not);
}

static void view_metrics(void *owner, struct arena *arena, struct span *text)
{
    struct server *server = owner;
    struct span engine = SPAN_EMPTY;
    struct transport_front_stats front;
    actor_runtime_metrics(server->host.runtime, arena, &engine);
    transport_front_stats(server->front, &front);
    *text = metrics_page(arena, engine, &front);
}

/* ---- opening and closing ---- */

static enum actor_step_blobs step_blobs(const struct config *config)
{
    static const enum actor_step_blobs choices[] = {ACTOR_STEPS_ALL, ACTOR_STEPS_WAITS,
                                                    ACTOR_STEPS_OFF};
    return choices[config_number(config, CONFIG_ENGINE_STEP_BLOBS)];
}

/* A text's key that is not set is NULL to those who read it. */
static const char *text_or_null(const struct config *config, enum config_key key)
{
    const char *text = config_text(config, key);
    return text[0] == '\0' ? NULL : text;
}

static struct cli_host_bus bus_options(const struct config *config)
{
    if (config_number(config, CONFIG_BUS_KIND) == 0) {
        return (struct cli_host_bus){0};
    }
    return (struct cli_host_bus){.url = config_text(config, CONFIG_BUS_URL),
                                 .queue = config_text(config, CONFIG_BUS_QUEUE),
                                 .dead_letter = text_or_null(config, CONFIG_BUS_DEAD_LETTER),
                                 .ca_file = text_or_null(config, CONFIG_BUS_CA),
                                 .window = (uint32_t)config_number(config, CONFIG_BUS_WINDOW)};
}

static struct cli_tiers_options tiers_of(const struct config *config)
{
    return (struct cli_tiers_options){
        .hot_kind = (enum cli_hot_kind)config_number(config, CONFIG_HOT_KIND),
        .hot_url = config_text(config, CONFIG_HOT_URL),
        .hot_key_prefix = config_text(config, CONFIG_HOT_PREFIX),
        .hot_ttl_ms = config_number(config, CONFIG_HOT_TTL),
        .hot_timeout_ms = (uint32_t)config_number(config, CONFIG_HOT_TIMEOUT),
        .blob_kind = (enum cli_blob_kind)config_number(config, CONFIG_BLOB_KIND),
        .blob_directory = config_text(config, CONFIG_BLOB_DIRECTORY),
        .blob_connection = config_text(config, CONFIG_BLOB_CONNECTION),
        .blob_container = config_text(config, CONFIG_BLOB_CONTAINER),
        .blob_parallel = (uint32_t)config_number(config, CONFIG_BLOB_PARALLEL),
        .blob_timeout_ms = (uint32_t)config_number(config, CONFIG_BLOB_TIMEOUT),
        .blob_tries = (uint32_t)config_number(config, CONFIG_BLOB_TRIES),
        .s3_endpoint = config_text(config, CONFIG_BLOB_S3_ENDPOINT),
        .s3_region = config_text(config, CONFIG_BLOB_S3_REGION),
        .s3_access_key = config_text(config, CONFIG_BLOB_S3_ACCESS_KEY),
        .s3_secret_key = config_text(config, CONFIG_BLOB_S3_SECRET_KEY),
        .s3_session_token = config_text(config, CONFIG_BLOB_S3_SESSION_TOKEN),
        .index_kind = (enum cli_index_kind)config_number(config, CONFIG_INDEX_KIND),
        .index_connection = config_text(config, CONFIG_INDEX_CONNECTION),
        .index_timeout_ms = (uint32_t)config_number(config, CONFIG_INDEX_TIMEOUT),
    };
}

static int open_host(struct server *server, struct actor_recovery *recovery)
{
    const struct config *config = &server->config;
    struct cli_host_options options = {
        .directory = config_text(config, CONFIG_DATA_DIR),
        .tiers = tiers_of(config),
        .engine =
            {
                .shard_count = (uint32_t)config_number(config, CONFIG_ENGINE_SHARDS),
                .durability = config_number(config, CONFIG_ENGINE_DURABILITY) == 0
                                  ? ACTOR_DURABLE
                                  : ACTOR_NOT_DURABLE,
                .step_blobs = step_blobs(config),
                .audit = config_number(config, CONFIG_ENGINE_AUDIT) != 0,
                .max_steps = (uint32_t)config_number(config, CONFIG_ENGINE_MAX_STEPS),
                .heavy_session_bytes = config_number(config, CONFIG_ENGINE_HEAVY),
                .hot_bytes_max = config_number(config, CONFIG_HOT_BYTES),
                .hot_ttl_ms = config_number(config, CONFIG_HOT_TTL),
                .reply_bytes_max = config_number(config, CONFIG_ENGINE_MAX_REPLY),
                .journal_bytes_max = config_number(config, CONFIG_DATA_JOURNAL_MAX),
                .keep_completed_ms = config_number(config, CONFIG_RETENTION_COMPLETED),
                .keep_failed_ms = config_number(config, CONFIG_RETENTION_FAILED),
                .observer = &server->relay.sink,
                .observing = relay_is_watched,
            },
        .modules =
            {
                .queue_max = (uint32_t)config_number(config, CONFIG_MODULES_QUEUE),
                .connections_max = (uint32_t)config_number(config, CONFIG_MODULES_CONNECTIONS),
                .connect_timeout_ms = (uint32_t)config_number(config, CONFIG_MODULES_CONNECT),
            },
        .bus = bus_options(config),
    };
    char error[512];
    if (options.bus.url != NULL && !options.engine.audit) {
        return cli_complain("serve", CLI_USAGE,
                            "bus.kind: the bus carries audit messages, and engine.audit is off");
    }
    if (cli_host_open(&options, &server->host, error) != RESULT_OK ||
        cli_host_start(&server->host, recovery, error) != RESULT_OK) {
        return cli_complain("serve", CLI_FAILED, "%s", error);
    }
    if (server->host.report.torn_bytes > 0) {
        log_line(LOG_INFO, "SERVE-JOURNAL-TORN", "bytes=%" PRIu64, server->host.report.torn_bytes);
    }
    if (server->host.report.corrupt_batches > 0) {
        log_line(LOG_CRITICAL, "SERVE-JOURNAL-CORRUPT", "batches=%u",
                 server->host.report.corrupt_batches);
    }
    return CLI_DONE;
}

/* Before anything is opened, and by the key's name: the listeners know only files. */
static int check_certificates(const struct config *config)
{
    static const struct {
        enum config_key key;
        const char *name;
        enum result (*check)(const char *path, char error[256]);
    } rows[] = {
        {CONFIG_FRONT_TLS, "front.tlsCertificate", transport_tls_check_certificate},
        {CONFIG_FRONT_TLS_CA, "front.tlsAuthorities", transport_tls_check_authorities},
        {CONFIG_ADMIN_TLS, "admin.tlsCertificate", transport_tls_check_certificate},
    };
    char error[256];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = text_or_null(config, rows[i].key);
        if (path != NULL && rows[i].check(path, error) != RESULT_OK) {
            return cli_complain("serve", CLI_USAGE, "%s: %s", rows[i].name, error);
        }
    }
    return CLI_DONE;
}

/* What else is open (journal, stores, module calls, admin side) has FILES_RESERVED descriptors, of
 * a low limit a quarter. */
static uint32_t connections_max(const struct server *server)
{
    uint64_t wanted = config_number(&server->config, CONFIG_FRONT_MAX_CONNECTIONS);
    uint64_t reserved = server->descriptors / 4;
    reserved = reserved > FILES_RESERVED       ? FILES_RESERVED
               : reserved < FILES_RESERVED_MIN ? FILES_RESERVED_MIN
                                               : reserved;
    uint64_t left = server->descriptors > reserved + CONNECTIONS_MIN
                        ? server->descriptors - reserved
                        : CONNECTIONS_MIN;
    uint64_t most = wanted > 0 ? wanted : left;
    return most < CONNECTIONS_MAX ? (uint32_t)most : CONNECTIONS_MAX;
}

static int open_front(struct server *server)
{
    const struct config *config = &server->config;
    const struct config_value *urls = &config->values[CONFIG_FRONT_LISTEN];
    struct transport_front_options options = {
        .urls = urls->items,
        .url_count = urls->count,
        .router = actor_runtime_router(server->host.runtime),
        .tokens = server->tokens,
        .token_count = server->token_count,
        .request_bytes_max = config_number(config, CONFIG_FRONT_MAX_REQUEST),
        .pending_max = (uint32_t)config_number(config, CONFIG_FRONT_MAX_PENDING),
        .connections_max = connections_max(server),
        .tls = {text_or_null(config, CONFIG_FRONT_TLS), text_or_null(config, CONFIG_FRONT_TLS_CA)},
    };
    char error[256] = "";
    if (transport_front_open(&options, &server->front, error) != RESULT_OK) {
        return cli_complain("serve", CLI_FAILED, "front.listen: %s", error);
    }
    return CLI_DONE;
}

/* Shows none of it: it holds secrets. */
static int check_hook_secrets(const struct config *config)
{
    const struct config_value *entries = &config->values[CONFIG_ADMIN_HOOK_SECRETS];
    for (size_t i = 0; i < entries->count; i++) {
        if (!transport_hook_secret_is_sound(entries->items[i])) {
            return cli_complain("serve", CLI_USAGE, "admin.hookSecrets: item %zu is no PATH=SECRET",
                                i + 1);
        }
    }
    return CLI_DONE;
}

static bool admin_is_off(const struct config *config)
{
    const char *url = config_text(config, CONFIG_ADMIN_LISTEN);
    return url[0] == '\0' || strcmp(url, "off") == 0;
}

static int open_admin(struct server *server)
{
    const struct config *config = &server->config;
    if (admin_is_off(config)) {
        return CLI_DONE;
    }
    if (inspector_init(&server->inspector) != RESULT_OK) {
        return cli_complain("serve", CLI_FAILED, "no memory for the inspector");
    }
    struct transport_admin_options options = {
        .url = config_text(config, CONFIG_ADMIN_LISTEN),
        .tls = {.certificate_file = text_or_null(config, CONFIG_ADMIN_TLS)},
        .router = actor_runtime_router(server->host.runtime),
        .view = {.owner = server, .ready = view_ready, .metrics = view_metrics},
        .page = {.html = server->inspector.html, .policy = server->inspector.policy},
        .tokens = server->tokens,
        .token_count = server->token_count,
        .hook_secrets = config->values[CONFIG_ADMIN_HOOK_SECRETS].items,
        .hook_secret_count = config->values[CONFIG_ADMIN_HOOK_SECRETS].count,
        .request_bytes_max = config_number(config, CONFIG_FRONT_MAX_REQUEST),
        .timeout_ms = (uint32_t)config_number(config, CONFIG_ADMIN_TIMEOUT),
    };
    char error[256] = "";
    if (transport_admin_open(&options, &server->admin, error) != RESULT_OK) {
        return cli_complain("serve", CLI_FAILED, "admin.listen: %s", error);
    }
    server->relay.admin = server->admin;
    atomic_store_explicit(&server->relay.target, transport_admin_events(server->admin),
                          memory_order_release);
    return CLI_DONE;
}

static int open_server(struct server *server, struct actor_recovery *recovery)
{
    server->descriptors = process_raise_descriptors();
    int code = check_certificates(&server->config);
    code = code == CLI_DONE ? check_hook_secrets(&server->config) : code;
    if (code == CLI_DONE) {
        code = open_host(server, recovery);
    }
    if (code == CLI_DONE) {
        code = load_at_start(server);
    }
    if (code == CLI_DONE) {
        code = open_front(server);
    }
    return code == CLI_DONE ? open_admin(server) : code;
}

/* Listeners outlive the threads that answer through them, and the router outlives the listeners. */
static void close_server(struct server *server)
{
    if (server->front != NULL) {
        transport_front_quiesce(server->front);
    }
    if (server->admin != NULL) {
        transport_admin_quiesce(server->admin);
    }
    cli_host_stop(&server->host);
    if (server->admin != NULL) {
        transport_admin_close(server->admin);
    }
    inspector_release(&server->inspector);
    if (server->front != NULL) {
        transport_front_close(server->front);
    }
    cli_host_close(&server->host);
}

/* ---- life ---- */

static void announce(const struct server *server, const struct actor_recovery *recovery)
{
    const struct config *config = &server->config;
    const struct config_value *urls = &config->values[CONFIG_FRONT_LISTEN];
    uint64_t ready_us = monotonic_us() - server->born_us;
    log_line(LOG_INFO, "SERVE-READY",
             "ms=%" PRIu64 " executions=%" PRIu64 " events=%" PRIu64 " calls=%" PRIu64
             " corrupt=%" PRIu64,
             ready_us / 1000, recovery->executions, recovery->events, recovery->calls,
             recovery->corrupt);
    flockfile(stderr);
    fprintf(stderr, "strider: ready in %" PRIu64 ".%" PRIu64 " ms on", ready_us / 1000,
            ready_us / 100 % 10);
    for (size_t i = 0; i < urls->count; i++) {
        fprintf(stderr, " %s", urls->items[i]);
    }
    fprintf(stderr, "%s%s; data in %s", server->admin == NULL ? "" : " ",
            server->admin == NULL ? "" : config_text(config, CONFIG_ADMIN_LISTEN),
            config_text(config, CONFIG_DATA_DIR));
    fprintf(stderr,
            "; recovered %" PRIu64 " executions, %" PRIu64 " events replayed, %" PRIu64
            " calls repeated",
            recovery->executions, recovery->events, recovery->calls);
    if (recovery->corrupt > 0) {
        fprintf(stderr, ", %" PRIu64 " CORRUPT and set aside", recovery->corrupt);
    }
    if (config_number(config, CONFIG_ENGINE_DURABILITY) != 0) {
        fprintf(stderr, "; durability is OFF");
    }
    fprintf(stderr, "\n");
    funlockfile(stderr);
}

static void leave_at_once(int number)
{
    (void)number;
    static const char text[] = "strider: second signal, leaving at once\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(CLI_FAILED);
}

/* From here on a signal to end is not waited for but acted on: nothing acknowledged is lost by
 * that. */
static void arm_second_signal(void)
{
    struct sigaction action = {.sa_handler = leave_at_once};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
}

/* Waits for the signal that ends the server; SIGHUP reloads meanwhile. */
static void live(struct server *server, const sigset_t *signals)
{
    for (;;) {
        int number = 0;
        if (sigwait(signals, &number) != 0) {
            continue;
        }
        if (number == SIGHUP) {
            reload(server);
            continue;
        }
        log_line(LOG_INFO, "SERVE-STOPPING", "signal=%s", number == SIGTERM ? "SIGTERM" : "SIGINT");
        return;
    }
}

static void drain(struct server *server)
{
    uint64_t begin_us = monotonic_us();
    uint32_t timeout_ms = (uint32_t)config_number(&server->config, CONFIG_SHUTDOWN_TIMEOUT);
    enum result result = actor_runtime_drain(server->host.runtime, timeout_ms);
    uint64_t elapsed_ms = (monotonic_us() - begin_us) / 1000;
    log_line(result == RESULT_OK ? LOG_INFO : LOG_WARN, "SERVE-STOPPED", "drained=%s ms=%" PRIu64,
             result == RESULT_OK ? "yes" : "no", elapsed_ms);
    fprintf(stderr, "strider: stopped; %s, in %" PRIu64 " ms\n",
            result == RESULT_OK ? "everything is flushed"
                                : "the journal holds what is not flushed yet",
            elapsed_ms);
}

static int serve(struct server *server)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    struct actor_recovery recovery = {0};
    int code = open_server(server, &recovery);
    if (code == CLI_DONE) {
        announce(server, &recovery);
        live(server, &signals);
        arm_second_signal();
        drain(server);
    }
    close_server(server);
    return code;
}

static int run_serve(const struct cli_arguments *arguments)
{
    struct server server = {
        .born_us = monotonic_us(), .relay.sink.send = relay_send, .host.lock = -1};
    config_init(&server.config);
    int code = CLI_DONE;
    if (read_config(&server.config, arguments) != RESULT_OK) {
        code = cli_complain("serve", CLI_USAGE, "%s", server.config.problem);
    } else if (cli_option_flag(arguments, "print-config")) {
        config_print(&server.config, stdout);
    } else if (cli_option_flag(arguments, "keys")) {
        config_print_keys(stdout);
    } else if ((code = gather_tokens(&server)) == CLI_DONE) {
        logs_open((enum log_level)config_number(&server.config, CONFIG_LOG_LEVEL),
                  (enum logs_format)config_number(&server.config, CONFIG_LOG_FORMAT));
        code = serve(&server);
    }
    config_release(&server.config);
    return code;
}

static const struct cli_option serve_options[] = {
    {"config", "FILE", "configuration (UCL or JSON); --keys lists what it may say"},
    {"data", "DIR", "data directory (data.dir)"},
    {"project", "DIR", "a project, or a folder of projects; repeats (projects)"},
    {"listen", "URL", "NNG address; repeats (front.listen)"},
    {"admin", "URL", "HTTP address, or off (admin.listen)"},
    {"set", "KEY=VALUE", "any key, a list's items separated by commas; repeats"},
    {"print-config", NULL,
     "print the effective configuration with the source of each\nvalue, and end"},
    {"keys", NULL, "print all keys with their defaults and meanings, and end"},
    {0},
};

const struct cli_verb cli_serve = {
    .name = "serve",
    .summary = "Runs the engine until SIGTERM",
    .operands = "",
    .options = serve_options,
    .details =
        "Each key has a twin in the environment (front.maxRequestBytes is\n"
        "STRIDER_FRONT_MAX_REQUEST_BYTES); options beat the environment, which beats the file.\n"
        "\n"
        "SIGHUP reads the projects anew, all or nothing. SIGTERM and SIGINT finish what runs, "
        "flush and\n"
        "end within shutdownTimeout; a second one ends at once, and nothing acknowledged is lost.\n"
        "Exit code: 0 after a signal, 1 when it cannot start, 2 when the configuration or a "
        "project is\n"
        "refused.",
    .run = run_serve,
};
