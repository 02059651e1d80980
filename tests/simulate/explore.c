/*
 * explore.c: see explore.h. A state is the execution's bytes; two states are the same when all that
 * can still matter is (canonical()), whatever their history, ids and times.
 */
#include "tests/simulate/explore.h"

#include <stdlib.h>

#include "engine/execution.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum {
    STATES_MAX = 250,
    TEXTS_MAX = 1024,
    ADVANCES_MAX = 64,
    TWIN_INPUTS_MAX = 2000,
    TIMERS_MAX = 6,
    CHOICES_MAX = 64,
    TURN_BLOCK_BYTES = 16 << 10,
};
#define TURN_BYTES_MAX (16ul << 20)
#define FAR_MS         INT64_C(1000000000)

/* ---- sorted things ---- */

struct texts {
    struct span at[TEXTS_MAX];
    uint32_t count;
};

static void add(struct texts *texts, struct span text)
{
    ASSERT(texts->count < TEXTS_MAX);
    texts->at[texts->count++] = text;
}

static int compare(const void *left, const void *right)
{
    return span_compare(*(const struct span *)left, *(const struct span *)right);
}

static void write_sorted(struct texts *texts, struct wire_writer *writer)
{
    qsort(texts->at, texts->count, sizeof texts->at[0], compare);
    wire_write_array(writer, texts->count);
    for (uint32_t i = 0; i < texts->count; i++) {
        wire_write_string(writer, texts->at[i]);
    }
}

/* A map by its keys: their order tells who came first. */
static void write_map(struct span map, struct wire_writer *writer)
{
    struct texts keys = {0};
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(map);
    while (wire_map_next(&walk, &key, &value)) {
        add(&keys, key);
    }
    qsort(keys.at, keys.count, sizeof keys.at[0], compare);
    wire_write_map(writer, keys.count);
    for (uint32_t i = 0; i < keys.count; i++) {
        wire_write_string(writer, keys.at[i]);
        wire_write_value(writer, wire_find(map, keys.at[i]));
    }
}

static void write_visited(const struct engine_execution *execution, struct wire_writer *writer)
{
    struct texts visited = {0};
    struct wire_cursor cursor = wire_cursor(engine_history_run(&execution->steps));
    struct span entry;
    while (cursor.next < cursor.end && wire_take(&cursor, &entry) == RESULT_OK) {
        add(&visited, wire_string_or(wire_find_text(entry, "taskId"), "?"));
    }
    write_sorted(&visited, writer);
}

struct span sim_end_of(const struct engine_execution *execution, struct arena *arena)
{
    const struct engine_scope *root = engine_scope_find(execution, ENGINE_SCOPE_ROOT);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    wire_write_map(&writer, 9);
    wire_pair_int(&writer, "end", execution->end);
    wire_pair_string(&writer, "error", execution->error_code);
    wire_pair_string(&writer, "errorTask", execution->error_task);
    wire_write_text(&writer, "visited");
    write_visited(execution, &writer);
    wire_write_text(&writer, "execution");
    write_map(root == NULL ? SPAN_EMPTY : root->variables, &writer);
    wire_write_text(&writer, "nodes");
    write_map(root == NULL ? SPAN_EMPTY : root->nodes, &writer);
    wire_write_text(&writer, "context");
    write_map(execution->context, &writer);
    wire_write_text(&writer, "response");
    write_map(execution->response, &writer);
    wire_write_text(&writer, "module");
    write_map(execution->module, &writer);
    return wire_writer_span(&writer);
}

/* ---- states ---- */

static struct span token_text(const struct engine_execution *execution,
                              const struct engine_token *token, struct arena *arena)
{
    struct span timers = SPAN_EMPTY;
    for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                     ENGINE_LINK_FIRST)) {
        timers = arena_format(arena, "%.*s %u:%u", SPAN_ARG(timers), timer->node, timer->fired);
    }
    return arena_format(arena, "%u %u %u %u %u %u %u %.*s %.*s %.*s %.*s", token->scope,
                        token->node, token->state, token->wait, token->phase, token->child,
                        token->instance, SPAN_ARG(timers), SPAN_ARG(token->local),
                        SPAN_ARG(token->own), SPAN_ARG(token->output));
}

