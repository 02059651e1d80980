/*
 * Timers that start processes, through power cuts: the power goes at each operation of the disk, so
 * also between a firing and its record, between the record and its answer, and while the definition
 * is being deployed. However that falls, a cycle of four makes four executions.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/simulate/engine_world.h"

enum { TIMES = 4, IDLE_MS = 8000 };

static const char tick[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"tick\" "
    "isExecutable=\"true\"><startEvent id=\"s\"><timerEventDefinition>"
    "<timeCycle>R4/PT1S</timeCycle></timerEventDefinition></startEvent><serviceTask id=\"work\"/>"
    "<endEvent id=\"e\"/><sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"work\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"work\" targetRef=\"e\"/></process></definitions>";

struct life {
    uint64_t seed;
    uint64_t stop_at;
    uint64_t stop_again_at; /* behind the first cut */
    enum power_cut_loss loss;
    bool killed; /* the first time it is the process that goes, and the power the second time */
};

/* Executions that the timer has made; *operations of the disk in the first part. */
static uint32_t live(const struct life *life, uint64_t *operations)
{
    struct engine_world *world = engine_world_new(&(struct engine_world_options){
        .seed = life->seed, .shard_count = 1 + life->seed % 3, .file = tick});
    engine_world_stop_at(world, life->stop_at);
    if (engine_world_start(world)) {
        engine_world_idle(world, IDLE_MS);
    }
    *operations = power_cut_files_operations(engine_world_disk(world));
    if (life->stop_at != UINT64_MAX) {
        if (life->killed) {
            engine_world_kill(world);
        } else {
            engine_world_cut(world, life->loss);
        }
        engine_world_stop_at(world, life->stop_again_at);
        if (engine_world_start(world)) {
            engine_world_idle(world, IDLE_MS);
        }
    }
    if (life->stop_again_at != UINT64_MAX) {
        engine_world_cut(world, life->loss);
        engine_world_stop_at(world, UINT64_MAX);
        cr_assert(engine_world_start(world));
        engine_world_idle(world, IDLE_MS);
    }
    uint32_t completed = engine_world_completed(world, "tick");
    cr_expect_eq(engine_world_corrupt(world), 0);
    engine_world_free(world);
    return completed;
}

static void every_instant(uint64_t seed, enum power_cut_loss loss)
{
    uint64_t operations;
    struct life whole = {.seed = seed, .stop_at = UINT64_MAX, .stop_again_at = UINT64_MAX};
    cr_assert_eq(live(&whole, &operations), TIMES);
    cr_assert_gt(operations, 20);
    for (uint64_t stop_at = 0; stop_at <= operations; stop_at++) {
        uint64_t unused;
        struct life life = {
            .seed = seed, .stop_at = stop_at, .stop_again_at = UINT64_MAX, .loss = loss};
        cr_assert_eq(live(&life, &unused), TIMES, "seed %d, cut at operation %d", (int)seed,
                     (int)stop_at);
        life.stop_again_at = stop_at + 7;
        cr_assert_eq(live(&life, &unused), TIMES, "seed %d, cut at operations %d and again",
                     (int)seed, (int)stop_at);
    }
}

Test(engine_timer, fires_as_often_as_its_cycle_says_wherever_the_power_goes)
{
    every_instant(1, POWER_CUT_LOSES_ALL);
    every_instant(2, POWER_CUT_LOSES_SOME);
}

/* What a kill left in the page cache only was acted on, and then the power went. */
Test(engine_timer, fires_as_often_as_its_cycle_says_through_a_kill_and_then_a_power_cut)
{
    uint64_t operations;
    struct life life = {
        .seed = 3, .stop_at = UINT64_MAX, .stop_again_at = UINT64_MAX, .loss = POWER_CUT_LOSES_ALL};
    cr_assert_eq(live(&life, &operations), TIMES);
    life.killed = true;
    for (life.stop_at = 0; life.stop_at <= operations; life.stop_at++) {
        for (uint64_t more = 2; more <= 32; more *= 2) {
            uint64_t unused;
            life.stop_again_at = life.stop_at + more;
            cr_assert_eq(live(&life, &unused), TIMES, "killed at operation %d, cut %d later",
                         (int)life.stop_at, (int)more);
        }
    }
}

Test(engine_timer, catches_up_with_one_firing_after_downtime)
{
    static const char minutely[] =
        "{\"id\":\"tick\",\"nodes\":[{\"id\":\"c\",\"type\":\"trigger_cron\",\"config\":{\"cron\":"
        "\"* * * * "
        "*\"}},{\"id\":\"e\",\"type\":\"end\"}],\"edges\":[{\"id\":\"1\",\"source\":\"c\","
        "\"target\":\"e\"}]}";
    struct engine_world *world = engine_world_new(
        &(struct engine_world_options){.seed = 5, .shard_count = 2, .file = minutely});
    cr_assert(engine_world_start(world));
    engine_world_idle(world, 3 * 60 * 1000);
    uint32_t before = engine_world_completed(world, "tick");
    cr_assert_eq(before, 3);

    engine_world_kill(world);
    engine_world_pass(world, 10 * 60 * 1000);
    cr_assert(engine_world_start(world));
    engine_world_idle(world, 1000);

    cr_expect_eq(engine_world_completed(world, "tick"), before + 1);
    engine_world_idle(world, 60 * 1000);
    cr_expect_eq(engine_world_completed(world, "tick"), before + 2);
    engine_world_free(world);
}
