/*
 * names.h: what a name means where a token is (engine.md 6): local scopes from inside out, then the
 * reserved roots, then bare names in `execution`, `context` and `request`.
 */
#ifndef ENGINE_NAMES_H
#define ENGINE_NAMES_H

#include "engine/decision.h"

struct engine_scene {
    struct engine_names names; /* first: the expression engine hands it back */
    const struct engine_decision *decision;
    const struct engine_scope *scope;
    const struct engine_token *token; /* NULL: none in particular */
    struct span local;                /* MAP: what the node's inputs made */
    struct span own;                  /* MAP: an instance's element and counter */
    uint32_t done_too;                /* instances of `scope` that count as completed already */
    struct span output;               /* `output` */
    struct span overlays[2]; /* MAPs before all others: what a reply brought, for output mappings */
};

/* All variables that are seen from the token, inner ones winning, as one MAP. */
struct span engine_names_visible(const struct engine_decision *decision,
                                 const struct engine_scope *scope,
                                 const struct engine_token *token);

/* `token` may be NULL. */
void engine_scene_init(struct engine_scene *scene, const struct engine_decision *decision,
                       const struct engine_scope *scope, const struct engine_token *token);

#endif
