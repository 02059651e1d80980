/*
 * directory_test.c: which execution a channel session means.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "actors/directory.h"

static void bind(struct actor_directory *directory, const char *session, const char *id,
                 uint64_t since_ms)
{
    cr_assert_eq(actor_directory_bind(directory, span_text(session), span_text(id), since_ms),
                 RESULT_OK);
}

static const char *resolve(struct actor_directory *directory, const char *session)
{
    static struct execution_id id;
    return actor_directory_resolve(directory, span_text(session), &id) == RESULT_OK ? id.text
                                                                                    : "none";
}

Test(directory, means_the_execution_that_began_to_wait_last)
{
    struct actor_directory directory;
    actor_directory_init(&directory);
    bind(&directory, "chat-1", "b", 200);
    bind(&directory, "chat-1", "a", 100);
    bind(&directory, "chat-2", "c", 300);

    cr_assert_str_eq(resolve(&directory, "chat-1"), "b");
    bind(&directory, "chat-1", "a", 250);
    cr_assert_str_eq(resolve(&directory, "chat-1"), "a");
    cr_assert_eq(actor_directory_count(&directory), 3);
    actor_directory_release(&directory);
}

Test(directory, falls_back_to_an_older_wait_when_the_newest_ends)
{
    struct actor_directory directory;
    actor_directory_init(&directory);
    bind(&directory, "s", "old", 1);
    bind(&directory, "s", "new", 2);

    actor_directory_drop(&directory, span_text("s"), span_text("new"));
    cr_assert_str_eq(resolve(&directory, "s"), "old");
    actor_directory_drop(&directory, span_text("s"), span_text("never bound"));
    actor_directory_drop(&directory, span_text("s"), span_text("old"));

    cr_assert_str_eq(resolve(&directory, "s"), "none");
    actor_directory_release(&directory);
}

Test(directory, means_the_later_bound_one_of_the_same_millisecond_however_much_it_grows)
{
    struct actor_directory directory;
    actor_directory_init(&directory);
    char id[16];
    for (int i = 0; i < 2000; i++) { /* the table is rebuilt several times meanwhile */
        snprintf(id, sizeof id, "e%d", i);
        bind(&directory, "s", id, 7);
        cr_assert_str_eq(resolve(&directory, "s"), id);
    }
    bind(&directory, "s", "e3", 7);

    cr_assert_str_eq(resolve(&directory, "s"), "e1999", "the same wait told again is no newer");
    actor_directory_release(&directory);
}

Test(directory, holds_many_sessions)
{
    struct actor_directory directory;
    actor_directory_init(&directory);
    char session[32];
    for (uint64_t i = 0; i < 2000; i++) {
        snprintf(session, sizeof session, "session %d", (int)i);
        bind(&directory, session, session + 8, i);
    }

    for (int i = 0; i < 2000; i++) {
        snprintf(session, sizeof session, "session %d", i);
        cr_assert_str_eq(resolve(&directory, session), session + 8);
    }
    actor_directory_release(&directory);
}
