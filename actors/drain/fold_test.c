/*
 * fold_test.c: the newest change of each key, over a table in memory.
 */
#include <criterion/criterion.h>

#include "actors/drain/fold.h"

struct recording {
    struct storage_state state;
    struct storage_change changes[8];
    size_t count;
    enum result result;
};

static enum result record(struct storage_state *self, const struct storage_change *changes,
                          size_t count)
{
    struct recording *recording = (struct recording *)self;
    recording->count = count;
    for (size_t i = 0; i < count && i < 8; i++) {
        recording->changes[i] = changes[i];
    }
    return recording->result;
}

static const struct storage_state_ops recording_ops = {.apply = record};

Test(fold, keeps_the_newest_change_of_each_key)
{
    struct actor_fold fold;
    struct recording recording = {.state.ops = &recording_ops};
    actor_fold_init(&fold, 1 << 20);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_EXECUTIONS, span_text("a"), span_text("1")),
                 RESULT_OK);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_EXECUTIONS, span_text("a"), span_text("2")),
                 RESULT_OK);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_REQUESTS, span_text("a"), span_text("3")),
                 RESULT_OK);

    cr_assert(span_is(actor_fold_find(&fold, STORAGE_EXECUTIONS, span_text("a"))->value, "2"));
    cr_assert(span_is(actor_fold_find(&fold, STORAGE_REQUESTS, span_text("a"))->value, "3"));
    cr_assert_null(actor_fold_find(&fold, STORAGE_EXECUTIONS, span_text("b")));
    cr_assert_eq(actor_fold_apply(&fold, &recording.state), RESULT_OK);

    cr_assert_eq(recording.count, 2);
    cr_assert_null(actor_fold_find(&fold, STORAGE_EXECUTIONS, span_text("a")));
    actor_fold_release(&fold);
}

Test(fold, removes_what_the_table_may_hold_and_forgets_what_it_never_saw)
{
    struct actor_fold fold;
    struct recording recording = {.state.ops = &recording_ops};
    actor_fold_init(&fold, 1 << 20);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_EXECUTIONS, span_text("seen"), span_text("1")),
                 RESULT_OK);
    cr_assert_eq(actor_fold_remove(&fold, STORAGE_EXECUTIONS, span_text("seen")), RESULT_OK);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_EXECUTIONS, span_text("unseen"), span_text("1")),
                 RESULT_OK);
    actor_fold_cancel(&fold, STORAGE_EXECUTIONS, span_text("unseen"));

    cr_assert_eq(actor_fold_apply(&fold, &recording.state), RESULT_OK);

    cr_assert_eq(recording.count, 1);
    cr_assert(recording.changes[0].remove);
    actor_fold_release(&fold);
}

Test(fold, keeps_its_changes_when_they_could_not_be_applied)
{
    struct actor_fold fold;
    struct recording recording = {.state.ops = &recording_ops, .result = RESULT_FULL};
    actor_fold_init(&fold, 1 << 20);
    cr_assert_eq(actor_fold_put(&fold, STORAGE_EXECUTIONS, span_text("a"), span_text("1")),
                 RESULT_OK);

    cr_assert_eq(actor_fold_apply(&fold, &recording.state), RESULT_FULL);

    cr_assert(span_is(actor_fold_find(&fold, STORAGE_EXECUTIONS, span_text("a"))->value, "1"));
    actor_fold_release(&fold);
}
