#include "proto/base/assert.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include <criterion/criterion.h>

struct thing {
    uint32_t magic;
    int value;
};

enum { THING_MAGIC = 0x7468696e };

Test(assert, a_true_condition_goes_on)
{
    ASSERT(1 + 1 == 2);
}

Test(assert, a_false_condition_aborts, .signal = SIGABRT)
{
    ASSERT(1 + 1 == 3);
}

Test(assert, a_cast_gives_the_object_back_when_its_magic_fits)
{
    struct thing thing = {THING_MAGIC, 42};
    void *pointer = &thing;

    cr_expect_eq(BASE_CAST(thing, pointer, THING_MAGIC)->value, 42);
}

Test(assert, a_cast_of_another_object_aborts, .signal = SIGABRT)
{
    struct thing thing = {THING_MAGIC + 1, 42};
    void *pointer = &thing;

    exit(BASE_CAST(thing, pointer, THING_MAGIC)->value);
}

Test(assert, a_cast_of_null_aborts, .signal = SIGABRT)
{
    void *pointer = NULL;

    exit(BASE_CAST(thing, pointer, THING_MAGIC)->value);
}
