/*
 * spares_test.c: a helper that finds the disk full rests before it takes the last space again.
 */
#include "storage/embedded/log/spares.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* Only what the helper calls before it fails. */
struct full_disk {
    struct storage_files files;
    atomic_uint tries;
    atomic_uint removed;
};

static enum result full_open(struct storage_files *self, const char *name, uint64_t reserve_bytes,
                             int *handle)
{
    (void)name;
    (void)reserve_bytes;
    (void)handle;
    atomic_fetch_add(&((struct full_disk *)self)->tries, 1);
    return RESULT_FULL;
}

static enum result full_remove(struct storage_files *self, const char *name)
{
    (void)name;
    atomic_fetch_add(&((struct full_disk *)self)->removed, 1);
    return RESULT_OK;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

Test(spares, a_helper_that_met_a_full_disk_rests_though_it_is_asked_on)
{
    struct full_disk disk = {.files = {.open = full_open, .remove = full_remove}};
    struct storage_spares spares;
    storage_spares_init(&spares, &disk.files, 1 << 20, true);
    cr_assert(spares.helper_runs);
    uint64_t start_ms = now_ms();
    storage_spares_want(&spares);
    while (atomic_load(&disk.removed) == 0) {
        sched_yield();
    }

    for (unsigned i = 0; i < 2000; i++) {
        storage_spares_want(&spares);
        sched_yield();
    }

    unsigned tries = atomic_load(&disk.tries);
    uint64_t passed_ms = now_ms() - start_ms;
    cr_expect_leq(tries, 1 + passed_ms / STORAGE_SPARES_REST_MS);
    cr_expect(!storage_spares_ready(&spares));
    storage_spares_release(&spares); /* and it does not wait for the rest's end */
    cr_expect_geq(atomic_load(&disk.removed), tries, "what lay half-done is gone");
}
