/*
 * mailbox.c: see mailbox.h for the invariant.
 *
 * Why no wake-up is lost: items there >= count at all times (push comes before count). The reader
 * sleeps only after a subtraction that left count <= 0; any item it did not see is counted later,
 * and the sender whose increment goes from 0 to 1 wakes it. The count is below 0 only while a
 * sender stands between its push and its increment and its item is taken already.
 *
 * Happens-before: the sender's compare-and-swap (full barrier on the stack's head) and the reader's
 * atomic exchange of it. ThreadSanitizer does not see ck's inline assembly, so that pair is told to
 * it by hand.
 */
#include "actors/mailbox.h"

#include <ck_pr.h>
#include <stddef.h>

#include "proto/base/assert.h"

#if defined(__SANITIZE_THREAD__)
#define MAILBOX_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MAILBOX_TSAN 1
#endif
#endif

#ifdef MAILBOX_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define MAILBOX_RELEASE(mailbox) __tsan_release(&(mailbox)->stack)
#define MAILBOX_ACQUIRE(mailbox) __tsan_acquire(&(mailbox)->stack)
#else
#define MAILBOX_RELEASE(mailbox) ((void)0)
#define MAILBOX_ACQUIRE(mailbox) ((void)0)
#endif

/* A message is its own stack entry. */
_Static_assert(offsetof(struct proto_message, next) == 0, "the link must be the first member");
_Static_assert(sizeof(struct ck_stack_entry) == sizeof(struct proto_message *), "one pointer");

void actor_mailbox_init(struct actor_mailbox *mailbox, uint32_t requests_max)
{
    ASSERT(requests_max > 0 && requests_max <= INT32_MAX / 2);
    *mailbox = (struct actor_mailbox){.requests_max = (int)requests_max};
}

void actor_mailbox_release(struct actor_mailbox *mailbox)
{
    bool more = true;
    while (more) {
        struct proto_message *message = actor_mailbox_take(mailbox, 1, &more);
        message_free(message);
    }
    ASSERT(mailbox->rest == NULL);
}

/* ck_stack_push_upmc, with room for the annotation between the link and the swap. */
static void push(struct actor_mailbox *mailbox, struct ck_stack_entry *entry)
{
    struct ck_stack_entry *newest = ck_pr_load_ptr(&mailbox->stack.head);
    do {
        entry->next = newest;
        MAILBOX_RELEASE(mailbox);
        ck_pr_fence_store();
    } while (!ck_pr_cas_ptr_value(&mailbox->stack.head, newest, entry, &newest));
}

enum result actor_mailbox_push(struct actor_mailbox *mailbox, struct proto_message **message,
                               bool *wake)
{
    ASSERT((*message)->magic == PROTO_MESSAGE_MAGIC);
    *wake = false;
    if (atomic_load_explicit(&mailbox->closed, memory_order_relaxed)) {
        return RESULT_CLOSED;
    }
    /* Several senders may pass at once: the bound is exceeded by at most their number. */
    if ((*message)->type == PROTO_REQUEST &&
        ck_pr_load_int(&mailbox->count) >= mailbox->requests_max) {
        return RESULT_AGAIN;
    }
    push(mailbox, (struct ck_stack_entry *)*message);
    *message = NULL;
    *wake = ck_pr_faa_int(&mailbox->count, 1) == 0;
    return RESULT_OK;
}

static struct proto_message *take_all_oldest_first(struct actor_mailbox *mailbox)
{
    struct ck_stack_entry *entry = ck_stack_batch_pop_upmc(&mailbox->stack);
    MAILBOX_ACQUIRE(mailbox);
    struct proto_message *oldest = NULL;
    while (entry != NULL) {
        struct proto_message *message = (struct proto_message *)entry;
        entry = entry->next;
        message->next = oldest;
        oldest = message;
    }
    return oldest;
}

struct proto_message *actor_mailbox_take(struct actor_mailbox *mailbox, uint32_t max, bool *more)
{
    ASSERT(max > 0);
    if (mailbox->rest == NULL) {
        mailbox->rest = take_all_oldest_first(mailbox);
    }
    struct proto_message *batch = mailbox->rest;
    struct proto_message **end = &mailbox->rest;
    int taken = 0;
    while (*end != NULL && (uint32_t)taken < max) {
        end = &(*end)->next;
        taken++;
    }
    struct proto_message *rest = *end;
    *end = NULL;
    mailbox->rest = rest;
    *more = ck_pr_faa_int(&mailbox->count, -taken) - taken > 0 || rest != NULL;
    return taken == 0 ? NULL : batch;
}

void actor_mailbox_close(struct actor_mailbox *mailbox)
{
    atomic_store_explicit(&mailbox->closed, true, memory_order_relaxed);
}

uint32_t actor_mailbox_count(const struct actor_mailbox *mailbox)
{
    int count = ck_pr_load_int(&mailbox->count);
    return count > 0 ? (uint32_t)count : 0;
}
