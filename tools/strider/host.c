/*
 * host.c: see host.h. Opened from the bottom up, closed from the top down.
 */
#include "tools/strider/host.h"

#include <stdio.h>
#include <sys/stat.h>

#include "audit/amqp/amqp.h"
#include "audit/file/file.h"
#include "proto/base/assert.h"
#include "storage/embedded/embedded.h"
#include "storage/file.h"
#include "tools/strider/zone.h"

#define STATE_MAP_BYTES (64ull << 30) /* address space of sparse files, not disk */
#define BLOB_MAP_BYTES  (256ull << 30)
#define PATH_BYTES      4096u

/* DIRECTORY/name, in one of a few static-lived buffers of the caller. */
static const char *below(char path[PATH_BYTES], const char *directory, const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return path;
}

static enum result explain(char error[512], const char *directory, const char *part,
                           enum result result)
{
    if (result != RESULT_OK) {
        snprintf(error, 512, "%s: %s: %s", directory, part, result_text(result));
    }
    return result;
}

static enum result take_lock(struct cli_host *host, const char *directory, char error[512])
{
    enum result result = storage_directory_lock(directory, &host->lock);
    if (result == RESULT_EXISTS) {
        snprintf(error, 512, "%s: another engine runs on this data directory", directory);
        return result;
    }
    return explain(error, directory, "the data directory", result);
}

static enum result open_index(struct cli_host *host, const char *directory,
                              const struct cli_tiers_options *tiers, char error[512])
{
    char path[PATH_BYTES];
    if (tiers->index_kind != CLI_INDEX_EMBEDDED) {
        return cli_tiers_open_index(tiers, &host->index, error);
    }
    enum result result =
        storage_sqlite_index_open(below(path, directory, "audit.db"), &host->index);
    if (result == RESULT_CORRUPT) {
        snprintf(
            error, 512,
            "%s: audit.db: %s; no execution depends on it: move it away to start with an empty "
            "one, and mend it apart",
            directory, result_text(result));
        return result;
    }
    return explain(error, directory, "audit.db", result);
}

static enum result open_blob(struct cli_host *host, const char *directory,
                             const struct cli_tiers_options *tiers, char error[512])
{
    char path[PATH_BYTES];
    if (tiers->blob_kind == CLI_BLOB_FOLDER) {
        return cli_tiers_open_folder(tiers, &host->blob, error);
    }
    if (tiers->blob_kind != CLI_BLOB_EMBEDDED) {
        return RESULT_OK; /* it lives on a loop: later */
    }
    host->blob_is_embedded = true;
    enum result result =
        storage_lmdb_blob_open(below(path, directory, "blobs"), BLOB_MAP_BYTES, &host->blob);
    if (result == RESULT_CORRUPT) {
        snprintf(error, 512,
                 "%s: blobs/data.mdb: %s; put it back from a backup, or move blobs/ away: what "
                 "waits goes on, what has ended and its steps cannot be shown then",
                 directory, result_text(result));
        return result;
    }
    return explain(error, directory, "blobs", result);
}

/* What lies in the data directory can be copied; the rest has its own ways. */
static enum result prepare_backup(struct cli_host *host, const char *directory, char error[512])
{
    const struct storage_backup_parts parts = {
        .state = host->state,
        .blob = host->blob_is_embedded ? host->blob : NULL,
        .index_file = host->index_file[0] == '\0' ? NULL : host->index_file,
        .journal = host->journal,
    };
    return explain(error, directory, "backup", storage_embedded_backup_new(&parts, &host->backup));
}

static enum result open_stores(struct cli_host *host, const struct cli_host_options *given,
                               char error[512])
{
    const char *directory = given->directory;
    bool durable = given->engine.durability == ACTOR_DURABLE;
    char path[PATH_BYTES];
    enum result result = storage_posix_new(below(path, directory, "journal"), &host->files);
    if (result != RESULT_OK) {
        return explain(error, directory, "journal", result);
    }
    /* Prewriting the next file makes syncs quicker: of use only to those who wait for them. */
    struct storage_journal_options options = {.prepare_ahead = durable};
    result = storage_log_open(host->files, &options, &host->journal, &host->report);
    if (result != RESULT_OK) {
        return explain(error, directory, "journal", result);
    }
    result =
        storage_lmdb_state_open(below(path, directory, "state"), STATE_MAP_BYTES, &host->state);
    if (result == RESULT_CORRUPT) {
        snprintf(error, 512,
                 "%s: state/data.mdb: %s; it holds what waits: put the data directory back from a "
                 "backup",
                 directory, result_text(result));
        return result;
    }
    if (result != RESULT_OK) {
        return explain(error, directory, "state", result);
    }
    result = open_blob(host, directory, &given->tiers, error);
    if (result == RESULT_OK) {
        result = open_index(host, directory, &given->tiers, error);
    }
    return result == RESULT_OK ? prepare_backup(host, directory, error) : result;
}

/* What lives on a loop of the actors. */
static enum result attach_tiers(struct cli_host *host, const struct cli_tiers_options *tiers,
                                char error[512])
{
    enum result result = RESULT_OK;
    if (tiers->hot_kind != CLI_HOT_EMBEDDED) {
        result = cli_tiers_open_hot(tiers, actor_runtime_loop(host->runtime, ACTOR_LOOP_HOT),
                                    &host->hot, error);
        if (result != RESULT_OK) {
            return result;
        }
        actor_runtime_set_hot(host->runtime, host->hot);
    }
    if (cli_tiers_blob_is_elsewhere(tiers)) {
        result = cli_tiers_open_blob(tiers, actor_runtime_loop(host->runtime, ACTOR_LOOP_STORAGE),
                                     &host->blob, error);
        if (result == RESULT_OK) {
            actor_runtime_set_blob(host->runtime, host->blob);
        }
    }
    return result;
}

