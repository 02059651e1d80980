/*
 * tap.h: the simulator's ear at the engine's door. The linker leads every call of the actors into
 * the engine through tap.c (--wrap), so each event is seen at the moment it is applied:
 *
 *   - the books must balance (books.h);
 *   - a shadow that is only ever fed with the encoded events must encode to the same bytes;
 *   - what is committed must be what happened, and what leaves must be durable before;
 *   - what comes back after a death must be, byte for byte, a state that was committed, and none
 *     that is older than what was durable.
 */
#ifndef TESTS_SIMULATE_TAP_H
#define TESTS_SIMULATE_TAP_H

#include "proto/message.h"
#include "tests/simulate/model.h"

struct engine_execution;

void sim_tap_init(struct sim *sim);
void sim_tap_release(struct sim *sim);
/* An execution of this id will come; they are numbered from 0. */
void sim_tap_track(struct sim *sim, struct execution_id id);
/* From now on the actors of this run call the engine; NULL: whoever calls it is the simulator. */
void sim_tap_listen(struct sim *sim);
/* The bug that the actors' calls in progress are to have. */
enum sim_bug sim_tap_bug(void);

/* A commit is on its way to the journal; its records were appended; the log was synced. */
void sim_tap_committed(struct sim *sim, struct span records);
void sim_tap_appended(struct sim *sim, struct span records);
void sim_tap_synced(struct sim *sim, bool well);
/* Another process reads what the last one has left. */
void sim_tap_recovery_begins(struct sim *sim);
void sim_tap_recovery_ends(struct sim *sim);
/* Something leaves the process. */
void sim_tap_call_leaves(struct sim *sim, const struct proto_call *call);
void sim_tap_reply_leaves(struct sim *sim, const struct proto_reply *reply);

/* The newest state of an execution, durable or not; NULL: there is none. */
const struct engine_execution *sim_tap_shadow(struct sim *sim, uint32_t execution);
/* It has ended for good and durably, or there is none. */
bool sim_tap_has_settled(struct sim *sim, uint32_t execution);
/* It was deleted, durably or not. */
bool sim_tap_is_deleted(const struct sim *sim, struct span execution_id);
/* How many callbacks it has taken. */
uint32_t sim_tap_callbacks(struct sim *sim, uint32_t execution);
/* The model as the checks have compiled it. */
const struct sim_catalog *sim_tap_catalog(struct sim *sim);

#endif
