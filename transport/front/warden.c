/* warden.c: see warden.h. */
#include "transport/front/warden.h"

#include <errno.h>
#include <time.h>

#define LOOK_MS         500
#define IDLE_LOOKS      3  /* a second and a half */
#define IDLE_LOOKS_BUSY 30 /* a quarter of a minute */

static void *run(void *arg);
static bool end_within_look(struct front_warden *warden);

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

static uint64_t stat_of(nng_stat *listener, const char *name)
{
    nng_stat *found = listener == NULL ? NULL : nng_stat_find(listener, name);
    return found == NULL ? 0 : nng_stat_value(found);
}

bool front_listener_is_deaf(nng_listener listener, bool busy, struct front_listener_watch *watch)
{
    nng_stat *all = NULL;
    if (nng_stats_get(&all) != 0) {
        return false;
    }
    nng_stat *own = nng_stat_find_listener(all, listener);
    bool troubled = stat_of(own, "other") > 0;
    uint64_t accepted = stat_of(own, "accept");
    nng_stats_free(all);
    watch->idle_looks = troubled && accepted == watch->accepted ? watch->idle_looks + 1 : 0;
    watch->accepted = accepted;
    return watch->idle_looks >= (busy ? IDLE_LOOKS_BUSY : IDLE_LOOKS);
}
