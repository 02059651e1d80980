/*
 * explore.c: see explore.h. A state is the execution's bytes; two states are the same when all that
 * can still matter is (canonical()), whatever their history, ids and times.
 */
#include "tests/simulate/explore.h"

#include <stdlib.h>

#include "engine/execution.h"
#include "engine/listen.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/clients.h"

enum {
    STATES_MAX = 250,
    TEXTS_MAX = 1024,
    ADVANCES_MAX = 64,
    TWIN_INPUTS_MAX = 2000,
    TIMERS_MAX = 6,
    CHOICES_MAX = 64,
    POST_MAX = 24,
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
    struct span heard = SPAN_EMPTY;
    for (ENGINE_EACH(const struct engine_subscription, one, &execution->subscriptions,
                     &token->subscriptions, ENGINE_LINK_FIRST)) {
        heard = arena_format(arena, "%.*s %u.%u:%u", SPAN_ARG(heard), one->node, one->definition,
                             one->held);
    }
    return arena_format(arena, "%u %u %u %u %u %u %u %.*s %.*s %.*s %.*s %.*s", token->scope,
                        token->node, token->state, token->wait, token->phase, token->child,
                        token->instance, SPAN_ARG(timers), SPAN_ARG(heard), SPAN_ARG(token->local),
                        SPAN_ARG(token->own), SPAN_ARG(token->output));
}

/* What can be compensated, the oldest first. */
static struct span records_text(const struct engine_execution *execution,
                                const struct engine_scope *scope, struct arena *arena)
{
    struct span text = SPAN_EMPTY;
    for (ENGINE_EACH(const struct engine_record, record, &execution->records, &scope->records,
                     ENGINE_LINK_FIRST)) {
        text = arena_format(arena, "%.*s %u:%u:%u", SPAN_ARG(text), record->node, record->handler,
                            record->inner);
    }
    return text;
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
        struct span records = records_text(execution, scope, writer->arena);
        add(&texts, arena_format(writer->arena, "scope %u %u %u %u %.*s %.*s %.*s", scope->slot.id,
                                 scope->host, scope->begun, scope->done, SPAN_ARG(records),
                                 SPAN_ARG(scope->variables), SPAN_ARG(scope->nodes)));
        for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            add(&texts, arena_format(writer->arena, "join %u %u %u %u %.*s", scope->slot.id,
                                     join->flow, join->count, join->taken, SPAN_ARG(join->output)));
        }
    }
    write_sorted(&texts, writer);
}

/* ---- messages on their way ---- */

struct letter {
    struct span name, key, payload; /* in the run's arena */
};

struct post {
    struct letter at[POST_MAX];
    uint32_t count;
    bool repaired; /* what was broken is so no longer */
};

static bool is_letter(const struct engine_effect *effect)
{
    return effect->kind == ENGINE_EFFECT_PUBLISH && !effect->as.publish.is_signal;
}

static void collect(struct sim *sim, const struct engine_output *output, struct post *post)
{
    for (uint32_t i = 0; i < output->effect_count; i++) {
        const struct engine_effect *effect = &output->effects[i];
        if (is_letter(effect) && post->count < POST_MAX) {
            post->at[post->count++] =
                (struct letter){.name = arena_copy(&sim->arena, effect->as.publish.name),
                                .key = arena_copy(&sim->arena, effect->as.publish.correlation_key),
                                .payload = arena_copy(&sim->arena, effect->as.publish.payload)};
        }
    }
}

