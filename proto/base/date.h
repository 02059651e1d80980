/*
 * date.h: days of the proleptic Gregorian calendar. Pure functions, any thread.
 */
#ifndef PROTO_BASE_DATE_H
#define PROTO_BASE_DATE_H

#include <stdbool.h>
#include <stdint.h>

struct date {
    int32_t year;
    uint8_t month; /* 1..12 */
    uint8_t day;   /* 1..31 */
};

bool date_is_valid(struct date date);
uint8_t date_days_in_month(int32_t year, uint8_t month);
/* Days since 1970-01-01 and back. */
int64_t date_to_days(struct date date);
struct date date_of_days(int64_t days);

#endif
