/*
 * schemes.c: see schemes.h. A scheme is a string of parts; each leaves one block for the next one
 * to follow. Like blocks.c, each part draws from a stream of its own and has a name to prune it by.
 */
#include "tests/simulate/schemes.h"

#include <stdio.h>

#include "proto/base/assert.h"

enum { PARTS_MIN = 2, PARTS_MAX = 6, BRANCHES_MAX = 3 };

/* processes[0] of the builder takes the blocks, `roots` the faces. */
struct scheme {
    struct block_builder *builder;
    struct sim_random random; /* of the part */
    uint32_t last;            /* the block that the next one follows */
};

static void put_face(struct scheme *scheme, uint32_t from, uint32_t to, const char *result)
{
    struct block_builder *builder = scheme->builder;
    block_put_root(builder, "%s{\"id\":\"f%u\",\"from\":\"n%u\",\"to\":\"n%u\"",
                   builder->flow_count == 0 ? "" : ",", builder->flow_count + 1, from, to);
    if (result[0] != '\0') {
        block_put_root(builder, ",\"result\":\"%s\"", result);
    }
    block_put_root(builder, "}");
    builder->flow_count++;
}

static uint32_t put_block(struct scheme *scheme, const char *type, const char *handler)
{
    uint32_t node = block_node(scheme->builder);
    block_put(scheme->builder, "%s{\"id\":\"n%u\",\"type\":\"%s\"", node == 1 ? "" : ",", node,
              type);
    if (handler[0] != '\0') {
        block_put(scheme->builder, ",\"handler\":\"%s\"", handler);
    }
    block_put(scheme->builder, "}");
    return node;
}

/* With a module: that answers, or that says "later" and is called back. */
static struct sim_task *put_work(struct scheme *scheme, uint32_t *node)
{
    struct block_builder *builder = scheme->builder;
    bool waits = sim_chance(&scheme->random, 30);
    *node = put_block(scheme, "Block", waits ? "ask" : "work");
    struct sim_task *task = block_task(builder, *node);
    task->status = waits ? 202 : 200;
    task->waits = waits;
    if (waits) {
        task->callback = block_json(builder, "{\"late\":%u}", *node);
    } else {
        task->reply = block_json(builder, "{\"execution\":{\"v%u\":%u}}", *node,
                                 sim_below(&scheme->random, 100));
    }
    return task;
}

/* ---- the parts ---- */

static void one(struct scheme *scheme)
{
    uint32_t node;
    put_work(scheme, &node);
    put_face(scheme, scheme->last, node, "");
    scheme->last = node;
}

/* All faces of a block are active when it has completed; the join waits for all of its own. */
static void fork_and_join(struct scheme *scheme)
{
    uint32_t fork = scheme->last;
    uint32_t count = sim_between(&scheme->random, 2, BRANCHES_MAX);
    uint32_t ends[BRANCHES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        scheme->last = fork;
        one(scheme);
        if (sim_chance(&scheme->random, 40)) {
            one(scheme);
        }
        ends[i] = scheme->last;
    }
    uint32_t join = put_block(scheme, "AndBlock", "");
    for (uint32_t i = 0; i < count; i++) {
        put_face(scheme, ends[i], join, "");
    }
    scheme->last = join;
}

/* The result selects one of the ways. */
static void choice(struct scheme *scheme)
{
    static const char *const results[] = {"yes", "no", "perhaps"};
    uint32_t asked = put_block(scheme, "Block", "work");
    struct sim_task *task = block_task(scheme->builder, asked);
    task->status = 200;
    task->reply = block_json(scheme->builder, "{\"output\":\"%s\"}",
                             results[sim_below(&scheme->random, BRANCHES_MAX)]);
    put_face(scheme, scheme->last, asked, "");
    uint32_t ways[BRANCHES_MAX];
    for (uint32_t i = 0; i < BRANCHES_MAX; i++) {
        put_work(scheme, &ways[i]);
        put_face(scheme, asked, ways[i], results[i]);
    }
    uint32_t merge = put_block(scheme, "OrBlock", "");
    for (uint32_t i = 0; i < BRANCHES_MAX; i++) {
        put_face(scheme, ways[i], merge, "");
    }
    scheme->last = merge;
}

static void part(struct scheme *scheme)
{
    struct sim_report *report = scheme->builder->sim->report;
    uint32_t name = sim_place_of(&scheme->random);
    if (sim_is_pruned(&scheme->builder->sim->options, name)) {
        return;
    }
    if (report->block_count < SIM_BLOCKS_MAX) {
        report->blocks[report->block_count++] = name;
    }
    switch (sim_below(&scheme->random, 4)) {
    case 0:
        fork_and_join(scheme);
        return;
    case 1:
        choice(scheme);
        return;
    default:
        one(scheme);
        return;
    }
}

struct span sim_scheme_make(struct block_builder *builder, struct sim_random random)
{
    uint32_t before;
    struct scheme scheme = {.builder = builder, .random = random};
    uint32_t count = sim_between(&random, PARTS_MIN, PARTS_MAX);
    (void)block_process_begin(builder, &before);
    scheme.last = put_block(&scheme, "StartBlock", "");
    one(&scheme); /* whatever is pruned, something happens */
    for (uint32_t i = 0; i < count; i++) {
        scheme.random = sim_random_of(random.state, i + 1);
        part(&scheme);
    }
    uint32_t finish = put_block(&scheme, "FinishBlock", "");
    put_face(&scheme, scheme.last, finish, "");
    block_process_end(builder, before);
    struct span blocks = span_of(builder->processes[0].bytes, builder->processes[0].count);
    struct span faces = span_of(builder->roots.bytes, builder->roots.count);
    return arena_format(builder->arena,
                        "{\"id\":\"p0\",\"version\":1,\"blocks\":[%.*s],\"faces\":[%.*s]}",
                        SPAN_ARG(blocks), SPAN_ARG(faces));
}
