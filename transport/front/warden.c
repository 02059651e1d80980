/* warden.c: see warden.h. */
#include "transport/front/warden.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS          500
#define UNANSWERED_LOOKS 6 /* three seconds */
#define NO_DESCRIPTOR    (-2)

static void *run(void *arg);
static bool end_within_look(struct front_warden *warden);
/* What NNG counts of a listener. */
struct counts {
    uint64_t troubles;
    uint64_t accepted;
};

static struct counts counts_of(nng_listener listener);
static uint64_t stat_of(nng_stat *listener, const char *name);
static int knock_on(const char *url);

enum result front_warden_start(struct front_warden *warden, front_look_fn look, void *owner)
{
    warden->look = look;
    warden->owner = owner;
    if (sem_init(&warden->end, 0, 0) != 0) {
        return RESULT_LIMIT;
    }
    if (pthread_create(&warden->thread, NULL, run, warden) != 0) {
        sem_destroy(&warden->end);
        return RESULT_LIMIT;
    }
    warden->started = true;
    return RESULT_OK;
}

static void *run(void *arg)
{
    struct front_warden *warden = arg;
    while (!end_within_look(warden)) {
        warden->look(warden->owner);
    }
    return NULL;
}

static bool end_within_look(struct front_warden *warden)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    int code = 0;
    while ((code = sem_clockwait(&warden->end, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR) {
    }
    return code == 0;
}

void front_warden_stop(struct front_warden *warden)
{
    if (warden->started) {
        warden->started = false;
        sem_post(&warden->end);
        pthread_join(warden->thread, NULL);
        sem_destroy(&warden->end);
    }
}

bool front_listener_is_deaf(nng_listener listener, const char *url,
                            struct front_listener_watch *watch)
{
    struct counts now = counts_of(listener);
    if (!watch->knocking) {
        if (now.troubles > watch->troubles) {
            *watch = (struct front_listener_watch){.troubles = now.troubles,
                                                   .accepted = now.accepted,
                                                   .knocking = true,
                                                   .knock = knock_on(url)};
        }
        return false;
    }
    if (now.accepted > watch->accepted) {
        front_listener_forget(watch);
        return false;
    }
    if (watch->knock < 0) {
        watch->knock = knock_on(url);
    }
    if (watch->knock == NO_DESCRIPTOR) {
        return false; /* nor has it one for a connection: to listen anew would not help */
    }
    if (++watch->unanswered < UNANSWERED_LOOKS) {
        return false;
    }
    front_listener_forget(watch);
    *watch = (struct front_listener_watch){0};
    return true;
}

void front_listener_forget(struct front_listener_watch *watch)
{
    if (watch->knocking && watch->knock >= 0) {
        close(watch->knock);
    }
    watch->knocking = false;
}

static struct counts counts_of(nng_listener listener)
{
    struct counts counts = {0};
    nng_stat *all = NULL;
    if (nng_stats_get(&all) == 0) {
        nng_stat *own = nng_stat_find_listener(all, listener);
        counts.troubles = stat_of(own, "other");
        counts.accepted = stat_of(own, "accept");
        nng_stats_free(all);
    }
    return counts;
}

static uint64_t stat_of(nng_stat *listener, const char *name)
{
    nng_stat *found = listener == NULL ? NULL : nng_stat_find(listener, name);
    return found == NULL ? 0 : nng_stat_value(found);
}

/* Connects without waiting and greets as a REQ peer does in the SP protocol; -1 when that can't be
 * done now, as with a queue of connections that nobody takes, NO_DESCRIPTOR when there is none. */
static int knock_on(const char *url)
{
    static const uint8_t greeting[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = strstr(url, "://");
    if (path == NULL || strlen(path + 3) >= sizeof address.sun_path) {
        return -1;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path + 3);
    int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (handle < 0 && (errno == EMFILE || errno == ENFILE)) {
        return NO_DESCRIPTOR;
    }
    if (handle >= 0 && (connect(handle, (struct sockaddr *)&address, sizeof address) != 0 ||
                        send(handle, greeting, sizeof greeting, MSG_NOSIGNAL) < 0)) {
        close(handle);
        handle = -1;
    }
    return handle;
}
