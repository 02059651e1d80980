/* date_test.c: the calendar against itself, day by day, and against dates that are known to be odd.
 */
#include "proto/base/date.h"

#include <criterion/criterion.h>

Test(date, every_day_of_ten_thousand_years_follows_the_one_before)
{
    const int64_t first = -719162; /* 0001-01-01 */
    const int64_t last = 2932896;  /* 9999-12-31 */
    struct date before = date_of_days(first);
    cr_assert(before.year == 1 && before.month == 1 && before.day == 1);
    for (int64_t day = first + 1; day <= last; day++) {
        struct date date = date_of_days(day);
        bool is_next_day =
            date.day == before.day + 1 && date.month == before.month && date.year == before.year;
        bool is_next_month =
            date.day == 1 && before.day == date_days_in_month(before.year, before.month) &&
            ((date.month == before.month + 1 && date.year == before.year) ||
             (date.month == 1 && before.month == 12 && date.year == before.year + 1));
        cr_assert(is_next_day || is_next_month, "%d-%d-%d", date.year, date.month, date.day);
        cr_assert_eq(date_to_days(date), day);
        before = date;
    }
    cr_expect(before.year == 9999 && before.month == 12 && before.day == 31);
}

Test(date, knows_leap_years)
{
    static const struct {
        struct date date;
        bool is_valid;
    } rows[] = {{{2024, 2, 29}, true},  {{2100, 2, 29}, false}, {{2000, 2, 29}, true},
                {{2026, 4, 31}, false}, {{2026, 13, 1}, false}, {{2026, 0, 1}, false},
                {{2026, 1, 0}, false},  {{2026, 12, 31}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(date_is_valid(rows[i].date), rows[i].is_valid, "row %zu", i);
    }
}
