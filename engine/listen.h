/*
 * listen.h: what a token listens for in an event: messages, signals, conditions, and times among
 * several of them. The event is its own (a catch event, a receive task), a boundary event on its
 * activity, or one behind the event gateway that it waits in.
 */
#ifndef ENGINE_LISTEN_H
#define ENGINE_LISTEN_H

#include "engine/names.h"

/* What reached a token. */
struct engine_news {
    uint32_t node;       /* event */
    uint32_t definition; /* which of its definitions */
    struct span payload; /* value, or empty */
    struct span id;      /* of the message, or empty */
};

/*
 * Begins to listen for all that `event` names. *met: its condition is true now, so that the event
 * has happened already (traps.md 13): finish it, or engine_listen_happen. False: an expression
 * failed, which was decided on.
 */
bool engine_listen_arm(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_node *event, struct engine_scene *scene, bool *met);
/* The token listens for its own event and waits; or goes on at once, if that has happened. */
void engine_listen_wait(struct engine_decision *decision, const struct engine_visit *visit,
                        struct span local);
/* The news reached the token, which still listens for them: its event happens, unless it needs
 * others too (parallel multiple). */
void engine_listen_fire(struct engine_decision *decision, const struct engine_token *host,
                        const struct engine_news *news);
/* The event happens, whatever else it listens for. */
void engine_listen_happen(struct engine_decision *decision, const struct engine_token *host,
                          const struct engine_news *news);
/* An event has nothing more to wait for: what came is merged, its outputs are made, the token may
 * leave. */
void engine_listen_finish(struct engine_decision *decision, const struct engine_visit *visit);
/* Did what the node waits for come already? Then only engine_listen_finish is left to do. */
static inline bool engine_listen_came(const struct engine_visit *visit)
{
    return visit->token->answer.kind == ENGINE_ANSWER_EVENT;
}
/* Acts for the first that was told of a signal of the execution's own. False: nobody was. To be
 * asked before the next token moves. */
bool engine_listen_told(struct engine_decision *decision);
/*
 * Looks at the conditions that tokens listen for; acts on the first that turned true, or false.
 * False: none turned. To be asked whenever a variable may have changed. A condition that cannot be
 * evaluated is not true.
 */
bool engine_listen_look(struct engine_decision *decision);
/* Is anything heard by it now? A token in its own event hears while it waits; a boundary event as
 * long as it is there. */
bool engine_listen_is_open(const struct engine_execution *execution,
                           const struct engine_token *token,
                           const struct engine_subscription *subscription);
/* Can a token in `host` listen for the event `node` at all? Stored bytes may say otherwise. */
bool engine_listen_may(const struct engine_process *process, uint32_t host, uint32_t node);
/* The same of one definition of the event, by kind. */
bool engine_listen_has(const struct engine_process *process, uint32_t node, uint32_t definition,
                       uint8_t kind);
/* The message or signal name that a definition says now: by expression, else as written, else the
 * node's id; *name lives in the decision's arena. False: the expression failed, which was decided
 * on. */
bool engine_listen_name(struct engine_decision *decision, const struct engine_visit *visit,
                        const struct engine_node *event,
                        const struct engine_event_definition *definition,
                        struct engine_scene *scene, struct span *name);
/* Its correlation key as text; empty when it has none. Null, a list or a context is no key (field
 * report F46). */
bool engine_listen_key(struct engine_decision *decision, const struct engine_visit *visit,
                       const struct engine_node *event,
                       const struct engine_event_definition *definition, struct engine_scene *scene,
                       struct span *key);

#endif
