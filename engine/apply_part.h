/*
 * apply_part.h: the pieces that applying is made of, private to apply*.c and decode.c: one function
 * for each event, and the small moves that several of them share.
 */
#ifndef ENGINE_APPLY_PART_H
#define ENGINE_APPLY_PART_H

#include "engine/apply.h"
#include "engine/block.h"

/* Events from a journal may contradict the state that they are applied to. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return RESULT_CORRUPT;                                                                 \
        }                                                                                          \
    } while (0)

typedef enum result (*engine_apply_fn)(struct engine_execution *execution,
                                       const struct engine_event *event);

enum result engine_apply_created(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_clock(struct engine_execution *execution,
                               const struct engine_event *event);
enum result engine_apply_started(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_token_created(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_entered(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_locals_set(struct engine_execution *execution,
                                    const struct engine_event *event);
enum result engine_apply_completed(struct engine_execution *execution,
                                   const struct engine_event *event);
enum result engine_apply_left(struct engine_execution *execution, const struct engine_event *event);
enum result engine_apply_consumed(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_cancelled(struct engine_execution *execution,
                                   const struct engine_event *event);
enum result engine_apply_joined(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_join_fired(struct engine_execution *execution,
                                    const struct engine_event *event);
enum result engine_apply_called(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_answered(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_reply_merged(struct engine_execution *execution,
                                      const struct engine_event *event);
enum result engine_apply_merged(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_output_set(struct engine_execution *execution,
                                    const struct engine_event *event);
enum result engine_apply_waited(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_woken(struct engine_execution *execution,
                               const struct engine_event *event);
enum result engine_apply_timed_out(struct engine_execution *execution,
                                   const struct engine_event *event);
enum result engine_apply_callback(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_callback_kept(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_timer_armed(struct engine_execution *execution,
                                     const struct engine_event *event);
enum result engine_apply_timer_fired(struct engine_execution *execution,
                                     const struct engine_event *event);
enum result engine_apply_scope_opened(struct engine_execution *execution,
                                      const struct engine_event *event);
enum result engine_apply_scope_spent(struct engine_execution *execution,
                                     const struct engine_event *event);
enum result engine_apply_scope_closed(struct engine_execution *execution,
                                      const struct engine_event *event);
enum result engine_apply_scope_cleared(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_instance_created(struct engine_execution *execution,
                                          const struct engine_event *event);
enum result engine_apply_instance_done(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_listened(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_scope_interrupted(struct engine_execution *execution,
                                           const struct engine_event *event);
enum result engine_apply_recorded(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_compensated(struct engine_execution *execution,
                                     const struct engine_event *event);
enum result engine_apply_module_missed(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_failed(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_ended(struct engine_execution *execution,
                               const struct engine_event *event);
enum result engine_apply_logged(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_audited(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_segment_ended(struct engine_execution *execution,
                                       const struct engine_event *event);
enum result engine_apply_suspended(struct engine_execution *execution,
                                   const struct engine_event *event);
enum result engine_apply_resumed(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_retried(struct engine_execution *execution,
                                 const struct engine_event *event);
enum result engine_apply_attempt_failed(struct engine_execution *execution,
                                        const struct engine_event *event);

enum result engine_apply_linked(struct engine_execution *execution,
                                const struct engine_event *event);

enum result engine_apply_subscribed(struct engine_execution *execution,
                                    const struct engine_event *event);
enum result engine_apply_turned(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_caught(struct engine_execution *execution,
                                const struct engine_event *event);
enum result engine_apply_heard(struct engine_execution *execution,
                               const struct engine_event *event);
enum result engine_apply_published(struct engine_execution *execution,
                                   const struct engine_event *event);

enum result engine_apply_imported(struct engine_execution *execution,
                                  const struct engine_event *event);
enum result engine_apply_migrated(struct engine_execution *execution,
                                  const struct engine_event *event);

/* A copy in the execution's own memory; empty stays empty. */
struct span engine_part_keep(struct engine_execution *execution, struct span span);
/* A due time came, or went: due_ms stays the earliest, or becomes unknown. */
void engine_part_note_due(struct engine_execution *execution, int64_t due_ms);
void engine_part_forget_due(struct engine_execution *execution, int64_t due_ms);
void engine_part_open_segment(struct engine_execution *execution);
/* The same, by an input that ends a wait: the audit hears of it unless the segment ends at once. */
void engine_part_resume_segment(struct engine_execution *execution);
void engine_part_clear_error(struct engine_execution *execution);
/* A retry that succeeded leaves no trace (engine.md 3), unless another one is still under way. */
void engine_part_settle_error(struct engine_execution *execution);
bool engine_part_node_is_in(const struct engine_scope *scope, uint32_t node);

