/*
 * foreign.c: see foreign.h. What was said is read, counted, checked node by node, and walked once
 * from the start.
 */
#include "engine/foreign.h"

#include "engine/element/element.h"
#include "engine/join.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

struct reading {
    struct engine_foreign *foreign;
    const struct engine_process *process;
    struct arena *arena;
    struct span *why;
    uint32_t *active; /* by node: how often */
};

#define REFUSE(reading, ...)                                                                       \
    ((void)(*(reading)->why = arena_format((reading)->arena, __VA_ARGS__)), false)

/* ---- what was said ---- */

/* A count beside an edge or a node; 1 when there is none. */
static bool read_count(struct reading *reading, struct span map, struct span id, uint32_t *count)
{
    struct span value = wire_is(map, WIRE_MAP) ? wire_find_text(map, "count") : SPAN_EMPTY;
    int64_t number = value.count == 0 ? 1 : wire_int_or(value, 0);
    if (number < 1 || number > LIMIT_TOKENS) {
        return REFUSE(reading, "the count of \"%.*s\" must be a whole number from 1 to %u",
                      SPAN_ARG(id), LIMIT_TOKENS);
    }
    *count = (uint32_t)number;
    return true;
}

/* What stands beside an edge or a node and is not read would change the counts if it were: a
 * misspelt `count` is 1. */
static bool check_members(struct reading *reading, struct span entry, const char *what,
                          const char *const *known)
{
    struct wire_map_walk walk = wire_map_begin(wire_is(entry, WIRE_MAP) ? entry : SPAN_EMPTY);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        const char *const *name = known;
        while (*name != NULL && !span_is(key, *name)) {
            name++;
        }
        if (*name == NULL) {
            return REFUSE(reading, "%s has no member \"%.*s\"", what, SPAN_ARG(key));
        }
    }
    return true;
}

static bool find_between(struct reading *reading, struct span map, const struct engine_flow **out)
{
    struct span from = wire_string_or(wire_find_text(map, "from"), "");
    struct span to = wire_string_or(wire_find_text(map, "to"), "");
    const struct engine_node *source = engine_process_node(reading->process, from);
    const struct engine_node *target = engine_process_node(reading->process, to);
    uint32_t found = 0;
    for (uint32_t i = 0; source != NULL && target != NULL && i < source->outgoing.count; i++) {
        const struct engine_flow *flow = &reading->process->flows[source->outgoing.at[i]];
        if (flow->target == target->index) {
            *out = flow;
            found++;
        }
    }
    return found == 1 || REFUSE(reading, "%s edge leads from \"%.*s\" to \"%.*s\"%s",
                                found == 0 ? "no" : "more than one", SPAN_ARG(from), SPAN_ARG(to),
                                found == 0 ? "" : ": name it by its id");
}

static bool find_edge(struct reading *reading, struct span entry, const struct engine_flow **out)
{
    const struct engine_process *process = reading->process;
    bool is_map = wire_is(entry, WIRE_MAP);
    struct span name = is_map ? wire_find_text(entry, "edge") : entry;
    if (is_map && name.count == 0) {
        return find_between(reading, entry, out);
    }
    if (!wire_is(name, WIRE_STRING)) {
        return REFUSE(reading, "a passed edge is an id, {\"edge\"} or {\"from\",\"to\"}");
    }
    struct span id = wire_head(name).as.text;
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (span_equal(process->flows[i].id, id)) {
            *out = &process->flows[i];
            return true;
        }
    }
    return REFUSE(reading, "there is no edge \"%.*s\"", SPAN_ARG(id));
}

/* The result that a face was passed with must be the face's own, where it has one. */
static bool check_result(struct reading *reading, struct span entry, const struct engine_flow *flow)
{
    struct span value = wire_is(entry, WIRE_MAP) ? wire_find_text(entry, "result") : SPAN_EMPTY;
    struct span text = wire_string_or(value, "");
    if (value.count == 0 || wire_is(value, WIRE_NIL) || flow->result.count == 0) {
        return true;
    }
    if (!wire_is(value, WIRE_STRING) &&
        json_from_wire(value, JSON_COMPACT, reading->arena, &text) != RESULT_OK) {
        return false; /* the arena is full */
    }
    return span_equal(text, flow->result) ||
           REFUSE(reading, "the edge \"%.*s\" is passed with the result \"%.*s\", not \"%.*s\"",
                  SPAN_ARG(flow->id), SPAN_ARG(flow->result), SPAN_ARG(text));
}

