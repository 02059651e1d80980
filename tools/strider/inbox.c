/*
 * inbox.c: see inbox.h.
 */
#include "tools/strider/inbox.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "proto/base/assert.h"
#include "proto/message.h"

#define TICK_MS 200 /* how often a signal is looked for while nothing happens */

static enum result take_reply(struct proto_sink *self, struct proto_message **message)
{
    struct cli_inbox *inbox = (struct cli_inbox *)self;
    ASSERT((*message)->reply_to.ticket < CLI_TICKETS_MAX);
    pthread_mutex_lock(&inbox->mutex);
    message_free(inbox->reply[(*message)->reply_to.ticket]);
    inbox->reply[(*message)->reply_to.ticket] = *message;
    *message = NULL;
    pthread_cond_signal(&inbox->changed);
    pthread_mutex_unlock(&inbox->mutex);
    return RESULT_OK;
}

static enum result take_event(struct proto_sink *self, struct proto_message **message)
{
    struct cli_inbox *inbox =
        (struct cli_inbox *)((char *)self - offsetof(struct cli_inbox, events));
    message_free(*message); /* that something happened is enough: what, is asked for */
    *message = NULL;
    pthread_mutex_lock(&inbox->mutex);
    inbox->event_count++;
    pthread_cond_signal(&inbox->changed);
    pthread_mutex_unlock(&inbox->mutex);
    return RESULT_OK;
}

void cli_inbox_init(struct cli_inbox *inbox)
{
    *inbox = (struct cli_inbox){.replies.send = take_reply, .events.send = take_event};
    pthread_mutex_init(&inbox->mutex, NULL);
    pthread_cond_init(&inbox->changed, NULL);
}

void cli_inbox_release(struct cli_inbox *inbox)
{
    for (size_t i = 0; i < CLI_TICKETS_MAX; i++) {
        message_free(inbox->reply[i]);
    }
    pthread_cond_destroy(&inbox->changed);
    pthread_mutex_destroy(&inbox->mutex);
}

static bool interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

bool cli_inbox_wait(struct cli_inbox *inbox, uint64_t ticket, uint64_t seen)
{
    ASSERT(ticket < CLI_TICKETS_MAX);
    bool go_on = true;
    pthread_mutex_lock(&inbox->mutex);
    while (inbox->reply[ticket] == NULL && inbox->event_count <= seen) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&inbox->changed, &inbox->mutex, &until);
        if (interrupted()) {
            go_on = false;
            break;
        }
    }
    pthread_mutex_unlock(&inbox->mutex);
    return go_on;
}

uint64_t cli_inbox_events(struct cli_inbox *inbox)
{
    pthread_mutex_lock(&inbox->mutex);
    uint64_t count = inbox->event_count;
    pthread_mutex_unlock(&inbox->mutex);
    return count;
}

struct proto_message *cli_inbox_reply(struct cli_inbox *inbox, uint64_t ticket)
{
    pthread_mutex_lock(&inbox->mutex);
    struct proto_message *reply = inbox->reply[ticket];
    inbox->reply[ticket] = NULL;
    pthread_mutex_unlock(&inbox->mutex);
    return reply;
}
