/*
 * mapping.c: see mapping.h.
 */
#include "engine/mapping.h"

#include "engine/fields.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

/* The first part of a dotted path; *rest is what follows, empty at the end. */
static struct span head_of(struct span path, struct span *rest)
{
    const uint8_t *dot = path.count == 0 ? NULL : memchr(path.bytes, '.', path.count);
    if (dot == NULL) {
        *rest = SPAN_EMPTY;
        return path;
    }
    size_t count = (size_t)(dot - path.bytes);
    *rest = span_of(dot + 1, path.count - count - 1);
    return span_of(path.bytes, count);
}

/* Down the path to the innermost map, then back up, so that no depth of names recurses. */
struct span engine_mapping_set(struct arena *arena, struct span base, struct span path,
                               struct span value)
{
    struct span names[LIMIT_DEPTH];
    struct span maps[LIMIT_DEPTH];
    unsigned depth = 0;
    while (depth < LIMIT_DEPTH && (depth == 0 || path.count > 0)) {
        maps[depth] = wire_is(base, WIRE_MAP) ? base : SPAN_EMPTY;
        names[depth] = head_of(path, &path);
        base = wire_find(maps[depth], names[depth]);
        depth++;
    }
    while (depth > 0) {
        depth--;
        value = wire_merge(arena, maps[depth], engine_fields_single(arena, names[depth], value));
    }
    return value;
}

/* Expressions bound the depth of what they make; a dotted target adds to it, and what is too deep
 * could not be stored. */
static bool is_shallow(struct span made)
{
    size_t offset;
    const char *reason;
    return wire_validate(made, LIMIT_DEPTH + 1, &offset, &reason) == RESULT_OK;
}

bool engine_mapping_evaluate(struct engine_decision *decision, struct engine_scene *scene,
                             const struct engine_mappings *mappings, bool outward, struct span *map,
                             const struct engine_mapping **failed, const char **reason)
{
    struct span made = SPAN_EMPTY;
    for (uint32_t i = 0; i < mappings->count; i++) {
        const struct engine_mapping *mapping = &mappings->at[i];
        struct engine_evaluation evaluation = {0};
        if (mapping->source != NULL &&
            engine_expression_evaluate(mapping->source, &scene->names, decision->arena,
                                       &evaluation) != RESULT_OK) {
            *failed = mapping;
            *reason = evaluation.error.message;
            return false;
        }
        struct span rest;
        struct span head = head_of(mapping->target, &rest);
        struct span there = wire_find(made, head);
        if (rest.count > 0 && outward && there.count == 0) {
            there = scene->names.find(&scene->names, head);
            made = there.count == 0
                       ? made
                       : wire_merge(decision->arena, made,
                                    engine_fields_single(decision->arena, head, there));
        }
        made = engine_mapping_set(decision->arena, made, mapping->target, evaluation.value);
        if (rest.count > 0 && !is_shallow(made)) {
            *failed = mapping;
            *reason = "nested too deep";
            return false;
        }
        scene->local = wire_merge(decision->arena, scene->local, made);
    }
    *map = made;
    return true;
}
