/*
 * ad_hoc.h: what is special in an ad-hoc sub-process: all nodes without incoming flow begin, at
 * once or one after the other, and it ends when all is done or its completion condition is true.
 */
#ifndef ENGINE_AD_HOC_H
#define ENGINE_AD_HOC_H

#include "engine/decision.h"

/* Do its start nodes begin one after the other? */
static inline bool engine_ad_hoc_is_sequence(const struct engine_node *node)
{
    return node->kind == ENGINE_AD_HOC_SUB_PROCESS && node->ordered && node->active == NULL;
}

/* The activities that it is to begin with, by id (Camunda 8's activeElementsCollection). False:
 * that cannot be told, which was decided on. */
bool engine_ad_hoc_active(struct engine_decision *decision, const struct engine_visit *visit,
                          struct span local, struct engine_indexes *out);
/* What began last has ended: the next start node. False: there is none, or no such sequence. */
bool engine_ad_hoc_next(struct engine_decision *decision, const struct engine_scope *scope,
                        const struct engine_token *from);
/*
 * The visit's activity is complete and leaves; `is_last`: by no flow, so that what it came to joins
 * the sub-process's list. Is the sub-process complete, too (or did an expression fail)? Then that
 * was decided on.
 */
bool engine_ad_hoc_ends(struct engine_decision *decision, const struct engine_visit *visit,
                        bool is_last);
/* The sub-process's own variables: those that its inputs made, and its list, empty yet. */
struct span engine_ad_hoc_variables(struct engine_decision *decision,
                                    const struct engine_visit *visit, struct span local);
/* Its list reaches the variables around it: it has completed, without a scope where nothing began.
 */
void engine_ad_hoc_hand_over(struct engine_decision *decision, const struct engine_visit *visit);

#endif
