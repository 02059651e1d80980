/*
 * blocks_event.h: the rows of blocks_event.c, blocks_undo.c and blocks_racy.c; the table is in
 * blocks.c.
 */
#ifndef TESTS_SIMULATE_BLOCKS_EVENT_H
#define TESTS_SIMULATE_BLOCKS_EVENT_H

struct block;

/* ---- blocks_event.c: messages, signals, conditions, escalations ---- */
void block_message_catch(struct block *block);
void block_receive_task(struct block *block);
void block_any_message(struct block *block);
void block_own_message(struct block *block);
void block_peer_message(struct block *block);
void block_message_start(struct block *block);
void block_timer_start(struct block *block);
void block_signal_catch(struct block *block);
void block_signal_throw(struct block *block);
void block_event_gateway(struct block *block);
void block_message_boundary(struct block *block);
void block_message_handler(struct block *block);
void block_condition(struct block *block);
void block_condition_boundary(struct block *block);
void block_escalation_beside(struct block *block);
void block_escalation_handler(struct block *block);
void block_event_gateway_race(struct block *block);
void block_message_race(struct block *block);
void block_signal_race(struct block *block);
void block_own_handler(struct block *block);

/* ---- blocks_undo.c: compensation, transactions, ad-hoc work, what is repaired ---- */
void block_compensation(struct block *block);
void block_compensation_of_one(struct block *block);
void block_transaction(struct block *block);
void block_ad_hoc(struct block *block);
void block_error_through_call(struct block *block);
void block_inclusive_loop(struct block *block);
void block_complex(struct block *block);
void block_complex_race(struct block *block);
void block_incident(struct block *block);
void block_enough(struct block *block);
void block_ad_hoc_enough(struct block *block);

/* ---- blocks_racy.c: what depends on the order of events ---- */
void block_uncontrolled_merge(struct block *block);
void block_surplus(struct block *block);
void block_interrupted(struct block *block);
void block_shared_variable(struct block *block);
void block_failing_task(struct block *block);
void block_tangle(struct block *block);

#endif
