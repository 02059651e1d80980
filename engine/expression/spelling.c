/*
 * spelling.c: see spelling.h.
 */
#include "engine/expression/spelling.h"

#include "engine/expression/node.h"

struct span engine_expression_spell(const struct engine_expression *expression, struct arena *arena)
{
    struct span text = span_trim(expression->source);
    if (expression->dialect == ENGINE_DIALECT_FEEL) {
        bool is_marked = text.count > 0 && text.bytes[0] == '=';
        struct span bare = is_marked ? span_trim(span_of(text.bytes + 1, text.count - 1)) : text;
        return arena_format(arena, "=%.*s", SPAN_ARG(bare));
    }
    if (expression->dialect == ENGINE_DIALECT_JUEL) {
        return arena_format(arena, "${%.*s}", SPAN_ARG(text));
    }
    return expression->source;
}
