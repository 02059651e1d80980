/* watchdog.c: see watchdog.h. A thread that waits for the signals, and for the end of the phase. */
#include "tests/torture/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static const char *phase = "its set-up";
static uint64_t until_s = UINT64_MAX;
static torture_last_words_fn last_words;
static sigset_t ending;

static uint64_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* What runs elsewhere runs on while we speak, so no exit handlers: they might wait for it. */
static _Noreturn void end(void)
{
    last_words(1);
    fflush(NULL);
    _exit(1);
}

static void look(void)
{
    pthread_mutex_lock(&mutex);
    bool late = now_s() > until_s;
    const char *name = phase;
    pthread_mutex_unlock(&mutex);
    if (late) {
        fprintf(stderr, "violation: the torture hangs in %s\n", name);
        end();
    }
}

static void *run(void *unused)
{
    for (;;) {
        int number = sigtimedwait(&ending, NULL, &(struct timespec){.tv_sec = 1});
        if (number > 0) {
            fprintf(stderr, "violation: the torture was ended by signal %d\n", number);
            end();
        }
        look();
    }
    return unused;
}

void torture_watchdog_start(torture_last_words_fn words)
{
    pthread_t thread;
    last_words = words;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, NULL); /* inherited by every thread that comes */
    if (pthread_create(&thread, NULL, run, NULL) != 0) {
        fprintf(stderr, "torture: no thread for its watchdog\n");
        exit(2);
    }
    pthread_detach(thread);
}

void torture_watchdog_phase(const char *name, unsigned seconds)
{
    pthread_mutex_lock(&mutex);
    phase = name;
    until_s = now_s() + seconds;
    pthread_mutex_unlock(&mutex);
}