static void write_tokens(const struct engine_execution *execution, struct wire_writer *writer)
{
    struct texts texts = {0};
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        add(&texts, token_text(execution, token, writer->arena));
    }
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        add(&texts, arena_format(writer->arena, "scope %u %u %u %u %.*s %.*s", scope->slot.id,
                                 scope->host, scope->begun, scope->done, SPAN_ARG(scope->variables),
                                 SPAN_ARG(scope->nodes)));
        for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            add(&texts, arena_format(writer->arena, "join %u %u %u %.*s", scope->slot.id,
                                     join->flow, join->count, SPAN_ARG(join->output)));
        }
    }
    write_sorted(&texts, writer);
}

static uint64_t canonical(const struct engine_execution *execution, struct arena *arena)
{
    struct span end = sim_end_of(execution, arena);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    write_tokens(execution, &writer);
    return base_hash(wire_writer_span(&writer), base_hash(end, 1));
}

/* ---- inputs ---- */

/* One thing that may come from outside. */
struct choice {
    enum engine_input_kind kind;
    uint32_t token;
    uint32_t boundary; /* TIMER: node, or ENGINE_NONE: the token's own wait */
    uint32_t second;   /* TIMER: another one due right after it; 0: none */
    uint32_t second_boundary;
};

struct choices {
    struct choice at[CHOICES_MAX];
    uint32_t count;
};

static void offer(struct choices *choices, struct choice choice)
{
    if (choices->count < CHOICES_MAX) {
        choices->at[choices->count++] = choice;
    }
}