/* Which sub-process something is in; NULL: none. */
static const struct engine_node *around(const struct reading *reading, uint32_t node)
{
    uint32_t scope = reading->process->nodes[node].scope;
    return scope == ENGINE_NONE ? NULL : &reading->process->nodes[scope];
}

static bool read_passed(struct reading *reading, struct span list)
{
    static const char *const members[] = {"edge", "from", "to", "count", "result", NULL};
    struct wire_map_walk walk = wire_array_begin(list);
    struct span entry;
    if (list.count > 0 && !wire_is(list, WIRE_ARRAY)) {
        return REFUSE(reading, "passed must be a list of edges");
    }
    while (wire_array_next(&walk, &entry)) {
        const struct engine_flow *flow = NULL;
        uint32_t count;
        if (!check_members(reading, entry, "a passed edge", members) ||
            !find_edge(reading, entry, &flow) || !check_result(reading, entry, flow) ||
            !read_count(reading, entry, flow->id, &count)) {
            return false;
        }
        const struct engine_node *inside = around(reading, flow->source);
        if (inside != NULL) {
            return REFUSE(
                reading,
                "the edge \"%.*s\" is inside \"%.*s\": only edges at process level can be "
                "imported",
                SPAN_ARG(flow->id), SPAN_ARG(inside->id));
        }
        const struct engine_node *target = &reading->process->nodes[flow->target];
        if (target->kind == ENGINE_COMPLEX_GATEWAY && target->reach != NULL) {
            return REFUSE(
                reading,
                "the edge \"%.*s\" leads to the complex gateway \"%.*s\": when that fired "
                "and what it waits for cannot be told from passed edges",
                SPAN_ARG(flow->id), SPAN_ARG(target->id));
        }
        uint32_t *passed = &reading->foreign->passed[flow->index];
        if (count > UINT32_MAX - *passed) {
            return REFUSE(reading, "the edge \"%.*s\" was passed too often", SPAN_ARG(flow->id));
        }
        *passed += count;
    }
    return true;
}

/* Can an imported token stand in it? */
static bool check_active(struct reading *reading, const struct engine_node *node, struct span wait)
{
    const struct engine_node *inside = around(reading, node->index);
    if (inside != NULL) {
        return REFUSE(reading,
                      "\"%.*s\" is inside \"%.*s\": name that one as active, and it begins anew",
                      SPAN_ARG(node->id), SPAN_ARG(inside->id));
    }
    if (node->kind == ENGINE_BOUNDARY_EVENT || node->triggered_by_event || node->for_compensation) {
        return REFUSE(reading, "\"%.*s\" cannot be active by itself: it belongs to another node",
                      SPAN_ARG(node->id));
    }
    if (wait.count == 0) {
        return true;
    }
    const struct engine_element_ops *ops =
        node->join != ENGINE_JOIN_NONE ? engine_element_block(node) : engine_element_of(node->kind);
    bool answers =
        node->loop.kind == ENGINE_LOOP_NONE && engine_element_reaches(ops, ENGINE_TOKEN_ANSWERED);
    if (!answers || !(wire_is(wait, WIRE_MAP) || wire_bool_or(wait, false))) {
        return REFUSE(reading, "\"%.*s\": wait must be true or an object, and the node a task",
                      SPAN_ARG(node->id));
    }
    struct span kind = wire_is(wait, WIRE_MAP) ? wire_find_text(wait, "kind") : SPAN_EMPTY;
    struct span word = wire_string_or(kind, "");
    return kind.count == 0 || span_is(word, "callback") || span_is(word, "human") ||
           REFUSE(reading, "\"%.*s\": the kind of a wait is \"callback\" or \"human\"",
                  SPAN_ARG(node->id));
}

