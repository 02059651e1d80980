/*
 * blocks.h: what models are built of: one table row a construct (blocks.c). model.c strings them
 * together.
 */
#ifndef TESTS_SIMULATE_BLOCKS_H
#define TESTS_SIMULATE_BLOCKS_H

#include "tests/simulate/model.h"

#define BLOCK_PROCESSES_MAX 24u
#define BLOCK_BRANCHES_MAX  3u

/* Where the next flow begins: a node, and what the flow bears. */
struct block_exit {
    uint32_t node;
    uint32_t flow;      /* its number, when the node names it as its default; else 0 */
    char condition[48]; /* empty: none */
};

struct block_text {
    char *bytes;
    size_t count;
    size_t capacity;
};

struct block_builder {
    struct sim *sim;
    struct sim_model *model;
    struct arena *arena;
    struct block_text processes[BLOCK_PROCESSES_MAX]; /* bodies */
    struct block_text roots;                          /* errors and the like */
    uint32_t process_count;
    uint32_t process; /* that is written to */
    uint32_t node_count;
    uint32_t flow_count;
    uint32_t task_capacity;
};

/* One block being built. */
struct block {
    struct block_builder *builder;
    struct block_exit *at; /* in: where it begins; out: where what follows begins */
    struct sim_random random;
    uint32_t depth;
};

enum block_use {
    ANY,
    RACY, /* its outcome may depend on the order of events: not for confluent models */
    TAME, /* it takes more than one execution: for confluent models only */
};

struct block_row {
    const char *name;
    uint8_t weight;
    uint8_t depth_max; /* not deeper than this: 0 = top level only */
    enum block_use use;
    void (*build)(struct block *block);
};

extern const struct block_row block_rows[];
extern const uint32_t block_row_count;

/* ---- model.c, for the rows ---- */

void block_put(struct block_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void block_put_root(struct block_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The name of the block that `random` is the stream of, and whether it is left out. */
uint32_t sim_place_of(const struct sim_random *random);
bool sim_is_pruned(const struct sim_options *options, uint32_t name);
/* A new node's number; its element is still to be put. */
uint32_t block_node(struct block_builder *builder);
/* A flow from `at` to the node, which is where the next one begins. */
void block_flow(struct block_builder *builder, struct block_exit *at, uint32_t node);
/* block_node and block_flow. */
uint32_t block_enter(struct block *block);
/* Some blocks one after the other, one level deeper; `name` tells sequences of one block apart. */
void block_inside(struct block *block, struct block_exit *at, uint32_t name);
/* Another process; returns its number and makes it the one that is written to. */
uint32_t block_process_begin(struct block_builder *builder, uint32_t *before);
void block_process_end(struct block_builder *builder, uint32_t before);
/* ---- pieces (blocks.c) ---- */

/* A service task that is called, and answers well. */
struct sim_task *block_put_call(struct block *block, uint32_t node, const char *element);
/* A user task; answered: somebody will. */
struct sim_task *block_put_user(struct block *block, uint32_t node, bool answered);
/* What the boundary event leads to; then both ways meet. */
void block_handle_and_merge(struct block *block, uint32_t boundary);

/* ---- model.c again ---- */

/* The outside deals with this node. */
struct sim_task *block_task(struct block_builder *builder, uint32_t node);
/* A text in the run's arena, with a node's number in it. */
struct span block_name(struct block_builder *builder, const char *format, uint32_t node);
/* A value in the run's arena from JSON. */
struct span block_json(struct block_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