static void offer_timers(const struct engine_execution *execution, struct choices *choices)
{
    struct choice timers[TIMERS_MAX];
    uint32_t count = 0;
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        if (token->state == ENGINE_TOKEN_WAITING && token->wait == ENGINE_WAIT_TIMER &&
            count < TIMERS_MAX) {
            timers[count++] = (struct choice){.token = token->slot.id, .boundary = ENGINE_NONE};
        }
        for (ENGINE_EACH(const struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            if (count < TIMERS_MAX) {
                timers[count++] = (struct choice){.token = token->slot.id, .boundary = timer->node};
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        struct choice choice = timers[i];
        choice.kind = ENGINE_IN_TIMER;
        offer(choices, choice);
        for (uint32_t k = 0; k < count; k++) {
            if (k != i) {
                choice.second = timers[k].token;
                choice.second_boundary = timers[k].boundary;
                offer(choices, choice);
            }
        }
    }
}

static void offer_answers(const struct sim *sim, const struct engine_execution *execution,
                          struct choices *choices)
{
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        const struct sim_task *task =
            sim_model_task(sim->model, engine_token_node(execution, token)->id);
        bool asked = token->state == ENGINE_TOKEN_WAITING &&
                     (token->wait == ENGINE_WAIT_CALLBACK || token->wait == ENGINE_WAIT_HUMAN);
        if (token->state == ENGINE_TOKEN_CALLING) {
            offer(choices, (struct choice){.kind = ENGINE_IN_CALL_DONE, .token = token->slot.id});
        } else if (asked && task != NULL && task->waits) {
            offer(choices, (struct choice){.kind = ENGINE_IN_CALLBACK, .token = token->slot.id});
        }
    }
}

/* Of all timers only the chosen ones are due; the core takes care of the rest. */
static void set_due(struct engine_execution *execution, const struct choice *choice, int64_t now_ms)
{
    const struct engine_token *each = NULL;
    while ((each = engine_token_next(execution, each)) != NULL) {
        struct engine_token *token = engine_token_find(execution, each->slot.id);
        bool first = token->slot.id == choice->token;
        bool second = token->slot.id == choice->second;
        if (token->due_ms != ENGINE_NO_DUE) {
            token->due_ms = first && choice->boundary == ENGINE_NONE           ? now_ms - 1
                            : second && choice->second_boundary == ENGINE_NONE ? now_ms
                                                                               : now_ms + FAR_MS;
        }
        for (ENGINE_EACH(struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            timer->due_ms = first && choice->boundary == timer->node           ? now_ms - 1
                            : second && choice->second_boundary == timer->node ? now_ms
                                                                               : now_ms + FAR_MS;
        }
    }
    execution->due_known = false;
}

static struct engine_input input_of(const struct sim *sim, struct engine_execution *execution,
                                    const struct choice *choice, struct proto_call_done *done)
{
    const struct engine_token *token = engine_token_find(execution, choice->token);
    struct span node_id = engine_token_node(execution, token)->id;
    const struct sim_task *task = sim_model_task(sim->model, node_id);
    struct engine_input input = {.kind = choice->kind, .now_ms = execution->now_ms + 2};
    if (choice->kind == ENGINE_IN_CALL_DONE) {
        ASSERT(task != NULL);
        bool execute = token->phase == ENGINE_PHASE_EXECUTE;
        *done = (struct proto_call_done){.token = choice->token,
                                         .attempt = token->call,
                                         .status = execute ? task->status : 200,
                                         .retry_after_ms = -1,
                                         .body = execute ? task->reply : task->told};
        input.call = done;
        input.token = choice->token;
        input.attempt = token->call;
    } else if (choice->kind == ENGINE_IN_CALLBACK) {
        input.task_id = node_id;
        input.payload = task->callback;
    } else {
        set_due(execution, choice, input.now_ms);
    }
    return input;
}

/* Until nothing moves any more. */
static enum result run(struct engine_execution *execution, const struct engine_input *input,
                       struct arena *arena)
{
    struct engine_output output;
    bool more = true;
    engine_output_init(&output, arena);
    enum result result = engine_accept(execution, input, &output);
    for (uint32_t i = 0; i < ADVANCES_MAX && result == RESULT_OK && more; i++) {
        result =
            engine_advance(execution, input->now_ms, LIMIT_TOKEN_MOVES, NULL, NULL, &output, &more);
    }
    return result;
}

static struct engine_execution *start(struct sim *sim, const struct sim_library *library,
                                      struct arena *arena)
{
    struct engine_start start = {.workspace = span_text("default"),
                                 .project = span_text(SIM_PROJECT),
                                 .execution = sim->model->variables,
                                 .process = library->definition->processes};
    enum result result = execution_id_parse(span_text("twin"), &start.id);
    struct engine_execution *execution = engine_new(&library->engine, &start, sim->now.unix_ms);
    ASSERT(result == RESULT_OK && execution != NULL);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = sim->now.unix_ms};
    result = run(execution, &input, arena);
    ASSERT(result == RESULT_OK);
    return execution;
}

/* ---- the twin ---- */

static void count_work(const struct sim *sim, const struct engine_execution *execution,
                       const struct choice *choice, uint32_t *work)
{
    const struct engine_token *token = engine_token_find(execution, choice->token);
    const struct sim_task *task =
        sim_model_task(sim->model, engine_token_node(execution, token)->id);
    if (choice->kind == ENGINE_IN_CALL_DONE && token->phase == ENGINE_PHASE_EXECUTE) {
        work[task - sim->model->tasks]++;
    }
}

struct span sim_twin(struct sim *sim, const struct sim_library *library, uint32_t *work)
{
    struct arena arena;
    struct proto_call_done done;
    struct span end = SPAN_EMPTY;
    arena_init(&arena, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    struct engine_execution *execution = start(sim, library, &arena);
    enum result result = RESULT_OK;
    for (uint32_t i = 0;
         i < TWIN_INPUTS_MAX && result == RESULT_OK && execution->end == ENGINE_END_NONE; i++) {
        struct choices choices = {0};
        arena_clear(&arena);
        offer_answers(sim, execution, &choices);
        int64_t due_ms = engine_next_due_ms(execution);
        if (choices.count == 0 && due_ms == INT64_MAX) {
            break;
        }
        if (choices.count > 0) {
            count_work(sim, execution, &choices.at[0], work);
        }
        struct engine_input input =
            choices.count > 0 ? input_of(sim, execution, &choices.at[0], &done)
                              : (struct engine_input){.kind = ENGINE_IN_TIMER, .now_ms = due_ms};
        result = run(execution, &input, &arena);
    }
    if (execution->end == ENGINE_END_COMPLETED) {
        end = sim_end_of(execution, &sim->arena);
    } else {
        sim_fail(sim, "the twin does not complete: %s, end %u, %.*s %.*s", result_text(result),
                 execution->end, SPAN_ARG(execution->error_code),
                 SPAN_ARG(execution->error_message));
    }
    engine_free(execution);
    arena_release(&arena);
    return end;
}

/* ---- all ends ---- */

struct exploration {
    struct sim *sim;
    const struct sim_library *library;
    struct sim_ends *ends;
    struct arena arena; /* of one input */
    struct span states[STATES_MAX];
    uint64_t known[STATES_MAX];
    uint32_t count;
};

static void note_end(struct exploration *exploration, const struct engine_execution *execution)
{
    struct sim_ends *ends = exploration->ends;
    struct span end = sim_end_of(execution, &exploration->arena);
    for (uint32_t i = 0; i < ends->count; i++) {
        if (span_equal(ends->ends[i], end)) {
            return;
        }
    }
    if (ends->count == SIM_ENDS_MAX) {
        ends->cut = true;
        return;
    }
    ends->ends[ends->count++] = arena_copy(&exploration->sim->arena, end);
}

static void note_state(struct exploration *exploration, const struct engine_execution *execution)
{
    uint64_t hash = canonical(execution, &exploration->arena);
    for (uint32_t i = 0; i < exploration->count; i++) {
        if (exploration->known[i] == hash) {
            return;
        }
    }
    if (exploration->count == STATES_MAX) {
        exploration->ends->cut = true;
        return;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, &exploration->sim->arena, 1024);
    engine_encode(execution, &writer);
    exploration->known[exploration->count] = hash;
    exploration->states[exploration->count++] = wire_writer_span(&writer);
}

static void note(struct exploration *exploration, const struct engine_execution *execution)
{
    if (execution->end != ENGINE_END_NONE) {
        note_end(exploration, execution);
    } else {
        note_state(exploration, execution);
    }
}

static struct engine_execution *decoded(struct exploration *exploration, struct span bytes)
{
    struct engine_execution *execution;
    enum result result = engine_decode(&exploration->library->engine, bytes, &execution);
    ASSERT(result == RESULT_OK);
    return execution;
}

static void try_choice(struct exploration *exploration, struct span state,
                       const struct choice *choice)
{
    struct proto_call_done done;
    arena_clear(&exploration->arena);
    struct engine_execution *execution = decoded(exploration, state);
    struct engine_input input = input_of(exploration->sim, execution, choice, &done);
    enum result result = run(execution, &input, &exploration->arena);
    if (result == RESULT_OK) {
        note(exploration, execution);
    } else {
        sim_fail(exploration->sim, "the core refuses what it waits for: %s", result_text(result));
    }
    engine_free(execution);
}

void sim_explore(struct sim *sim, const struct sim_library *library, struct sim_ends *ends)
{
    struct exploration *exploration = arena_zero(&sim->arena, sizeof *exploration);
    ASSERT(exploration != NULL);
    *ends = (struct sim_ends){0};
    exploration->sim = sim;
    exploration->library = library;
    exploration->ends = ends;
    arena_init(&exploration->arena, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    struct engine_execution *execution = start(sim, library, &exploration->arena);
    note(exploration, execution);
    engine_free(execution);
    for (uint32_t i = 0; i < exploration->count && !ends->cut && !sim_failed(sim); i++) {
        struct choices choices = {0};
        execution = decoded(exploration, exploration->states[i]);
        offer_answers(sim, execution, &choices);
        offer_timers(execution, &choices);
        engine_free(execution);
        for (uint32_t k = 0; k < choices.count && !sim_failed(sim); k++) {
            try_choice(exploration, exploration->states[i], &choices.at[k]);
        }
    }
    ends->states = exploration->count;
    arena_release(&exploration->arena);
}
