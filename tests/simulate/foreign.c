/*
 * foreign.c: see foreign.h. Only nodes of which it is plain what completing them does are moved
 * through: tasks without anything on them, and parallel gateways. All others are begun here.
 */
#include "tests/simulate/foreign.h"

#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/model.h"

enum { ACTIVE_MAX = 64, MOVES_MAX = 10 };

struct game {
    const struct engine_process *process;
    uint32_t *passed;  /* by flow */
    uint32_t *waiting; /* by flow: at a join */
    uint32_t active[ACTIVE_MAX];
    uint32_t active_count;
    struct span results[MOVES_MAX]; /* variables that completed tasks have set */
    uint32_t result_count;
};

static bool is_plain(const struct engine_process *process, const struct engine_node *node)
{
    bool is_task = node->kind == ENGINE_TASK || node->kind == ENGINE_SERVICE_TASK ||
                   node->kind == ENGINE_MANUAL_TASK || node->kind == ENGINE_USER_TASK;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        if (process->flows[node->outgoing.at[i]].condition != NULL) {
            return false;
        }
    }
    return (is_task || node->kind == ENGINE_PARALLEL_GATEWAY) && node->outgoing.count > 0 &&
           node->boundaries.count == 0 && node->compensation == ENGINE_NONE &&
           node->loop.kind == ENGINE_LOOP_NONE && node->default_flow == ENGINE_NONE &&
           node->outputs.count == 0;
}

static void complete(struct game *game, const struct engine_node *node);

static void arrive(struct game *game, uint32_t flow)
{
    const struct engine_node *node = &game->process->nodes[game->process->flows[flow].target];
    game->passed[flow]++;
    if (node->kind != ENGINE_PARALLEL_GATEWAY || node->incoming.count == 1) {
        ASSERT(game->active_count < ACTIVE_MAX);
        game->active[game->active_count++] = node->index;
        return;
    }
    game->waiting[flow]++;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        if (game->waiting[node->incoming.at[i]] == 0) {
            return;
        }
    }
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        game->waiting[node->incoming.at[i]]--;
    }
    complete(game, node);
}

static void complete(struct game *game, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        arrive(game, node->outgoing.at[i]);
    }
}

static void move(const struct sim_model *model, struct game *game, struct sim_random *random)
{
    uint32_t chosen = sim_below(random, game->active_count);
    const struct engine_node *node = &game->process->nodes[game->active[chosen]];
    if (is_plain(game->process, node)) {
        const struct sim_task *task = sim_model_task(model, node->id);
        struct span result = task == NULL ? SPAN_EMPTY : wire_find_text(task->reply, "execution");
        if (result.count > 0) {
            game->results[game->result_count++] = result;
        }
        game->active[chosen] = game->active[--game->active_count];
        complete(game, node);
    }
}

/* The variables: what a start has, and what has come to it. */
static void write_variables(const struct sim_model *model, const struct game *game,
                            struct wire_writer *writer)
{
    uint32_t count = 0;
    struct span key, value;
    size_t mark = wire_open_map(writer);
    for (uint32_t i = 0; i <= game->result_count; i++) {
        struct wire_map_walk walk =
            wire_map_begin(i < game->result_count ? game->results[i] : model->variables);
        while (wire_map_next(&walk, &key, &value)) {
            bool is_set = false;
            for (uint32_t k = 0; k < i; k++) {
                is_set = is_set || wire_find(game->results[k], key).count > 0;
            }
            if (!is_set) {
                wire_write_string(writer, key);
                wire_write_value(writer, value);
                count++;
            }
        }
    }
    wire_close_map(writer, mark, count);
}

static struct span write(struct sim *sim, const struct game *game)
{
    struct wire_writer writer;
    uint32_t passed = 0;
    wire_writer_init(&writer, &sim->arena, 512);
    wire_write_map(&writer, 3);
    wire_write_text(&writer, "execution");
    write_variables(sim->model, game, &writer);
    wire_write_text(&writer, "active");
    wire_write_array(&writer, game->active_count);
    for (uint32_t i = 0; i < game->active_count; i++) {
        wire_write_string(&writer, game->process->nodes[game->active[i]].id);
    }
    for (uint32_t flow = 0; flow < game->process->flow_count; flow++) {
        passed += game->passed[flow] > 0;
    }
    wire_write_text(&writer, "passed");
    wire_write_array(&writer, passed);
    for (uint32_t flow = 0; flow < game->process->flow_count; flow++) {
        if (game->passed[flow] > 0) {
            wire_write_map(&writer, 2);
            wire_pair_string(&writer, "edge", game->process->flows[flow].id);
            wire_pair_int(&writer, "count", game->passed[flow]);
        }
    }
    return wire_writer_span(&writer);
}

struct span sim_foreign_make(struct sim *sim, const struct engine_process *process,
                             struct sim_random random)
{
    size_t bytes = process->flow_count * sizeof(uint32_t);
    struct game game = {.process = process,
                        .passed = arena_zero(&sim->arena, bytes),
                        .waiting = arena_zero(&sim->arena, bytes)};
    if (process->starts.count != 1) {
        return SPAN_EMPTY;
    }
    ASSERT(game.passed != NULL && game.waiting != NULL);
    complete(&game, &process->nodes[process->starts.at[0]]);
    uint32_t moves = sim_below(&random, MOVES_MAX);
    for (uint32_t i = 0; i < moves && game.active_count > 0; i++) {
        move(sim->model, &game, &random);
    }
    return game.active_count == 0 ? SPAN_EMPTY : write(sim, &game);
}
