/* date.c: see date.h. */
#include "proto/base/date.h"

#include "proto/base/assert.h"

static bool is_leap(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

uint8_t date_days_in_month(int32_t year, uint8_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    ASSERT(month >= 1 && month <= 12);
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

bool date_is_valid(struct date date)
{
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= date_days_in_month(date.year, date.month);
}

/* Eras of 400 years that begin on March 1st (Hinnant, "chrono-compatible low-level date
 * algorithms"). */
int64_t date_to_days(struct date date)
{
    int64_t year = (int64_t)date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month = (int64_t)date.month + (date.month > 2 ? -3 : 9);
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

struct date date_of_days(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    return (struct date){
        .year = (int32_t)(year_of_era + era * 400 + (month <= 2)),
        .month = (uint8_t)month,
        .day = (uint8_t)(day_of_year - (153 * shifted + 2) / 5 + 1),
    };
}
