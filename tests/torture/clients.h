/*
 * clients.h: gateways that begin executions and supply what these wait for, over NNG, and never
 * give up: what is not answered is asked again with the same requestId, as a gateway should.
 */
#ifndef TESTS_TORTURE_CLIENTS_H
#define TESTS_TORTURE_CLIENTS_H

#include <stddef.h>

#include "tests/torture/ledger.h"

struct torture_clients;

/* For the rest of the process. `count` threads on the front at `url`, each with a pause of at most
 * `pause_ms` between requests.
 */
struct torture_clients *torture_clients_start(const char *url, unsigned count, unsigned pause_ms,
                                              uint64_t seed);
/* No new executions; returns when each one that was begun is acknowledged, and all it needs, or
 * after `timeout_ms`: then false. Joins the threads. */
bool torture_clients_finish(struct torture_clients *clients, uint64_t timeout_ms);
/* After finish: entries, some of them never begun, and an entry's id. */
size_t torture_clients_count(const struct torture_clients *clients);
const struct torture_entry *torture_clients_entry(const struct torture_clients *clients,
                                                  size_t index);
void torture_clients_id(size_t index, char out[40]);
/* Executions that were acknowledged; while the threads run, about. */
size_t torture_clients_started(const struct torture_clients *clients);
/* Answers that no engine may give; each was printed. */
unsigned torture_clients_violations(const struct torture_clients *clients);
/* After finish: connections that were given up for new ones (transport/client.h). */
unsigned torture_clients_reopened(const struct torture_clients *clients);

#endif
