/*
 * encode_step.c: step blobs: what step replay shows (interfaces.md 4, engine.md 6). One is written
 * for each step, so its size must hang neither on how many steps there were nor on how many tokens
 * there are: a fork of thousands would cost the square of it.
 *
 * Beside the payloads it holds the step's own entry and what it took (`work`), its token and the
 * scopes around it, and of the other tokens and scopes some, with the counts of all. What can be
 * compensated is left out. The payloads themselves are left out by `far` steps.
 */
#include "engine/encode.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

enum {
    TOKENS_MAX = 32, /* the step's own one among them */
    SCOPES_MAX = 32, /* those around it first */
};

/* ---- which ---- */

struct selection {
    uint32_t ids[SCOPES_MAX];
    uint32_t count;
};

static bool has(const struct selection *selection, uint32_t id)
{
    for (uint32_t i = 0; i < selection->count; i++) {
        if (selection->ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* The root's fields stand in the blob itself. */
static void select_scopes(const struct engine_execution *execution, uint32_t innermost,
                          struct selection *selection)
{
    uint32_t id = innermost;
    while (id > ENGINE_SCOPE_ROOT && selection->count < SCOPES_MAX) {
        const struct engine_scope *scope = engine_scope_find(execution, id);
        if (scope == NULL) {
            break; /* it ended with the step */
        }
        selection->ids[selection->count++] = id;
        id = scope->parent;
    }
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        if (selection->count == SCOPES_MAX) {
            break;
        }
        if (scope->slot.id != ENGINE_SCOPE_ROOT && !has(selection, scope->slot.id)) {
            selection->ids[selection->count++] = scope->slot.id;
        }
    }
}

/* ---- writing ---- */

/* The host of a body bears what came to it, perhaps the collection: a far step shows its own token
 * alone. */
static void write_tokens(const struct engine_execution *execution, const struct engine_step *step,
                         struct wire_writer *writer)
{
    const struct engine_token *own = engine_token_find(execution, step->token);
    uint32_t most = step->far ? own != NULL : TOKENS_MAX;
    uint32_t shown = execution->token_count < most ? execution->token_count : most;
    const struct engine_token *token = NULL;
    wire_write_array(writer, shown);
    if (own != NULL) {
        engine_encode_token(execution, own, writer);
        shown--;
    }
    while (shown > 0 && (token = engine_token_next(execution, token)) != NULL) {
        if (token != own) {
            engine_encode_token(execution, token, writer);
            shown--;
        }
    }
    ASSERT(shown == 0);
}

static uint32_t write_places(const struct engine_execution *execution,
                             const struct engine_step *step, struct wire_writer *writer)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct selection scopes = {.count = 0};
    uint32_t count = 0;
    if (execution->token_count > 0) {
        ENGINE_PACK_UINT(writer, "tokenCount", execution->token_count);
        ENGINE_PACK(writer, "tokens");
        write_tokens(execution, step, writer);
        count += 2;
    }
    if (execution->scope_order.count > 1) {
        select_scopes(execution, step->scope, &scopes);
        ENGINE_PACK_UINT(writer, "scopeCount", execution->scope_order.count - 1);
        ENGINE_PACK(writer, "scopes");
        wire_write_array(writer, scopes.count);
        for (uint32_t i = 0; i < scopes.count; i++) {
            engine_encode_scope(execution, engine_scope_find(execution, scopes.ids[i]), false,
                                writer);
        }
        count += 2;
    }
    if (root != NULL && root->joins.count > 0) {
        ENGINE_PACK(writer, "joins");
        engine_encode_joins(execution, root, writer);
        count++;
    }
    return count;
}

/* The step's own entry; empty when the history has let go of it. */
static struct span step_entry(const struct engine_execution *execution, uint32_t sequence)
{
    if (sequence == execution->sequence) {
        return engine_encode_last_step(execution);
    }
    uint32_t oldest = execution->sequence - execution->steps.count + 1;
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    struct span entry = SPAN_EMPTY;
    for (uint32_t i = oldest; i <= sequence; i++) {
        if (wire_take(&cursor, &entry) != RESULT_OK) {
            return SPAN_EMPTY;
        }
    }
    return entry;
}

static void write_work(const struct engine_execution *execution, const struct engine_step *step,
                       struct wire_writer *writer)
{
    size_t mark = wire_open_map(writer);
    uint32_t count = 0;
    ENGINE_OPTIONAL_UINT("attempts", step->attempts);
    ENGINE_OPTIONAL_UINT("retries", step->retries);
    ENGINE_OPTIONAL_UINT("callbacks", step->callbacks);
    ENGINE_OPTIONAL_UINT("instance", step->instance);
    ENGINE_OPTIONAL_TIME("calledAt", step->called_ms, step->called_ms != 0);
    ENGINE_OPTIONAL_TIME("answeredAt", step->answered_ms, step->answered_ms != 0);
    ENGINE_OPTIONAL_VALUE("own", step->own);
    if (step->far) { /* else it stands among the payloads */
        ENGINE_OPTIONAL_VALUE("output", step->output);
    }
    wire_close_map(writer, mark, count);
}

static bool has_work(const struct engine_step *step)
{
    return step->attempts > 0 || step->instance > 0 || step->called_ms != 0 || step->far;
}

void engine_step_encode(const struct engine_execution *execution, const struct engine_step *step,
                        struct wire_writer *writer)
{
    char step_id[UUID_TEXT_BYTES + 1];
    ASSERT(step->sequence > 0 && step->sequence <= execution->sequence);
    uuid_format(engine_step_id(execution, step->sequence), step_id);
    size_t mark = engine_pack_map_open(writer);
    uint32_t count = engine_encode_head(execution, writer) + 2;
    ENGINE_PACK_UINT(writer, "eventSequence", execution->event_sequence); /* blobs in their order */
    ENGINE_PACK_STRING(writer, "stepId", span_of(step_id, UUID_TEXT_BYTES));
    struct span entry = step_entry(execution, step->sequence);
    ENGINE_OPTIONAL_VALUE("step", entry);
    if (has_work(step)) {
        ENGINE_PACK(writer, "work");
        write_work(execution, step, writer);
        count++;
    }
    if (step->far) {
        ENGINE_PACK(writer, "payloadsLeftOut");
        wire_write_bool(writer, true);
        count++;
    } else {
        count += engine_encode_payloads(execution, writer);
    }
    count += write_places(execution, step, writer);
    engine_pack_map_close(writer, mark, count);
}
