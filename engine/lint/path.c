/*
 * path.c: rules about the ways that tokens can take. All of them warn; they prove nothing about
 * conditions.
 */
#include "engine/lint/graph.h"
#include "engine/lint/lint.h"
#include "proto/base/assert.h"

enum {
    BLOCK_BYTES = 64 << 10,
    MEMORY_BYTES_MAX = 128 << 20,
    NESTING_MAX = 3,     /* S3: "deeply nested gateways (>3 levels)" */
    JOIN_FLOWS_MAX = 32, /* pairs of incoming flows are compared: more are not looked at */
    STEPS_MAX = 5 * 1000 * 1000,
};

struct paths {
    const struct engine_process *process;
    struct engine_report *report;
    struct lint_graph forward;
    struct lint_dominance before; /* what lies on every way from the start */
    struct lint_dominance after;  /* what lies on every way to the end */
    uint32_t *split_count; /* splitting gateways with an enter number below i: prefix sums over
                              before.enter */
    bool *is_repeated;     /* vertices that some loop leads to */
    uint32_t steps;
};

static bool is_gateway(const struct engine_node *node)
{
    return node->kind >= ENGINE_EXCLUSIVE_GATEWAY && node->kind <= ENGINE_EVENT_GATEWAY;
}

static bool is_split(const struct engine_node *node)
{
    return is_gateway(node) && node->outgoing.count > 1;
}

/* ---- unreachable nodes ---- */

static bool is_entered_otherwise(const struct engine_node *node)
{
    return node->triggered_by_event || node->for_compensation || node->instantiate;
}

static bool is_reached(const struct paths *paths, uint32_t node)
{
    return paths->before.parent[node] != ENGINE_NONE;
}

static void check_reach(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        const struct engine_node *node = &paths->process->nodes[i];
        if (is_reached(paths, i) || is_entered_otherwise(node)) {
            continue;
        }
        bool is_led_to = node->incoming.count > 0 || node->attached_to != ENGINE_NONE;
        engine_lint_problem(paths->report, ENGINE_WARNING, "unreachable", node, "%s",
                            is_led_to ? "no way from a start leads here" : "nothing leads here");
    }
}

/* ---- nesting ---- */

static bool count_splits(struct paths *paths, struct arena *arena)
{
    uint32_t count = paths->forward.count;
    paths->split_count = arena_zero(arena, (count + 1) * sizeof *paths->split_count);
    if (paths->split_count == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        if (is_reached(paths, i) && is_split(&paths->process->nodes[i])) {
            paths->split_count[paths->before.enter[i] + 1]++;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        paths->split_count[i + 1] += paths->split_count[i];
    }
    return true;
}

/* Splits that only this arm of a gateway leads to. */
static uint32_t splits_behind(const struct paths *paths, uint32_t flow)
{
    uint32_t vertex = engine_graph_flow(paths->process, flow);
    if (!is_reached(paths, vertex)) {
        return 0;
    }
    return paths->split_count[paths->before.leave[vertex] + 1] -
           paths->split_count[paths->before.enter[vertex]];
}

/* An arm that ends the matter ("not found: reject") nests nothing; two arms that go on branching
 * do. */
static bool branches_on(const struct paths *paths, const struct engine_node *split)
{
    uint32_t arms = 0;
    for (uint32_t i = 0; i < split->outgoing.count; i++) {
        arms += splits_behind(paths, split->outgoing.at[i]) > 0;
    }
    return arms > 1;
}

/* Is `inner`, which `split` dominates, within its arms, before they meet again? */
static bool encloses(const struct paths *paths, const struct engine_node *split,
                     const struct engine_node *inner)
{
    uint32_t meeting = paths->after.parent[split->index];
    if (meeting == ENGINE_NONE || split->scope != inner->scope) {
        return false;
    }
    if (meeting == paths->forward.exit) {
        return branches_on(paths, split);
    }
    return !engine_graph_dominates(&paths->before, meeting, inner->index);
}

static uint32_t nesting_of(struct paths *paths, const struct engine_node *inner)
{
    uint32_t nesting = 1;
    uint32_t at = inner->index;
    while (at != paths->forward.entry && nesting <= NESTING_MAX && paths->steps < STEPS_MAX) {
        paths->steps++;
        at = paths->before.parent[at];
        if (at < paths->process->node_count && is_split(&paths->process->nodes[at])) {
            nesting += encloses(paths, &paths->process->nodes[at], inner);
        }
    }
    return nesting;
}

static void check_nesting(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        const struct engine_node *node = &paths->process->nodes[i];
        if (is_split(node) && is_reached(paths, i) && nesting_of(paths, node) > NESTING_MAX) {
            engine_lint_problem(paths->report, ENGINE_WARNING, "nested-gateways", node,
                                "gateways are nested more than %d deep: move the inner ones into "
                                "a sub-process",
                                NESTING_MAX);
        }
    }
}