static enum result open_bus(struct cli_host *host, const struct cli_host_options *options,
                            char error[512])
{
    char path[PATH_BYTES];
    char reason[AUDIT_REASON_BYTES] = "";
    const struct cli_host_bus *bus = &options->bus;
    if (bus->url == NULL) {
        return RESULT_OK;
    }
    struct audit_amqp_options amqp = {
        .url = bus->url, .queue = bus->queue, .ca_file = bus->ca_file};
    struct audit_bus_options main_options = {
        .window = bus->window, .owner = actor_runtime_bus_owner(host->runtime, false)};
    struct audit_bus_options aside_options = {
        .window = bus->window, .owner = actor_runtime_bus_owner(host->runtime, true)};
    enum result result = audit_amqp_bus_open(&amqp, &main_options, &host->bus, reason);
    if (result == RESULT_OK && bus->dead_letter != NULL) {
        amqp.queue = bus->dead_letter;
        result = audit_amqp_bus_open(&amqp, &aside_options, &host->aside, reason);
    } else if (result == RESULT_OK) {
        result = audit_file_bus_open(below(path, options->directory, "bus-refused.jsonl"),
                                     &aside_options, &host->aside, reason);
    }
    if (result != RESULT_OK) {
        snprintf(error, 512, "bus: %s", reason);
        return result;
    }
    actor_runtime_set_bus(host->runtime, host->bus, host->aside);
    return RESULT_OK;
}

static enum result build_actors(struct cli_host *host, const struct cli_host_options *options,
                                char error[512])
{
    struct actor_runtime_options engine = options->engine;
    engine.journal = host->journal;
    engine.state = host->state;
    engine.blob = host->blob;
    engine.index = host->index;
    engine.read_zone = cli_zone_read;
    engine.bus_window = options->bus.url == NULL ? 0 : options->bus.window;
    engine.backup = host->backup;
    engine.hot_elsewhere = options->tiers.hot_kind != CLI_HOT_EMBEDDED;
    engine.blob_elsewhere = cli_tiers_blob_is_elsewhere(&options->tiers);
    engine.index_elsewhere = options->tiers.index_kind != CLI_INDEX_EMBEDDED;
    enum result result = actor_runtime_new(&engine, &host->runtime);
    if (result != RESULT_OK) {
        return explain(error, options->directory, "the actors", result);
    }
    result = attach_tiers(host, &options->tiers, error);
    if (result != RESULT_OK) {
        return result;
    }
    struct transport_modules_options modules = options->modules;
    modules.loop = actor_runtime_loop(host->runtime, ACTOR_LOOP_IO);
    result = transport_modules_open(&modules, &host->modules);
    if (result != RESULT_OK) {
        return explain(error, options->directory, "module dispatch", result);
    }
    actor_runtime_set_modules(host->runtime, transport_modules_sink(host->modules));
    return open_bus(host, options, error);
}

enum result cli_host_open(const struct cli_host_options *options, struct cli_host *out,
                          char error[512])
{
    *out = (struct cli_host){.lock = -1};
    enum result result = take_lock(out, options->directory, error);
    if (result == RESULT_OK) {
        result = open_stores(out, options, error);
    }
    if (result == RESULT_OK) {
        result = build_actors(out, options, error);
    }
    if (result != RESULT_OK) {
        cli_host_close(out);
    }
    return result;
}

enum result cli_host_start(struct cli_host *host, struct actor_recovery *recovery, char error[512])
{
    ASSERT(!host->started);
    char reason[256] = "";
    enum result result = actor_runtime_start(host->runtime, recovery, reason);
    if (result != RESULT_OK) {
        snprintf(error, 512, "start: %s", reason[0] == '\0' ? result_text(result) : reason);
        return result;
    }
    host->started = true;
    return RESULT_OK;
}

void cli_host_stop(struct cli_host *host)
{
    if (host->started) {
        actor_runtime_stop(host->runtime);
        host->started = false;
    }
}

void cli_host_close(struct cli_host *host)
{
    cli_host_stop(host);
    if (host->modules != NULL) {
        transport_modules_close(host->modules);
    }
    if (host->bus != NULL) {
        host->bus->ops->close(host->bus);
    }
    if (host->aside != NULL) {
        host->aside->ops->close(host->aside);
    }
    /* Before the loops that they may live on. */
    if (host->hot != NULL) {
        host->hot->ops->close(host->hot);
    }
    if (host->blob != NULL) {
        host->blob->ops->close(host->blob);
    }
    if (host->runtime != NULL) {
        actor_runtime_free(host->runtime);
    }
    storage_embedded_backup_free(host->backup);
    if (host->index != NULL) {
        host->index->ops->close(host->index);
    }
    if (host->state != NULL) {
        host->state->ops->close(host->state);
    }
    if (host->journal != NULL) {
        storage_log_close(host->journal);
    }
    if (host->files != NULL) {
        storage_posix_free(host->files);
    }
    if (host->lock >= 0) {
        storage_directory_unlock(host->lock);
    }
    *host = (struct cli_host){.lock = -1};
}
