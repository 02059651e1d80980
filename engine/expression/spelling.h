/*
 * spelling.h: a compiled expression as text again, for those who write definitions.
 */
#ifndef ENGINE_EXPRESSION_SPELLING_H
#define ENGINE_EXPRESSION_SPELLING_H

#include "engine/expression/expression.h"

/*
 * The text that means the same under ENGINE_DIALECT_AUTO (and CONDITION), whatever dialect it was
 * compiled in: FEEL as "=…", bare JUEL as "${…}", all else as it stands (then it is
 * the expression's own source). Empty when the arena is full.
 */
struct span engine_expression_spell(const struct engine_expression *expression,
                                    struct arena *arena);

#endif
