/*
 * inbox.h: where replies and events of the actors meet a thread that waits for them.
 *
 * Filled by any thread through its two sinks, emptied by the one that owns it; a mutex guards all
 * of it, because the owner sleeps on it and is no loop that a message could wake.
 */
#ifndef TOOLS_STRIDER_INBOX_H
#define TOOLS_STRIDER_INBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/sink.h"

#define CLI_TICKETS_MAX 4u

struct cli_inbox {
    struct proto_sink replies; /* takes PROTO_REPLY; reply_to.ticket below CLI_TICKETS_MAX */
    struct proto_sink events;  /* takes PROTO_EVENT and only counts them */
    /* private to inbox.c */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct proto_message *reply[CLI_TICKETS_MAX];
    uint64_t event_count;
};

void cli_inbox_init(struct cli_inbox *inbox);
/* After those who fill it have stopped. Frees what nobody took. */
void cli_inbox_release(struct cli_inbox *inbox);

/*
 * Sleeps until there is a reply to the ticket or there are more events than `seen`. False: SIGINT
 * or SIGTERM came, which the owner has blocked; it is looked for five times a second.
 */
bool cli_inbox_wait(struct cli_inbox *inbox, uint64_t ticket, uint64_t seen);
/* Events so far. */
uint64_t cli_inbox_events(struct cli_inbox *inbox);
/* Takes the newest reply to the ticket; NULL: none. The caller's to free. */
struct proto_message *cli_inbox_reply(struct cli_inbox *inbox, uint64_t ticket);

#endif