/* ---- joins that wait for both arms of a choice ---- */

/* The nearest vertex that is on every way to both, and the two steps below it. */
struct fork {
    uint32_t common;
    uint32_t below_a;
    uint32_t below_b;
};

static struct fork nearest_common(struct paths *paths, uint32_t a, uint32_t b)
{
    const struct lint_dominance *tree = &paths->before;
    struct fork fork = {ENGINE_NONE, a, b};
    while (a != b && paths->steps < STEPS_MAX) {
        paths->steps++;
        if (tree->depth[a] > tree->depth[b]) {
            fork.below_a = a;
            a = tree->parent[a];
        } else if (tree->depth[b] > tree->depth[a]) {
            fork.below_b = b;
            b = tree->parent[b];
        } else {
            fork.below_a = a;
            fork.below_b = b;
            a = tree->parent[a];
            b = tree->parent[b];
        }
    }
    fork.common = a == b ? a : ENGINE_NONE;
    return fork;
}

/* Is this the head of a loop: does a way that began here lead back? */
static bool is_loop_head(const struct paths *paths, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        uint32_t flow = engine_graph_flow(paths->process, node->incoming.at[i]);
        if (engine_graph_dominates(&paths->before, node->index, flow)) {
            return true;
        }
    }
    return false;
}

/*
 * What a loop leads to can be entered several times; then one arm of a choice may be taken in one
 * round and the other in the next, and nothing is proven.
 */
static bool mark_repeated(struct paths *paths, struct arena *arena)
{
    uint32_t count = paths->forward.count;
    uint32_t *stack = arena_alloc(arena, count * sizeof *stack);
    paths->is_repeated = arena_zero(arena, count * sizeof *paths->is_repeated);
    if (stack == NULL || paths->is_repeated == NULL) {
        return false;
    }
    uint32_t depth = 0;
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        if (is_loop_head(paths, &paths->process->nodes[i])) {
            paths->is_repeated[i] = true;
            stack[depth++] = i;
        }
    }
    while (depth > 0) {
        uint32_t at = stack[--depth];
        for (uint32_t i = paths->forward.first[at]; i < paths->forward.first[at + 1]; i++) {
            uint32_t to = paths->forward.next[i];
            if (!paths->is_repeated[to]) {
                ASSERT(depth < count);
                paths->is_repeated[to] = true;
                stack[depth++] = to;
            }
        }
    }
    return true;
}

/* Does only one of the two arms get a token? A block of a scheme has one result at a time. */
static bool chooses(const struct paths *paths, const struct engine_node *node, struct fork fork)
{
    const struct engine_flow *flows = paths->process->flows;
    struct span a = flows[fork.below_a - paths->process->node_count].result;
    struct span b = flows[fork.below_b - paths->process->node_count].result;
    bool has_results = node->kind != ENGINE_START_EVENT && a.count > 0 && b.count > 0;
    return node->kind == ENGINE_EXCLUSIVE_GATEWAY || node->kind == ENGINE_EVENT_GATEWAY ||
           (has_results && !span_equal(a, b));
}

/* The choice, if any, of which the two flows are on different arms and which is made only once. */
static const struct engine_node *choice_between(struct paths *paths, uint32_t flow_a,
                                                uint32_t flow_b)
{
    uint32_t a = engine_graph_flow(paths->process, flow_a);
    uint32_t b = engine_graph_flow(paths->process, flow_b);
    if (!is_reached(paths, a) || !is_reached(paths, b)) {
        return NULL;
    }
    struct fork fork = nearest_common(paths, a, b);
    if (fork.common == ENGINE_NONE || fork.common >= paths->process->node_count) {
        return NULL;
    }
    const struct engine_node *node = &paths->process->nodes[fork.common];
    /* What lies below must be arms (flows), not a place where arms met. */
    bool are_arms =
        fork.below_a >= paths->process->node_count && fork.below_b >= paths->process->node_count;
    bool is_once = are_arms && !paths->is_repeated[node->index];
    return is_once && chooses(paths, node, fork) ? node : NULL;
}

/* Field report F8: the standard says that this deadlocks, and so it will; but nobody draws it on
 * purpose. */
