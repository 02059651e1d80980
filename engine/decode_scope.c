/*
 * decode_scope.c: scopes with what waits in their joins, their instances' results and what can be
 * compensated in them.
 */
#include "engine/decode_part.h"
#include "engine/fields.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"

/* X(symbol, "key") */
#define SCOPE_FIELDS(X)                                                                            \
    X(ID, "id")                                                                                    \
    X(PARENT, "parent")                                                                            \
    X(HOST, "host")                                                                                \
    X(PROCESS, "process")                                                                          \
    X(VERSION, "version")                                                                          \
    X(KIND, "kind")                                                                                \
    X(TOTAL, "total")                                                                              \
    X(BEGUN, "begun")                                                                              \
    X(DONE, "done")                                                                                \
    X(ITEMS, "items")                                                                              \
    X(INNER, "inner")                                                                              \
    X(RESULTS, "results")                                                                          \
    X(VARIABLES, "variables")                                                                      \
    X(NODES, "nodes") X(JOINS, "joins") X(RECORDS, "records") X(BLOCKS, "blocks")

#define FIELD_NAME(symbol, name)   ENGINE_NAME(name),
#define SCOPE_SYMBOL(symbol, name) SCOPE_##symbol,
enum { SCOPE_FIELDS(SCOPE_SYMBOL) SCOPE_FIELD_COUNT };
static const struct span scope_names[] = {SCOPE_FIELDS(FIELD_NAME)};

static enum result read_joins(struct engine_execution *execution, struct engine_scope *scope,
                              struct span joins)
{
    struct wire_map_walk walk = wire_array_begin(joins);
    struct span row;
    REQUIRE(engine_fields_is(joins, WIRE_ARRAY));
    while (wire_array_next(&walk, &row)) {
        uint32_t flow, count, path;
        REQUIRE(wire_is(row, WIRE_ARRAY) &&
                engine_decode_flow(scope->process, wire_at(row, 0), &flow));
        REQUIRE(engine_decode_u32(wire_at(row, 1), 0, &count) &&
                engine_decode_u32(wire_at(row, 2), 0, &path));
        bool taken = wire_bool_or(wire_at(row, 4), false);
        REQUIRE((count > 0 || taken) && count <= LIMIT_TOKENS &&
                engine_join_find(execution, scope, flow) == NULL);
        REQUIRE(!taken || scope->process->nodes[scope->process->flows[flow].target].kind ==
                              ENGINE_COMPLEX_GATEWAY);
        struct engine_join_tokens *join = engine_part_add_join(execution, scope, flow);
        if (join == NULL) {
            return RESULT_LIMIT;
        }
        join->count = count;
        join->taken = taken;
        join->path = path;
        join->output = engine_part_keep(execution, engine_decode_no_nil(wire_at(row, 3)));
        scope->live += count;
    }
    return RESULT_OK;
}

static enum result read_records(struct engine_execution *execution, struct engine_scope *scope,
                                struct span records)
{
    struct wire_map_walk walk = wire_array_begin(records);
    struct span row;
    REQUIRE(engine_fields_is(records, WIRE_ARRAY));
    while (wire_array_next(&walk, &row)) {
        uint32_t node, handler;
        REQUIRE(wire_is(row, WIRE_ARRAY) &&
                engine_decode_node(scope->process, wire_at(row, 0), &node) &&
                engine_decode_node(scope->process, wire_at(row, 1), &handler));
        struct span locals = engine_decode_no_nil(wire_at(row, 3));
        uint32_t inner;
        REQUIRE(engine_decode_u32(wire_at(row, 2), 0, &inner) && inner <= scope->records.count);
        REQUIRE(engine_fields_is(locals, WIRE_MAP));
        struct engine_record *record = engine_part_add_record(execution, scope, node, handler);
        if (record == NULL) {
            return RESULT_LIMIT;
        }
        record->inner = inner;
        record->locals = engine_part_keep(execution, locals);
    }
    REQUIRE(scope->inner <= scope->records.count);
    return RESULT_OK;
}

static enum result read_blocks(struct engine_execution *execution, struct engine_scope *scope,
                               struct span blocks)
{
    struct wire_map_walk walk = wire_map_begin(blocks);
    struct span key, value;
    REQUIRE(engine_fields_is(blocks, WIRE_MAP));
    if (scope->blocks == NULL) { /* no scheme, or no memory for it */
        REQUIRE(blocks.count == 0 || execution->memory.overflowed);
        return RESULT_OK;
    }
    while (wire_map_next(&walk, &key, &value)) {
        const struct engine_node *node = engine_process_node(scope->process, key);
        enum engine_block_state state = engine_block_state_parse(wire_string_or(value, ""));
        REQUIRE(node != NULL && state != ENGINE_BLOCK_IDLE);
        scope->blocks[node->index] = (uint8_t)state;
    }
    return RESULT_OK;
}