static bool is_wanted(const struct engine_execution *execution, const struct letter *letter)
{
    const struct engine_token *token = NULL;
    while ((token = engine_token_next(execution, token)) != NULL) {
        for (ENGINE_EACH(const struct engine_subscription, one, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            if (one->kind == ENGINE_ON_MESSAGE && span_equal(one->name, letter->name) &&
                (one->key.count == 0 || span_equal(one->key, letter->key)) &&
                engine_listen_is_open(execution, token, one)) {
                return true;
            }
        }
    }
    return false;
}

static uint64_t canonical(const struct engine_execution *execution, const struct post *post,
                          struct arena *arena)
{
    struct span end = sim_end_of(execution, arena);
    struct wire_writer writer;
    struct texts names = {0};
    wire_writer_init(&writer, arena, 1024);
    write_tokens(execution, &writer);
    for (uint32_t i = 0; i < post->count; i++) {
        add(&names, post->at[i].name);
    }
    write_sorted(&names, &writer);
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
    uint32_t third; /* ... and one more behind that */
    uint32_t third_boundary;
    bool all_due;                /* TIMER: all that there are */
    uint32_t letter;             /* MESSAGE: of the post, from 1; 0: of the outside */
    const struct sim_task *task; /* MESSAGE, SIGNAL of the outside */
    struct span key;             /* MESSAGE of the outside */
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
            if (k == i) {
                continue;
            }
            choice.second = timers[k].token;
            choice.second_boundary = timers[k].boundary;
            choice.third = 0;
            offer(choices, choice);
            if (count == 3) { /* after a long time all three are due at once */
                choice.third = timers[3 - i - k].token;
                choice.third_boundary = timers[3 - i - k].boundary;
                offer(choices, choice);
            }
        }
    }
    if (count > 3) { /* of so many not every order is tried */
        offer(choices,
              (struct choice){.kind = ENGINE_IN_TIMER, .token = timers[0].token, .all_due = true});
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

static void offer_news(struct sim *sim, const struct engine_execution *execution,
                       const struct post *post, struct choices *choices)
{
    const struct engine_token *token = NULL;
    for (uint32_t i = 0; i < post->count; i++) {
        if (is_wanted(execution, &post->at[i])) {
            offer(choices, (struct choice){.kind = ENGINE_IN_MESSAGE, .letter = i + 1});
        }
    }
    while ((token = engine_token_next(execution, token)) != NULL) {
        const struct engine_process *process = engine_scope_find(execution, token->scope)->process;
        for (ENGINE_EACH(const struct engine_subscription, one, &execution->subscriptions,
                         &token->subscriptions, ENGINE_LINK_FIRST)) {
            const struct sim_task *task = sim_model_task(sim->model, process->nodes[one->node].id);
            if (task != NULL && task->says != SIM_SAYS_NOTHING &&
                engine_listen_is_open(execution, token, one)) {
                offer(choices,
                      (struct choice){.kind = task->says == SIM_SAYS_MESSAGE ? ENGINE_IN_MESSAGE
                                                                             : ENGINE_IN_SIGNAL,
                                      .task = task,
                                      .key = arena_copy(&sim->arena, one->key)});
            }
        }
    }
}

static int64_t due_of(const struct choice *choice, uint32_t token, uint32_t boundary,
                      int64_t now_ms)
{
    return choice->all_due                                                  ? now_ms
           : token == choice->token && boundary == choice->boundary         ? now_ms - 2
           : token == choice->second && boundary == choice->second_boundary ? now_ms - 1
           : token == choice->third && boundary == choice->third_boundary   ? now_ms
                                                                            : now_ms + FAR_MS;
}

/* Of all timers only the chosen ones are due; the core takes care of the rest. */
static void set_due(struct engine_execution *execution, const struct choice *choice, int64_t now_ms)
{
    const struct engine_token *each = NULL;
    while ((each = engine_token_next(execution, each)) != NULL) {
        struct engine_token *token = engine_token_find(execution, each->slot.id);
        if (token->due_ms != ENGINE_NO_DUE) {
            token->due_ms = due_of(choice, token->slot.id, ENGINE_NONE, now_ms);
        }
        for (ENGINE_EACH(struct engine_timer, timer, &execution->timers, &token->timers,
                         ENGINE_LINK_FIRST)) {
            timer->due_ms = due_of(choice, token->slot.id, timer->node, now_ms);
        }
    }
    execution->due_known = false;
}

static struct engine_input news_of(const struct engine_execution *execution,
                                   const struct choice *choice, struct post *post)
{
    struct engine_input input = {.kind = choice->kind, .now_ms = execution->now_ms + 2};
    if (choice->letter == 0) {
        input.name = choice->task->name;
        input.payload = choice->task->callback;
        input.correlation_key = choice->key;
        return input;
    }
    struct letter *letter = &post->at[choice->letter - 1];
    input.name = letter->name;
    input.payload = letter->payload;
    input.correlation_key = letter->key;
    *letter = post->at[--post->count];
    return input;
}

static struct engine_input input_of(const struct sim *sim, struct engine_execution *execution,
                                    const struct choice *choice, struct post *post,
                                    struct proto_call_done *done)
{
    if (choice->kind == ENGINE_IN_MESSAGE || choice->kind == ENGINE_IN_SIGNAL) {
        return news_of(execution, choice, post);
    }
    const struct engine_token *token = engine_token_find(execution, choice->token);
    struct span node_id = engine_token_node(execution, token)->id;
    const struct sim_task *task = sim_model_task(sim->model, node_id);
    struct engine_input input = {.kind = choice->kind, .now_ms = execution->now_ms + 2};
    if (choice->kind == ENGINE_IN_CALL_DONE) {
        ASSERT(task != NULL);
        bool execute = token->phase == ENGINE_PHASE_EXECUTE;
        bool broken = task->broken.count > 0 && !post->repaired;
        *done = (struct proto_call_done){.token = choice->token,
                                         .attempt = token->call,
                                         .status = execute ? task->status : 200,
                                         .retry_after_ms = -1,
                                         .body = !execute ? task->told
                                                 : broken ? task->broken
                                                          : task->reply};
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
static enum result run(struct sim *sim, struct engine_execution *execution,
                       const struct engine_input *input, struct post *post, struct arena *arena)
{
    struct engine_output output;
    bool more = true;
    engine_output_init(&output, arena);
    enum result result = engine_accept(execution, input, &output);
    for (uint32_t i = 0; i < ADVANCES_MAX && result == RESULT_OK && more; i++) {
        result =
            engine_advance(execution, input->now_ms, LIMIT_TOKEN_MOVES, NULL, NULL, &output, &more);
    }
    collect(sim, &output, post);
    return result;
}

/* `original` NULL: a client's. */
static struct engine_execution *start(struct sim *sim, const struct sim_catalog *catalog,
                                      const struct engine_execution *original, struct post *post,
                                      struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 64);
    wire_write_map(&writer, 2);
    wire_pair_text(&writer, "self", "twin");
    wire_pair_text(&writer, "peer", "twin");
    struct engine_start start = {.workspace = span_text("default"),
                                 .project = span_text(SIM_PROJECT),
                                 .request = wire_writer_span(&writer),
                                 .execution = sim->model->variables,
                                 .process = catalog->definitions[0]->processes};
    if (original != NULL) {
        start.execution = original->first_execution;
        start.process =
            sim_catalog_find(catalog, original->process->id, original->process->version);
    }
    if (original != NULL && original->start_node.count > 0) {
        start.request = SPAN_EMPTY;
        start.start_node = original->start_node;
    }
    enum result result = execution_id_parse(span_text("twin"), &start.id);
    struct engine_execution *execution = engine_new(&catalog->engine, &start, sim->now.unix_ms);
    ASSERT(result == RESULT_OK && execution != NULL);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = sim->now.unix_ms};
    struct span foreign = original == NULL || original->run > 1
                              ? SPAN_EMPTY
                              : sim_clients_foreign(sim, execution_id_span(&original->id));
    if (foreign.count > 0) {
        input.kind = ENGINE_IN_IMPORT;
        input.foreign = foreign;
    }
    result = run(sim, execution, &input, post, arena);
    ASSERT(result == RESULT_OK);
    return execution;
}

/* ---- the twin ---- */

static void count_work(const struct sim *sim, const struct engine_execution *execution,
                       const struct choice *choice, const struct post *post, uint32_t *work)
{
    if (choice->kind != ENGINE_IN_CALL_DONE) {
        return;
    }
    const struct engine_token *token = engine_token_find(execution, choice->token);
    const struct sim_task *task =
        sim_model_task(sim->model, engine_token_node(execution, token)->id);
    bool broken = task->broken.count > 0 && !post->repaired;
    if (token->phase == ENGINE_PHASE_EXECUTE && !broken) {
        work[task - sim->model->tasks]++;
    }
}

/* An operator repairs what has failed, and tries again. */
static bool is_repaired(const struct sim *sim, const struct engine_execution *execution,
                        struct post *post)
{
    const struct sim_task *task = execution->end == ENGINE_END_FAILED
                                      ? sim_model_task(sim->model, execution->error_task)
                                      : NULL;
    post->repaired = post->repaired || (task != NULL && task->broken.count > 0);
    return task != NULL && task->broken.count > 0;
}

/* What comes next; false: nothing can. */
static bool next_input(struct sim *sim, struct engine_execution *execution, struct post *post,
                       uint32_t *work, struct engine_input *input, struct proto_call_done *done)
{
    struct choices choices = {0};
    if (is_repaired(sim, execution, post)) {
        *input = (struct engine_input){.kind = ENGINE_IN_RETRY, .now_ms = execution->now_ms + 2};
        return true;
    }
    if (execution->end != ENGINE_END_NONE) {
        return false;
    }
    offer_answers(sim, execution, &choices);
    offer_news(sim, execution, post, &choices);
    int64_t due_ms = engine_next_due_ms(execution);
    if (choices.count > 0) {
        count_work(sim, execution, &choices.at[0], post, work);
        *input = input_of(sim, execution, &choices.at[0], post, done);
    } else {
        *input = (struct engine_input){.kind = ENGINE_IN_TIMER, .now_ms = due_ms};
    }
    return choices.count > 0 || due_ms != INT64_MAX;
}

struct span sim_twin(struct sim *sim, const struct sim_catalog *catalog,
                     const struct engine_execution *original, uint32_t *work)
{
    struct arena arena;
    struct proto_call_done done;
    struct span end = SPAN_EMPTY;
    struct post post = {0};
    struct engine_input input;
    arena_init(&arena, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    struct engine_execution *execution = start(sim, catalog, original, &post, &arena);
    enum result result = RESULT_OK;
    for (uint32_t i = 0; i < TWIN_INPUTS_MAX && result == RESULT_OK &&
                         next_input(sim, execution, &post, work, &input, &done);
         i++) {
        arena_clear(&arena);
        result = run(sim, execution, &input, &post, &arena);
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
    const struct sim_catalog *catalog;
    struct sim_ends *ends;
    struct arena arena; /* of one input */
    struct span states[STATES_MAX];
    struct post *posts[STATES_MAX];
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

static void note_state(struct exploration *exploration, const struct engine_execution *execution,
                       const struct post *post)
{
    uint64_t hash = canonical(execution, post, &exploration->arena);
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
    struct post *kept = arena_alloc(&exploration->sim->arena, sizeof *kept);
    ASSERT(kept != NULL);
    *kept = *post;
    exploration->posts[exploration->count] = kept;
    exploration->known[exploration->count] = hash;
    exploration->states[exploration->count++] = wire_writer_span(&writer);
}

static void note(struct exploration *exploration, const struct engine_execution *execution,
                 const struct post *post)
{
    if (execution->end != ENGINE_END_NONE) {
        note_end(exploration, execution);
    } else {
        note_state(exploration, execution, post);
    }
}

static struct engine_execution *decoded(struct exploration *exploration, struct span bytes)
{
    struct engine_execution *execution;
    enum result result = engine_decode(&exploration->catalog->engine, bytes, &execution);
    ASSERT(result == RESULT_OK);
    return execution;
}

static void try_choice(struct exploration *exploration, uint32_t state, const struct choice *choice)
{
    struct proto_call_done done;
    struct post post = *exploration->posts[state];
    arena_clear(&exploration->arena);
    struct engine_execution *execution = decoded(exploration, exploration->states[state]);
    struct engine_input input = input_of(exploration->sim, execution, choice, &post, &done);
    enum result result = run(exploration->sim, execution, &input, &post, &exploration->arena);
    if (result == RESULT_OK) {
        note(exploration, execution, &post);
    } else {
        sim_fail(exploration->sim, "the core refuses what it waits for: %s", result_text(result));
    }
    engine_free(execution);
}

void sim_explore(struct sim *sim, const struct sim_catalog *catalog, struct sim_ends *ends)
{
    struct exploration *exploration = arena_zero(&sim->arena, sizeof *exploration);
    ASSERT(exploration != NULL);
    *ends = (struct sim_ends){0};
    exploration->sim = sim;
    exploration->catalog = catalog;
    exploration->ends = ends;
    arena_init(&exploration->arena, TURN_BLOCK_BYTES, TURN_BYTES_MAX);
    struct post post = {0};
    struct engine_execution *execution = start(sim, catalog, NULL, &post, &exploration->arena);
    note(exploration, execution, &post);
    engine_free(execution);
    for (uint32_t i = 0; i < exploration->count && !ends->cut && !sim_failed(sim); i++) {
        struct choices choices = {0};
        execution = decoded(exploration, exploration->states[i]);
        offer_answers(sim, execution, &choices);
        offer_news(sim, execution, exploration->posts[i], &choices);
        offer_timers(execution, &choices);
        engine_free(execution);
        for (uint32_t k = 0; k < choices.count && !sim_failed(sim); k++) {
            try_choice(exploration, i, &choices.at[k]);
        }
    }
    ends->states = exploration->count;
    arena_release(&exploration->arena);
}
