#include "proto/base/result.h"

#include <string.h>

#include <criterion/criterion.h>

Test(result, every_value_has_its_own_phrase)
{
    for (int i = RESULT_OK; i <= RESULT_UNSUPPORTED; i++) {
        const char *text = result_text((enum result)i);
        cr_expect_str_neq(text, "unknown result", "value %d", i);
        for (int j = RESULT_OK; j < i; j++) {
            cr_expect_str_neq(text, result_text((enum result)j), "values %d and %d", i, j);
        }
    }
}

Test(result, a_value_outside_the_enum_is_named_unknown)
{
    cr_expect_str_eq(result_text((enum result)99), "unknown result");
}
