/*
 * memory.h: the audit bus in memory, for the simulator and for tests: a whole queue that can also
 * be away, refuse, and give back. One thread; what it has to say is said within the calls.
 */
#ifndef AUDIT_MEMORY_MEMORY_H
#define AUDIT_MEMORY_MEMORY_H

#include "audit/bus.h"

struct audit_memory_queue;

/* Its sides are closed before it is freed. */
MUST_USE enum result audit_memory_queue_new(struct audit_memory_queue **out);
void audit_memory_queue_free(struct audit_memory_queue *queue);
MUST_USE enum result audit_memory_bus_open(struct audit_memory_queue *queue,
                                           const struct audit_bus_options *options,
                                           struct audit_bus **out);
MUST_USE enum result audit_memory_source_open(struct audit_memory_queue *queue,
                                              const struct audit_source_options *options,
                                              struct audit_source **out);

/* While away, nothing is settled and nothing comes; what was sent meanwhile follows when it is
 * back. */
void audit_memory_queue_set_away(struct audit_memory_queue *queue, bool away);
/* Messages with this id are refused; NULL: none. Borrowed. */
void audit_memory_queue_refuse(struct audit_memory_queue *queue, const char *id);
/* Messages that nobody has accepted. */
uint32_t audit_memory_queue_count(const struct audit_memory_queue *queue);

#endif
