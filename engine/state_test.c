#include <criterion/criterion.h>

#include "engine/engine.h"

/* Seed 000's documented sums, and the priorities of its status table. */
Test(state, status_follows_the_priorities_of_seed_000)
{
    static const struct {
        uint8_t state;
        const char *status;
    } rows[] = {{0, "Unknown"},  {1, "Running"},    {5, "Waiting"}, {3, "Waiting"},
                {65, "Running"}, {40, "Completed"}, {24, "Error"},  {17, "Error"},
                {56, "Error"},   {8, "Stopped"},    {69, "Waiting"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_str_eq(engine_status_name(rows[i].state), rows[i].status, "%u", rows[i].state);
    }
}
