/*
 * stores.h: the disks of a run. The journal is the real log over a file layer that knows what was
 * synced (power_cut_files.h); state table and blobs are the in-memory adapters; the index is
 * index.c's, which checks what it is told.
 *
 * Between them and the actors stands a thin layer that a dying process does not get through: each
 * change is an effect (machine.h), and once the process is dead nothing changes any more.
 */
#ifndef TESTS_SIMULATE_STORES_H
#define TESTS_SIMULATE_STORES_H

#include "storage/blob.h"
#include "storage/index.h"
#include "storage/journal.h"
#include "storage/state.h"
#include "tests/simulate/sim.h"

struct power_cut_files;

/* What the process sees of each port. */
struct sim_journal_port {
    struct storage_journal port; /* first: the actors hand it back */
    struct sim *sim;
    struct storage_journal *log; /* NULL while no process runs */
};
struct sim_state_port {
    struct storage_state port;
    struct sim *sim;
    struct storage_state *table;
};
struct sim_blob_port {
    struct storage_blob port;
    struct sim *sim;
    struct storage_blob *blobs;
};

struct sim_stores {
    struct power_cut_files *disk;
    struct sim_journal_port journal;
    struct sim_state_port state;
    struct sim_blob_port blob;
    struct storage_index *index;
};

void sim_stores_init(struct sim *sim, struct sim_stores *stores);
void sim_stores_release(struct sim_stores *stores);
/* A process begins, and opens the log. RESULT_FULL: not on a full disk; try again later. */
MUST_USE enum result sim_stores_open(struct sim *sim, struct sim_stores *stores);
/* It has ended, in whatever way. */
void sim_stores_close(struct sim_stores *stores);
/* What was not synced is gone; only while no process runs. */
void sim_stores_cut_power(struct sim *sim, struct sim_stores *stores);
/* Faults that begin and end. */
void sim_stores_set_full(struct sim_stores *stores, enum sim_fault fault, bool full);

#endif
