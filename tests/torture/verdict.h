/* verdict.h: the end of a torture is judged: by the engine while it runs, and by what it left. */
#ifndef TESTS_TORTURE_VERDICT_H
#define TESTS_TORTURE_VERDICT_H

#include "tests/system/http_server.h"
#include "tests/torture/clients.h"
#include "tests/torture/engine.h"

/* Each acknowledged execution comes to its end as Completed within `timeout_ms`: violations. */
unsigned torture_verdict_ends(const struct torture_clients *clients,
                              const struct torture_engine *engine, uint64_t timeout_ms);
/* After an orderly end: a row for each, and its logs without gap and none twice: violations. */
unsigned torture_verdict_audit(const struct torture_clients *clients,
                               const struct torture_engine *engine);
/* After an orderly end: its front answered every request that it took: violations. */
unsigned torture_verdict_front(const struct torture_engine *engine);
/* Each task of an execution was called with one Idempotency-Key, however often: violations. */
unsigned torture_verdict_calls(struct test_http *modules);

#endif
