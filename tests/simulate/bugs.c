/*
 * bugs.c: bugs to be found in the core: a join that counts tokens instead of flows (traps.md 2), an
 * activity that is noted twice for compensation, a migration and an import that forget their joins.
 * The linker leads the core here (--wrap). Only the actors get them (tap.h: what they call); twins
 * and explorations run the core as it is. The other bugs are in machine.c: they are the world's.
 */
#include "engine/compensation.h"
#include "engine/decision.h"
#include "engine/foreign.h"
#include "engine/migration.h"
#include "tests/simulate/tap.h"

void __real_engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit);
void __wrap_engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit);

static void count_tokens(struct engine_decision *decision, const struct engine_visit *visit)
{
    struct engine_indexes incoming = visit->node->incoming;
    uint32_t tokens = 1;
    for (uint32_t i = 0; i < incoming.count; i++) {
        const struct engine_join_tokens *join =
            engine_join_find(decision->execution, visit->scope, incoming.at[i]);
        tokens += join == NULL ? 0 : join->count;
    }
    engine_emit_token(decision, ENGINE_EVENT_JOINED, visit->token);
    if (tokens >= incoming.count) {
        struct engine_event *event = engine_emit(decision, ENGINE_EVENT_JOIN_FIRED);
        event->token = engine_decision_token_id(decision);
        event->scope = visit->scope->slot.id;
        event->node = visit->node->index;
    }
}

void __wrap_engine_join_arrive(struct engine_decision *decision, const struct engine_visit *visit)
{
    bool joins = visit->node->incoming.count > 1 && visit->token->flow != ENGINE_NONE;
    if (joins && sim_tap_bug() == SIM_JOIN_COUNTS_TOKENS) {
        count_tokens(decision, visit);
    } else {
        __real_engine_join_arrive(decision, visit);
    }
}

/* ---- compensation ---- */

void __real_engine_compensation_record(struct engine_decision *decision,
                                       const struct engine_visit *visit);
void __wrap_engine_compensation_record(struct engine_decision *decision,
                                       const struct engine_visit *visit);

void __wrap_engine_compensation_record(struct engine_decision *decision,
                                       const struct engine_visit *visit)
{
    __real_engine_compensation_record(decision, visit);
    if (sim_tap_bug() == SIM_HANDLER_TWICE) {
        __real_engine_compensation_record(decision, visit);
    }
}

/* ---- migration ---- */

uint32_t __real_engine_migration_flow(const struct engine_migration *migration, uint32_t flow);
uint32_t __wrap_engine_migration_flow(const struct engine_migration *migration, uint32_t flow);

uint32_t __wrap_engine_migration_flow(const struct engine_migration *migration, uint32_t flow)
{
    return sim_tap_bug() == SIM_MIGRATION_BY_PLACE ? flow
                                                   : __real_engine_migration_flow(migration, flow);
}

/* ---- import ---- */

bool __real_engine_foreign_read(const struct engine_process *process, struct span map,
                                struct arena *arena, struct engine_foreign *out, struct span *why);
bool __wrap_engine_foreign_read(const struct engine_process *process, struct span map,
                                struct arena *arena, struct engine_foreign *out, struct span *why);

bool __wrap_engine_foreign_read(const struct engine_process *process, struct span map,
                                struct arena *arena, struct engine_foreign *out, struct span *why)
{
    bool read = __real_engine_foreign_read(process, map, arena, out, why);
    if (read && sim_tap_bug() == SIM_IMPORT_HALF) {
        memset(out->waiting, 0, process->flow_count * sizeof out->waiting[0]);
    }
    return read;
}