static bool add_actives(struct reading *reading, uint32_t node, struct span wait, uint32_t count)
{
    struct engine_foreign *foreign = reading->foreign;
    if (count > LIMIT_TOKENS - foreign->active_count) {
        return REFUSE(reading, "more than %u nodes are active", LIMIT_TOKENS);
    }
    size_t bytes = sizeof foreign->actives[0];
    struct engine_foreign_active *actives =
        arena_grow(reading->arena, foreign->actives, foreign->active_count * bytes,
                   (foreign->active_count + count) * bytes);
    if (actives == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        actives[foreign->active_count++] = (struct engine_foreign_active){node, wait};
    }
    foreign->actives = actives;
    reading->active[node] += count;
    return true;
}

static bool read_active(struct reading *reading, struct span list)
{
    static const char *const members[] = {"node", "count", "wait", NULL};
    struct wire_map_walk walk = wire_array_begin(list);
    struct span entry;
    if (list.count > 0 && !wire_is(list, WIRE_ARRAY)) {
        return REFUSE(reading, "active must be a list of nodes");
    }
    while (wire_array_next(&walk, &entry)) {
        bool is_map = wire_is(entry, WIRE_MAP);
        struct span name = is_map ? wire_find_text(entry, "node") : entry;
        struct span wait = is_map ? wire_find_text(entry, "wait") : SPAN_EMPTY;
        uint32_t count;
        if (!check_members(reading, entry, "an active node", members)) {
            return false;
        }
        if (!wire_is(name, WIRE_STRING)) {
            return REFUSE(reading, "an active node is an id or {\"node\"}");
        }
        struct span id = wire_head(name).as.text;
        const struct engine_node *node = engine_process_node(reading->process, id);
        if (node == NULL) {
            return REFUSE(reading, "there is no node \"%.*s\"", SPAN_ARG(id));
        }
        bool waits = !wire_is(wait, WIRE_NIL) && wire_bool_or(wait, true);
        wait = waits ? wait : SPAN_EMPTY;
        if (!read_count(reading, entry, id, &count) || !check_active(reading, node, wait) ||
            !add_actives(reading, node->index, wait, count)) {
            return false;
        }
    }
    return true;
}

/* ---- how often each node was entered ---- */

static uint64_t sum_of(const struct reading *reading, struct engine_indexes flows)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < flows.count; i++) {
        sum += reading->foreign->passed[flows.at[i]];
    }
    return sum;
}

static uint64_t most_of(const struct reading *reading, struct engine_indexes flows)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < flows.count; i++) {
        uint64_t passed = reading->foreign->passed[flows.at[i]];
        most = passed > most ? passed : most;
    }
    return most;
}

/* A join that waits for all its flows takes one from each; what is left waits. */
static uint64_t enter_join(struct reading *reading, const struct engine_node *node)
{
    struct engine_foreign *foreign = reading->foreign;
    uint64_t fired = UINT64_MAX;
    uint64_t alone = 0;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        uint32_t flow = node->incoming.at[i];
        if (!engine_join_holds(reading->process, flow)) {
            alone += foreign->passed[flow];
        } else if (foreign->passed[flow] < fired) {
            fired = foreign->passed[flow];
        }
    }
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        uint32_t flow = node->incoming.at[i];
        if (engine_join_holds(reading->process, flow)) {
            foreign->waiting[flow] = foreign->passed[flow] - (uint32_t)fired;
        }
    }
    return fired + alone;
}

/* A start quantity takes that many tokens at once, from whatever flows; the last ones wait. */
static uint64_t enter_gathering(struct reading *reading, const struct engine_node *node)
{
    uint64_t sum = sum_of(reading, node->incoming);
    uint64_t left = sum % node->start_quantity;
    for (uint32_t i = node->incoming.count; i > 0; i--) {
        uint32_t flow = node->incoming.at[i - 1];
        uint32_t passed = reading->foreign->passed[flow];
        reading->foreign->waiting[flow] = passed < left ? passed : (uint32_t)left;
        left -= reading->foreign->waiting[flow];
    }
    return sum / node->start_quantity;
}

/* An inclusive join fires with what there is: how often is seen from what came out of it. */
static uint64_t enter_inclusive(struct reading *reading, const struct engine_node *node)
{
    struct engine_foreign *foreign = reading->foreign;
    uint64_t fired = most_of(reading, node->outgoing) + reading->active[node->index];
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        uint32_t flow = node->incoming.at[i];
        uint64_t passed = foreign->passed[flow];
        foreign->waiting[flow] = passed > fired ? (uint32_t)(passed - fired) : 0;
    }
    return sum_of(reading, node->incoming) == 0 ? 0 : fired;
}