static enum result read_body(struct engine_execution *execution, struct engine_scope *body,
                             const struct span *fields)
{
    struct wire_map_walk walk = wire_array_begin(fields[SCOPE_RESULTS]);
    struct span row;
    uint32_t instance;
    REQUIRE(engine_decode_u32(fields[SCOPE_TOTAL], 0, &body->total));
    REQUIRE(body->begun <= body->total);
    REQUIRE(engine_decode_u32(fields[SCOPE_DONE], 0, &body->done) && body->done <= body->begun);
    REQUIRE(engine_fields_is(fields[SCOPE_ITEMS], WIRE_ARRAY) &&
            engine_fields_is(fields[SCOPE_RESULTS], WIRE_ARRAY));
    body->items = engine_part_keep(execution, fields[SCOPE_ITEMS]);
    REQUIRE(body->items.count == 0 || wire_count(body->items) == body->total);
    REQUIRE(engine_part_skip_items(body, body->begun));
    while (wire_array_next(&walk, &row)) {
        REQUIRE(wire_is(row, WIRE_ARRAY) && engine_decode_u32(wire_at(row, 0), 0, &instance));
        REQUIRE(instance > 0 && instance <= body->begun);
        if (!engine_part_add_result(execution, body, instance, wire_at(row, 1))) {
            return RESULT_LIMIT;
        }
    }
    return RESULT_OK;
}

/* The first kinds tell themselves: a called process is named. */
static bool read_kind(const struct span *fields, uint8_t *kind)
{
    bool called = fields[SCOPE_PROCESS].count > 0;
    if (fields[SCOPE_KIND].count == 0) {
        *kind = called ? ENGINE_SCOPE_CALLED : ENGINE_SCOPE_SUB_PROCESS;
        return true;
    }
    return !called && engine_decode_u8(fields[SCOPE_KIND], ENGINE_SCOPE_KIND_COUNT - 1, kind) &&
           *kind > ENGINE_SCOPE_CALLED;
}

static enum result read_scope(struct engine_execution *execution, struct span map)
{
    struct span fields[SCOPE_FIELD_COUNT];
    uint32_t id, parent_id, host, version;
    REQUIRE(wire_is(map, WIRE_MAP));
    engine_fields_read(map, scope_names, SCOPE_FIELD_COUNT, fields);
    REQUIRE(engine_decode_u32(fields[SCOPE_ID], 0, &id) &&
            engine_decode_u32(fields[SCOPE_PARENT], 0, &parent_id));
    REQUIRE(engine_decode_u32(fields[SCOPE_HOST], 0, &host) &&
            engine_decode_u32(fields[SCOPE_VERSION], 0, &version));
    REQUIRE(engine_fields_is(fields[SCOPE_VARIABLES], WIRE_MAP) &&
            engine_fields_is(fields[SCOPE_NODES], WIRE_MAP));
    REQUIRE(host > 0 && id > ENGINE_SCOPE_ROOT && id < execution->scope_next &&
            engine_scope_find(execution, id) == NULL);
    const struct engine_scope *parent = engine_scope_find(execution, parent_id);
    REQUIRE(parent != NULL); /* parents come first */
    const struct engine_process *process = parent->process;
    uint8_t kind;
    REQUIRE(read_kind(fields, &kind));
    if (kind == ENGINE_SCOPE_CALLED) {
        process = execution->catalog->process(execution->catalog, execution->project,
                                              wire_string_or(fields[SCOPE_PROCESS], ""), version);
        if (process == NULL) {
            return RESULT_NOT_FOUND;
        }
    }
    struct engine_scope *scope =
        engine_part_open_scope(execution, id, (enum engine_scope_kind)kind, process);
    if (scope == NULL) {
        return RESULT_LIMIT;
    }
    scope->parent = parent_id;
    scope->host = host;
    scope->variables = engine_part_keep(execution, fields[SCOPE_VARIABLES]);
    scope->nodes = engine_part_keep(execution, fields[SCOPE_NODES]);
    engine_chain_append(&execution->scopes, &engine_scope_find(execution, parent_id)->children,
                        ENGINE_LINK_SIBLINGS, engine_pool_find(&execution->scopes, id));
    REQUIRE(engine_decode_u32(fields[SCOPE_BEGUN], 0, &scope->begun));
    REQUIRE(engine_decode_u32(fields[SCOPE_INNER], 0, &scope->inner));
    enum result result =
        kind == ENGINE_SCOPE_BODY ? read_body(execution, scope, fields) : RESULT_OK;
    result = result != RESULT_OK ? result : read_records(execution, scope, fields[SCOPE_RECORDS]);
    result = result != RESULT_OK ? result : read_blocks(execution, scope, fields[SCOPE_BLOCKS]);
    return result != RESULT_OK ? result : read_joins(execution, scope, fields[SCOPE_JOINS]);
}

enum result engine_decode_scopes(struct engine_execution *execution,
                                 const struct engine_decode_scopes *from)
{
    if (execution->run == 0) {
        return RESULT_OK;
    }
    struct engine_scope *root = engine_part_open_scope(execution, ENGINE_SCOPE_ROOT,
                                                       ENGINE_SCOPE_PROCESS, execution->process);
    if (root == NULL) {
        return RESULT_LIMIT;
    }
    root->variables = engine_part_keep(execution, from->variables);
    root->nodes = engine_part_keep(execution, from->nodes);
    enum result result = read_joins(execution, root, from->joins);
    result = result != RESULT_OK ? result : read_records(execution, root, from->records);
    result = result != RESULT_OK ? result : read_blocks(execution, root, from->blocks);
    struct wire_map_walk walk = wire_array_begin(from->inner);
    struct span map;
    while (result == RESULT_OK && wire_array_next(&walk, &map)) {
        result = read_scope(execution, map);
    }
    return result;
}
