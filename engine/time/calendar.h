/*
 * calendar.h: the proleptic Gregorian calendar in UTC, on Unix milliseconds. Pure functions, any
 * thread. Instants are kept within years 1 to 9999: whatever goes beyond saturates, so a far date
 * is never an early one.
 */
#ifndef ENGINE_TIME_CALENDAR_H
#define ENGINE_TIME_CALENDAR_H

#include "proto/base/date.h"

#define CALENDAR_LEAST_MS (-62135596800000) /* 0001-01-01T00:00:00.000Z */
#define CALENDAR_MOST_MS  253402300799999   /* 9999-12-31T23:59:59.999Z */
#define CALENDAR_DAY_MS   86400000

/* 0 (Sunday) to 6, of days since 1970-01-01. */
unsigned engine_weekday_of_days(int64_t days);

/*
 * `unix_ms` moved by whole months, then by milliseconds. A day that the target month does not have
 * becomes its last one (2024-03-31 - 1 month = 2024-02-29). Saturates at CALENDAR_LEAST_MS and
 * CALENDAR_MOST_MS.
 */
int64_t engine_calendar_add(int64_t unix_ms, int64_t months, int64_t ms);

#endif
