/*
 * host.h: one engine in this process over a data directory: ports opened, actors built, modules
 * attached. What `serve` shows to the network and `run` uses alone.
 */
#ifndef TOOLS_STRIDER_HOST_H
#define TOOLS_STRIDER_HOST_H

#include "actors/runtime.h"
#include "storage/journal.h"
#include "tools/strider/tiers.h"
#include "transport/modules.h"

/* The audit bus; url NULL: none. */
struct cli_host_bus {
    const char *url;
    const char *queue;
    const char *dead_letter; /* NULL: a file in the data directory */
    const char *ca_file;     /* NULL: the system's */
    uint32_t window;
};

struct cli_host_options {
    const char *directory;                    /* made when missing */
    struct cli_tiers_options tiers;           /* zeroed: all embedded */
    struct actor_runtime_options engine;      /* its ports are filled in here */
    struct transport_modules_options modules; /* its loop too */
    struct cli_host_bus bus;
};

struct cli_host {
    int lock;
    struct storage_files *files;
    struct storage_journal *journal;
    struct storage_state *state;
    struct storage_blob *blob;
    struct storage_index *index;
    struct storage_hot *hot; /* NULL: it is in the shards */
    struct storage_backup *backup;
    bool blob_is_embedded;
    char index_file[4096]; /* of the embedded index */
    struct actor_runtime *runtime;
    struct transport_modules *modules;
    struct audit_bus *bus;                /* NULL: none */
    struct audit_bus *aside;              /* for what it refuses */
    struct storage_journal_report report; /* of the journal's opening */
    bool started;
};

/*
 * Opens everything and builds the runtime; nothing runs yet. On failure `error` is a sentence that
 * names the part, and there is nothing to close.
 */
MUST_USE enum result cli_host_open(const struct cli_host_options *options, struct cli_host *out,
                                   char error[512]);
/* Recovers and starts the threads; `error` as above. */
MUST_USE enum result cli_host_start(struct cli_host *host, struct actor_recovery *recovery,
                                    char error[512]);
/* Joins the threads; drain first, if you want to. The router stays valid and answers RESULT_CLOSED.
 * Idempotent. */
void cli_host_stop(struct cli_host *host);
/* Stops, then frees the actors and closes the ports. Idempotent. */
void cli_host_close(struct cli_host *host);

#endif