/* Tokens come over a link from its throw events. */
static uint64_t enter_by_link(const struct reading *reading, uint32_t catch)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < reading->process->node_count; i++) {
        const struct engine_node *node = &reading->process->nodes[i];
        if (node->link_target == catch) {
            uint64_t entered = sum_of(reading, node->incoming);
            sum += entered > reading->active[i] ? entered - reading->active[i] : 0;
        }
    }
    return sum;
}

static bool catches_link(const struct engine_node *node)
{
    return node->kind == ENGINE_INTERMEDIATE_CATCH_EVENT && node->event_count > 0 &&
           node->events[0].kind == ENGINE_ON_LINK;
}

static uint64_t times_entered(struct reading *reading, const struct engine_node *node)
{
    if (node->kind == ENGINE_BOUNDARY_EVENT) {
        return most_of(reading, node->outgoing);
    }
    if (node->reach != NULL) {
        return enter_inclusive(reading, node);
    }
    if (engine_join_gathers(node)) {
        return enter_gathering(reading, node);
    }
    if (engine_join_is(reading->process, node)) {
        return enter_join(reading, node);
    }
    return sum_of(reading, node->incoming) +
           (catches_link(node) ? enter_by_link(reading, node->index) : 0);
}

static void count_entries(struct reading *reading)
{
    const struct engine_process *process = reading->process;
    for (uint32_t i = 0; i < process->node_count; i++) {
        reading->foreign->entered[i] = times_entered(reading, &process->nodes[i]);
    }
    for (uint32_t i = 0; i < process->starts.count; i++) {
        reading->foreign->entered[process->starts.at[i]]++;
    }
}

/* ---- what must have come out of it ---- */

static uint64_t times_interrupted(const struct reading *reading, const struct engine_node *node)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->boundaries.count; i++) {
        const struct engine_node *boundary = &reading->process->nodes[node->boundaries.at[i]];
        sum += boundary->interrupting ? reading->foreign->entered[boundary->index] : 0;
    }
    return sum;
}

static bool count_completions(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->process->node_count; i++) {
        const struct engine_node *node = &reading->process->nodes[i];
        uint64_t entered = reading->foreign->entered[i];
        uint64_t over = reading->active[i] + times_interrupted(reading, node);
        if (over > entered) {
            return REFUSE(reading,
                          "\"%.*s\" is active or was interrupted %llu times, but the passed edges "
                          "lead to it %llu times",
                          SPAN_ARG(node->id), (unsigned long long)over,
                          (unsigned long long)entered);
        }
        reading->foreign->completed[i] = entered - over;
    }
    return true;
}

static bool refuse_edge(struct reading *reading, const struct engine_node *node,
                        const struct engine_flow *flow)
{
    return REFUSE(reading,
                  "\"%.*s\" was completed %llu times, but its edge \"%.*s\" was passed %u times%s",
                  SPAN_ARG(node->id), (unsigned long long)reading->foreign->completed[node->index],
                  SPAN_ARG(flow->id), reading->foreign->passed[flow->index],
                  reading->foreign->completed[node->index] > 0 ? " (is it active?)" : "");
}

/* Each exactly as often as the node was completed. */
static bool check_all(struct reading *reading, const struct engine_node *node)
{
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        uint32_t flow = node->outgoing.at[i];
        if (reading->foreign->passed[flow] != reading->foreign->completed[node->index]) {
            return refuse_edge(reading, node, &reading->process->flows[flow]);
        }
    }
    return true;
}

/* All of them together: `least` to `most` times. */
static bool check_sum(struct reading *reading, const struct engine_node *node, uint64_t least,
                      uint64_t most)
{
    uint64_t sum = sum_of(reading, node->outgoing);
    if (node->outgoing.count == 0 || (sum >= least && sum <= most)) {
        return true;
    }
    return REFUSE(reading,
                  "\"%.*s\" was completed %llu times, but its edges were passed %llu times%s",
                  SPAN_ARG(node->id), (unsigned long long)reading->foreign->completed[node->index],
                  (unsigned long long)sum, sum < least ? " (is it active?)" : "");
}

