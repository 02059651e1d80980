/*
 * assembly.h: what a runtime is made of. Included by runtime.c and metrics.c only.
 */
#ifndef ACTORS_ASSEMBLY_H
#define ACTORS_ASSEMBLY_H

#include "actors/audit.h"
#include "actors/backup.h"
#include "actors/bus.h"
#include "actors/hot.h"
#include "actors/io.h"
#include "actors/journal.h"
#include "actors/loop.h"
#include "actors/recovery.h"
#include "actors/registry.h"
#include "actors/retention.h"
#include "actors/router.h"
#include "actors/runtime.h"
#include "actors/shard/shard.h"
#include "actors/storage.h"
#include "actors/waiter.h"

struct actor_runtime {
    struct actor_runtime_options options;
    struct actor_router router;
    struct actor_recovery recovery;
    struct actor_loop journal_loop, io_loop, storage_loop, audit_loop, registry_loop, hot_loop,
        backup_loop, retention_loop; /* these three: where their actors are */
    struct actor_loop bus_loop;      /* zeroed where there is no bus */
    struct actor_loop *shard_loops;
    struct proto_sink **shard_sinks;
    char (*shard_names)[16];
    struct actor_shard **shards;
    struct actor_journal *journal;
    struct actor_io *io;
    struct actor_hot *hot;             /* NULL: the hot tier is in the shards */
    struct actor_backup *backup;       /* NULL: there is no port for it */
    struct actor_retention *retention; /* NULL: everything is kept */
    struct actor_storage *storage;
    struct actor_audit *audit;
    struct actor_bus *bus; /* NULL: none */
    struct audit_bus *bus_port, *aside_port;
    struct actor_registry *registry;
    struct actor_waiter drain_waiter;
    struct actor_waiter load_waiter;
    pthread_mutex_t load_mutex;
    uint64_t load_ticket;
    bool started;
};

/* metrics.c: the router's `stats`. */
uint32_t actor_stats(void *runtime, struct wire_writer *writer);

#endif
