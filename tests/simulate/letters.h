/*
 * letters.h: every message that was published, in books of the simulator's own: which execution has
 * taken it, and whether it stands in the journal. A message is taken once, or expires, or waits
 * with its keeper; that it was taken is committed with what it did, and neither survives a death
 * alone.
 */
#ifndef TESTS_SIMULATE_LETTERS_H
#define TESTS_SIMULATE_LETTERS_H

#include "proto/record.h"
#include "tests/simulate/sim.h"

struct sim_letters;

void sim_letters_init(struct sim *sim);

/* ---- what the tap hears (tap.c) ---- */

/* An event of the execution says that this message came. One that nobody has published is a
 * signal. */
void sim_letters_caught(struct sim *sim, uint32_t execution, uint64_t event_sequence,
                        struct span id);
/* An execution came to be; true: a message has begun it. */
bool sim_letters_begun(struct sim *sim, uint32_t execution, uint64_t event_sequence,
                       struct span execution_id);
/* A commit: its MESSAGE and MESSAGE_TAKEN records, then the executions that it holds, then its end.
 */
void sim_letters_commit(struct sim *sim, const struct proto_record *record);
void sim_letters_commit_of(struct sim *sim, uint32_t execution);
/* The commit deletes that execution: what it took before goes with it, or is with its keeper. */
void sim_letters_deleted(struct sim *sim, uint32_t execution);
void sim_letters_committed(struct sim *sim);
void sim_letters_appended(struct sim *sim, const struct proto_record *record);
void sim_letters_synced(struct sim *sim, bool well);
/* After a death the execution is as it was then. */
void sim_letters_go_back(struct sim *sim, uint32_t execution, uint64_t event_sequence);
/* All executions are back: do the keepers hold what they must, and nothing else? */
void sim_letters_come_back(struct sim *sim);

/* ---- looking ---- */

/* May it still be taken? False: it was, or has expired, or nobody has heard of it yet. */
bool sim_letters_wait(const struct sim *sim, struct span id);
bool sim_letters_know(const struct sim *sim, struct span id);
/* No message that begins an execution is on its way. */
bool sim_letters_are_quiet(const struct sim *sim);
/* Everything has come to an end: what became of each? */
void sim_letters_judge(struct sim *sim);

#endif