/* Of a block scheme: what the token's block came to. */
void engine_part_note_block(struct engine_execution *execution, const struct engine_token *token,
                            enum engine_block_state state);

/* An empty join record of that flow, which has none yet; NULL: arena full. Taking one away does not
 * touch scope->live. */
struct engine_join_tokens *engine_part_add_join(struct engine_execution *execution,
                                                struct engine_scope *scope, uint32_t flow);
void engine_part_drop_join(struct engine_execution *execution, struct engine_scope *scope,
                           struct engine_join_tokens *join);
/* The tokens wait on a flow of another version's from now on; the scope is still the old one's. */
void engine_part_move_join(struct engine_execution *execution, const struct engine_scope *scope,
                           struct engine_join_tokens *join, const struct engine_process *to,
                           uint32_t flow);
/* An empty scope at the end of the order; its place under a parent is the caller's. NULL: arena
 * full. */
struct engine_scope *engine_part_open_scope(struct engine_execution *execution, uint32_t id,
                                            enum engine_scope_kind kind,
                                            const struct engine_process *process);
/* Reads over the next `count` elements of a body's collection. False: it has not so many. */
MUST_USE bool engine_part_skip_items(struct engine_scope *scope, uint32_t count);
/* A result at the end of a body's. False: arena full. */
MUST_USE bool engine_part_add_result(struct engine_execution *execution, struct engine_scope *scope,
                                     uint32_t instance, struct span value);
/* A record at the end of a scope's; NULL: arena full. */
struct engine_record *engine_part_add_record(struct engine_execution *execution,
                                             struct engine_scope *scope, uint32_t node,
                                             uint32_t handler);
/* All records of `from` go behind those of `to`, a scope around it, with the variables of the scopes
 * that they leave. */
void engine_part_keep_records(struct engine_execution *execution, struct engine_scope *from,
                              struct engine_scope *to);
/* The same for every scope that lends its records to `top`. */
void engine_part_gather_records(struct engine_execution *execution, struct engine_scope *top);
/* The newest ones that are of the inside of what the handler in `from` compensates go to its scope.
 */
void engine_part_move_inner(struct engine_execution *execution, struct engine_scope *from,
                            struct engine_scope *to);
/* Those about `node` (ENGINE_NONE: all) go from one scope to another, which has none. */
void engine_part_move_records(struct engine_execution *execution, struct engine_scope *from,
                              struct engine_scope *to, uint32_t node);
/* Takes an empty scope away. */
void engine_part_drop_scope(struct engine_execution *execution, struct engine_scope *scope);
/* Everything inside goes, innermost scopes first; the scope itself stays. */
void engine_part_clear_scope(struct engine_execution *execution, struct engine_scope *top);
/* The token's child scope goes, with everything inside. */
void engine_part_close_child(struct engine_execution *execution, struct engine_token *host);
void engine_part_drop_joins(struct engine_execution *execution, struct engine_scope *scope);
/* Takes a token without a child scope away. */
void engine_part_drop_token(struct engine_execution *execution, struct engine_token *token);
void engine_part_drop_timer(struct engine_execution *execution, struct engine_token *token,
                            uint32_t slot);
/* A subscription of the token; NULL: arena full. */
struct engine_subscription *engine_part_add_subscription(struct engine_execution *execution,
                                                         struct engine_token *token, uint8_t kind);
/* The token listens for nothing any more: no timers, no subscriptions. `boundary_stays`: but for
 * what is on its node's boundary. */
void engine_part_stop_listening(struct engine_execution *execution, struct engine_token *token,
                                bool boundary_stays);

#endif