static void check_join(struct paths *paths, const struct engine_node *join)
{
    const struct engine_flow *flows = paths->process->flows;
    uint32_t count = join->incoming.count < JOIN_FLOWS_MAX ? join->incoming.count : JOIN_FLOWS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            uint32_t flow_a = join->incoming.at[i];
            uint32_t flow_b = join->incoming.at[j];
            bool joins = !flows[flow_a].is_back && !flows[flow_b].is_back;
            const struct engine_node *choice = joins ? choice_between(paths, flow_a, flow_b) : NULL;
            if (choice != NULL) {
                engine_lint_problem(
                    paths->report, ENGINE_WARNING, "deadlock", join,
                    "waits for \"%.*s\" and \"%.*s\", but %s \"%.*s\" (line %u) takes only one of "
                    "the ways there: it waits for ever",
                    SPAN_ARG(paths->process->flows[flow_a].id),
                    SPAN_ARG(paths->process->flows[flow_b].id), engine_kind_xml_name(choice->kind),
                    SPAN_ARG(choice->id), choice->line);
                return;
            }
        }
    }
}

static void check_joins(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        const struct engine_node *node = &paths->process->nodes[i];
        bool joins = node->kind == ENGINE_PARALLEL_GATEWAY || node->join == ENGINE_JOIN_ALL;
        if (joins && node->incoming.count > 1) {
            check_join(paths, node);
        }
    }
}

/* ---- loops without exit ---- */

/* Passed without waiting for anything, by a single unconditional flow; the flow's target, or
 * ENGINE_NONE. */
static uint32_t only_way_on(const struct engine_process *process, const struct engine_node *node)
{
    bool passes = (is_gateway(node) && node->kind != ENGINE_EVENT_GATEWAY) ||
                  (node->kind == ENGINE_INTERMEDIATE_THROW_EVENT && node->event_count == 0);
    bool waits = node->kind == ENGINE_PARALLEL_GATEWAY && node->incoming.count > 1;
    if (!passes || waits || node->outgoing.count != 1) {
        return ENGINE_NONE;
    }
    const struct engine_flow *flow = &process->flows[node->outgoing.at[0]];
    return flow->condition == NULL ? flow->target : ENGINE_NONE;
}

/* Field report F32. mark[v]: the walk (number + 1) in which v was met; a walk that meets itself has
 * gone round. */
static enum result check_loops(struct paths *paths, struct arena *arena)
{
    uint32_t *mark = arena_zero(arena, paths->process->node_count * sizeof *mark);
    if (mark == NULL) {
        return RESULT_LIMIT;
    }
    for (uint32_t i = 0; i < paths->process->node_count; i++) {
        uint32_t at = i;
        while (at != ENGINE_NONE && mark[at] == 0) {
            mark[at] = i + 1;
            at = only_way_on(paths->process, &paths->process->nodes[at]);
        }
        if (at != ENGINE_NONE && mark[at] == i + 1) {
            engine_lint_problem(paths->report, ENGINE_ERROR, "endless-loop",
                                &paths->process->nodes[at],
                                "a token that comes here goes round for ever: nothing in this "
                                "loop waits, works or leads out");
        }
    }
    return RESULT_OK;
}

static enum result measure(struct paths *paths, struct arena *arena)
{
    struct lint_graph backward;
    enum result result = engine_graph_build(paths->process, LINT_FORWARD, arena, &paths->forward);
    if (result == RESULT_OK) {
        result = engine_graph_build(paths->process, LINT_BACKWARD, arena, &backward);
    }
    if (result == RESULT_OK) {
        result =
            engine_graph_dominance(&paths->forward, paths->forward.entry, arena, &paths->before);
    }
    if (result == RESULT_OK) {
        result = engine_graph_dominance(&backward, backward.exit, arena, &paths->after);
    }
    return result;
}

enum result engine_lint_paths(const struct engine_process *process, struct engine_report *report)
{
    struct arena arena;
    arena_init(&arena, BLOCK_BYTES, MEMORY_BYTES_MAX);
    struct paths paths = {.process = process, .report = report};
    enum result result = check_loops(&paths, &arena);
    if (result == RESULT_OK && measure(&paths, &arena) == RESULT_OK &&
        count_splits(&paths, &arena) && mark_repeated(&paths, &arena)) {
        check_reach(&paths);
        check_nesting(&paths);
        check_joins(&paths);
    } else {
        engine_report_add(report, ENGINE_WARNING, "too-tangled", process->id, process->line, 0,
                          "process \"%.*s\": too large or too tangled to look for unreachable "
                          "nodes, deep nesting and deadlocks",
                          SPAN_ARG(process->id));
    }
    arena_release(&arena);
    return result;
}