/* A flow that fires by its condition, as a default, or by a result; the others always do. */
static bool is_chosen(const struct engine_flow *flow)
{
    return flow->condition != NULL || flow->is_default || flow->result.count > 0;
}

/* Conditions and defaults: each at most as often as the node was completed, and one at least each
 * time. */
static bool check_chosen(struct reading *reading, const struct engine_node *node)
{
    uint64_t quantity = node->completion_quantity > 1 ? node->completion_quantity : 1;
    uint64_t completed = reading->foreign->completed[node->index] * quantity;
    bool always = false;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_flow *flow = &reading->process->flows[node->outgoing.at[i]];
        uint64_t passed = reading->foreign->passed[flow->index];
        bool chosen = is_chosen(flow);
        if (passed > completed || (!chosen && passed < completed)) {
            return refuse_edge(reading, node, flow);
        }
        always = always || !chosen;
    }
    return check_sum(reading, node, always ? 0 : completed, UINT64_MAX);
}

/* Faces of one result go together; of different ones only one at a time. */
static bool check_results(struct reading *reading, const struct engine_node *node)
{
    const struct engine_flow *flows = reading->process->flows;
    uint64_t completed = reading->foreign->completed[node->index];
    uint64_t results = 0;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        const struct engine_flow *flow = &flows[node->outgoing.at[i]];
        uint32_t passed = reading->foreign->passed[flow->index];
        uint32_t first = 0;
        while (!span_equal(flows[node->outgoing.at[first]].result, flow->result)) {
            first++;
        }
        if (flow->result.count == 0
                ? passed != completed
                : passed != reading->foreign->passed[node->outgoing.at[first]]) {
            return refuse_edge(reading, node, flow);
        }
        results += flow->result.count > 0 && first == i ? passed : 0;
    }
    return results <= completed ||
           REFUSE(reading, "\"%.*s\" was completed %llu times, but gave %llu results",
                  SPAN_ARG(node->id), (unsigned long long)completed, (unsigned long long)results);
}

static bool ends_process(const struct engine_node *node)
{
    return node->kind == ENGINE_END_EVENT && node->event_count > 0 &&
           node->events[0].kind == ENGINE_ON_TERMINATE;
}

static bool check_outgoing(struct reading *reading, const struct engine_node *node)
{
    uint64_t completed = reading->foreign->completed[node->index];
    if (completed > 0 && ends_process(node)) {
        return REFUSE(reading, "the process has ended at \"%.*s\"", SPAN_ARG(node->id));
    }
    if (node->join != ENGINE_JOIN_NONE) {
        return check_results(reading, node);
    }
    if (node->kind == ENGINE_PARALLEL_GATEWAY || node->kind == ENGINE_BOUNDARY_EVENT ||
        (node->kind == ENGINE_START_EVENT &&
         reading->process->notation == ENGINE_NOTATION_SCHEME)) {
        return check_all(reading, node);
    }
    if (node->kind == ENGINE_EXCLUSIVE_GATEWAY || node->kind == ENGINE_EVENT_GATEWAY) {
        return check_sum(reading, node, completed, completed);
    }
    if (node->kind == ENGINE_INCLUSIVE_GATEWAY || node->kind == ENGINE_COMPLEX_GATEWAY) {
        for (uint32_t i = 0; i < node->outgoing.count; i++) {
            uint32_t flow = node->outgoing.at[i];
            if (reading->foreign->passed[flow] > completed) {
                return refuse_edge(reading, node, &reading->process->flows[flow]);
            }
        }
        return check_sum(reading, node, completed, UINT64_MAX);
    }
    return check_chosen(reading, node);
}

/* ---- the walk ---- */

/* The nodes that have been reached, and those whose next nodes are to be looked at. */
struct walk {
    struct reading *reading;
    bool *reached;
    uint32_t *queue;
    uint32_t head;
    uint32_t tail;
};

static bool can_enter(const struct walk *walk, const struct engine_node *node)
{
    const struct engine_process *process = walk->reading->process;
    bool all = true;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        const struct engine_flow *flow = &process->flows[node->incoming.at[i]];
        bool came = walk->reading->foreign->passed[flow->index] > 0 && walk->reached[flow->source];
        bool waits = node->reach == NULL && !engine_join_gathers(node) &&
                     engine_join_holds(process, flow->index);
        if (came && !waits) {
            return true;
        }
        all = all && (came || !waits);
    }
    return all && node->reach == NULL && engine_join_is(process, node);
}

