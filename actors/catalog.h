/*
 * catalog.h: the compiled definitions and modules that one actor's executions look things up in.
 * Each shard compiles its own copy from the registry's messages, so nothing is shared between
 * threads.
 */
#ifndef ACTORS_CATALOG_H
#define ACTORS_CATALOG_H

#include "actors/table.h"
#include "engine/model.h"
#include "engine/read/read.h"
#include "engine/schedule.h"
#include "engine/time/zone.h"
#include "proto/base/result.h"
#include "proto/message.h"

/* One deployed version of a file. */
struct actor_source {
    struct actor_source *next;
    struct span project;
    struct span name;
    struct span content;
    uint32_t version;
    int64_t at_ms; /* when it was deployed */
    struct engine_definition *definition;
};

/*
 * Reads the time zone of an IANA name from wherever the system keeps them, its table in the arena;
 * one small file, so that a shard may do it in its turn. Any thread. Anything but RESULT_OK: there
 * is no such zone.
 */
typedef enum result (*actor_zone_fn)(struct span name, struct arena *arena,
                                     struct engine_zone *out);

struct actor_catalog {
    struct engine_catalog engine; /* what engine calls are given */
    /* private to catalog.c */
    struct actor_table processes;
    struct actor_table decisions;
    struct actor_table zones; /* that were asked for */
    struct arena zone_arena;
    actor_zone_fn read_zone; /* NULL: there are no named zones */
    struct actor_table projects;
    struct actor_source *sources; /* newest first */
    struct engine_modules *builtins;
};

MUST_USE enum result actor_catalog_init(struct actor_catalog *catalog, actor_zone_fn read_zone);
/* No execution that borrows it may be left. */
void actor_catalog_release(struct actor_catalog *catalog);

/*
 * Compiles and keeps one version of a file; copies what it is given. `report` (initialised here,
 * released by the caller) says what is wrong on RESULT_INVALID. RESULT_EXISTS: that version of one
 * of its processes or decisions is there already.
 */
MUST_USE enum result actor_catalog_add(struct actor_catalog *catalog,
                                       const struct proto_definition *definition, int64_t at_ms,
                                       struct engine_report *report);
/*
 * A project's modules and environment are stored like a definition of this name (always version 1):
 * an execution that goes on after a crash must find its modules before anybody has loaded the
 * project again. No file may be deployed by it.
 */
#define ACTOR_PROJECT_FILE "modules.json"
/* [workspace, environment, modules] as one value in the arena; empty when that is full. */
struct span actor_project_write(const struct proto_project *project, struct arena *arena);
/* Spans borrowed. RESULT_CORRUPT. */
MUST_USE enum result actor_project_read(struct span project_id, struct span value,
                                        struct proto_project *out);
/* Is this what the catalog has for the project already? */
bool actor_catalog_has_project(const struct actor_catalog *catalog,
                               const struct proto_project *project);

/* A project's modules and environment, in place of the old ones. */
MUST_USE enum result actor_catalog_set_project(struct actor_catalog *catalog,
                                               const struct proto_project *project,
                                               struct engine_report *report);
/* The workspace that a project's triggers start executions in: the project's, else "default".
 * Borrowed. */
struct span actor_catalog_workspace(const struct actor_catalog *catalog, struct span project);
/* Errors in the report for each webhook path of the file that a process of another id or project
 * has. */
void actor_catalog_check_paths(const struct actor_catalog *catalog, struct span project,
                               const struct engine_definition *definition,
                               struct engine_report *report);
/* The newest version that serves a path below /hooks/, and where it begins; NULL: none does. */
const struct engine_process *actor_catalog_of_path(const struct actor_catalog *catalog,
                                                   struct span path,
                                                   struct engine_start_trigger *trigger);
/* Newest version of a process, 0 when there is none. */
uint32_t actor_catalog_newest(const struct actor_catalog *catalog, struct span project,
                              struct span process_id);
/* The same for a decision of a decision model. */
uint32_t actor_catalog_newest_decision(const struct actor_catalog *catalog, struct span project,
                                       struct span decision_id);
/* The file that a process version came from; NULL when absent. */
const struct actor_source *actor_catalog_source(const struct actor_catalog *catalog,
                                                struct span project, struct span process_id,
                                                uint32_t version);
/* Newest version of a file by its name; NULL when absent. */
const struct actor_source *actor_catalog_file(const struct actor_catalog *catalog,
                                              struct span project, struct span name);

#endif