static void reach(struct walk *walk, uint32_t node)
{
    if (walk->reading->foreign->entered[node] > 0 && !walk->reached[node]) {
        walk->reached[node] = true;
        walk->queue[walk->tail++] = node;
    }
}

static void go_on(struct walk *walk, const struct engine_node *node)
{
    const struct engine_process *process = walk->reading->process;
    for (uint32_t i = 0; i < node->outgoing.count; i++) {
        uint32_t flow = node->outgoing.at[i];
        uint32_t target = process->flows[flow].target;
        if (walk->reading->foreign->passed[flow] > 0 && can_enter(walk, &process->nodes[target])) {
            reach(walk, target);
        }
    }
    for (uint32_t i = 0; i < node->boundaries.count; i++) {
        reach(walk, node->boundaries.at[i]);
    }
    if (node->link_target != ENGINE_NONE) {
        reach(walk, node->link_target);
    }
}

static bool walk_from_start(struct reading *reading)
{
    const struct engine_process *process = reading->process;
    struct engine_foreign *foreign = reading->foreign;
    struct walk walk = {.reading = reading,
                        .reached = arena_zero(reading->arena, process->node_count * sizeof(bool)),
                        .queue =
                            arena_alloc(reading->arena, process->node_count * sizeof(uint32_t))};
    foreign->order = arena_alloc(reading->arena, process->node_count * sizeof(uint32_t));
    if (walk.reached == NULL || walk.queue == NULL || foreign->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < process->starts.count; i++) {
        reach(&walk, process->starts.at[i]);
    }
    while (walk.head < walk.tail) {
        uint32_t node = walk.queue[walk.head++];
        if (foreign->completed[node] > 0) {
            foreign->order[foreign->order_count++] = node;
        }
        go_on(&walk, &process->nodes[node]);
    }
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (foreign->passed[i] > 0 && !walk.reached[process->flows[i].source]) {
            return REFUSE(
                reading,
                "the edge \"%.*s\" was passed, but no passed edges lead from the start to "
                "\"%.*s\"",
                SPAN_ARG(process->flows[i].id),
                SPAN_ARG(process->nodes[process->flows[i].source].id));
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool count_waiting(struct reading *reading)
{
    uint64_t sum = reading->foreign->active_count;
    for (uint32_t i = 0; i < reading->process->flow_count; i++) {
        sum += reading->foreign->waiting[i];
    }
    if (sum == 0) {
        return REFUSE(reading, "nothing is active: the execution has come to its end");
    }
    if (sum > LIMIT_TOKENS) {
        return REFUSE(reading, "more than %u tokens", LIMIT_TOKENS);
    }
    reading->foreign->waiting_count = (uint32_t)sum - reading->foreign->active_count;
    return true;
}

bool engine_foreign_read(const struct engine_process *process, struct span map, struct arena *arena,
                         struct engine_foreign *out, struct span *why)
{
    struct reading reading = {.foreign = out, .process = process, .arena = arena, .why = why};
    *out = (struct engine_foreign){.process = process};
    out->passed = arena_zero(arena, process->flow_count * sizeof out->passed[0]);
    out->waiting = arena_zero(arena, process->flow_count * sizeof out->waiting[0]);
    out->entered = arena_zero(arena, process->node_count * sizeof out->entered[0]);
    out->completed = arena_zero(arena, process->node_count * sizeof out->completed[0]);
    reading.active = arena_zero(arena, process->node_count * sizeof reading.active[0]);
    if (arena->overflowed) {
        return false;
    }
    if (!read_passed(&reading, wire_find_text(map, "passed")) ||
        !read_active(&reading, wire_find_text(map, "active"))) {
        return false;
    }
    count_entries(&reading);
    if (!count_completions(&reading)) {
        return false;
    }
    for (uint32_t i = 0; i < process->node_count; i++) {
        bool here = process->nodes[i].scope == ENGINE_NONE;
        if (here && !check_outgoing(&reading, &process->nodes[i])) {
            return false;
        }
    }
    return walk_from_start(&reading) && count_waiting(&reading);
}
