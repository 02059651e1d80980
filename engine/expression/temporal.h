/*
 * temporal.h: dates, times, date-times and the two kinds of duration (DMN 1.5 §10.3.2.3). Pure
 * functions on values of those types.
 *
 * Years run from -999999999 to 999999999; what leaves that range is refused (false). Fractions of a
 * second are kept to the nanosecond. A date alone counts as midnight UTC where it meets a moment.
 */
#ifndef ENGINE_EXPRESSION_TEMPORAL_H
#define ENGINE_EXPRESSION_TEMPORAL_H

#include "engine/expression/value.h"

#define EXPRESSION_TEMPORAL_TEXT_BYTES 160u
#define EXPRESSION_ZONE_NAME_BYTES     64u
#define EXPRESSION_DAY_SECONDS         86400

/*
 * Readers of texts, whole ("2024-02-29", "10:30:00.5+02:00", "P1DT2H"). Where a zone is named
 * behind '@' the value is left without one and *zone is the name, borrowed; else *zone is empty.
 */
bool expression_date_parse(struct span text, struct expression_value *out);
bool expression_time_parse(struct span text, struct expression_value *out, struct span *zone);
/* A date alone is its midnight. */
bool expression_date_time_parse(struct span text, struct expression_value *out, struct span *zone);
bool expression_duration_parse(struct span text, struct expression_value *out);
/* Any of these, as in @"…". */
bool expression_temporal_parse(struct span text, struct expression_value *out, struct span *zone);
/* ISO 8601, a named zone behind '@'; returns bytes written. */
size_t expression_temporal_format(struct expression_value value,
                                  char out[EXPRESSION_TEMPORAL_TEXT_BYTES]);

/* From parts; false when there is no such date or time. */
bool expression_date_make(int64_t year, int64_t month, int64_t day, struct expression_value *out);
/* 24:00:00 is 00:00:00. */
bool expression_time_make(int64_t hour, int64_t minute, int64_t second, uint32_t nanoseconds,
                          struct expression_value *out);
/* Gives a time or date-time an offset; false beyond 18 hours. */
bool expression_set_offset(struct expression_value *value, int64_t offset_s);
/* A date and the time of a day, whose zone it takes. */
struct expression_value expression_date_time_make(int64_t days, struct expression_value time);
struct expression_value expression_months_make(int64_t months);
struct expression_value expression_duration_make(int64_t seconds, uint32_t nanoseconds);
/* An instant in UTC. */
struct expression_value expression_date_time_of_unix(int64_t unix_ms);

/* Of a DATE or DATE_TIME: its day since 1970-01-01; its time of day, which of a DATE is midnight,
 * local. */
int64_t expression_days_of(struct expression_value value);
struct expression_value expression_time_of(struct expression_value date_time);
/* Seconds east of UTC of a TIME or DATE_TIME with a zone. */
int64_t expression_offset_of(struct expression_value value);
/* The same instant elsewhere; `zone` NULL: UTC. */
bool expression_in_zone(struct expression_value date_time, const struct expression_zone *zone,
                        struct expression_value *out);

/* Order of two values of one type, to the nanosecond; false where one has a zone and the other has
 * none. */
bool expression_temporal_order(struct expression_value a, struct expression_value b, int *order);
/* FEEL's "=" of two values of one type: in whole seconds (value_t and value_dt of DMN 1.5
 * §10.3.2.3.4 and .5). */
bool expression_temporal_equal(struct expression_value a, struct expression_value b);
/* FEEL's is(): all parts equal, zones too. */
bool expression_temporal_is(struct expression_value a, struct expression_value b);

/* DMN 1.5 tables 51 to 53. False: these two have no such result. */
bool expression_temporal_add(struct expression_value a, struct expression_value b,
                             struct expression_value *out);
bool expression_temporal_subtract(struct expression_value a, struct expression_value b,
                                  struct expression_value *out);
bool expression_temporal_multiply(struct expression_value a, struct expression_value b,
                                  struct expression_value *out);
bool expression_temporal_divide(struct expression_value a, struct expression_value b,
                                struct expression_value *out);
/* Of a duration. */
struct expression_value expression_temporal_negate(struct expression_value duration);
bool expression_temporal_is_negative(struct expression_value duration);
/* Whole months from one date or date-time to another, towards zero. */
int64_t expression_months_between(struct expression_value from, struct expression_value to);

/* A property of such a value ("year", "time offset"); false when it has none of that name. Texts
 * are borrowed. */
bool expression_temporal_property(struct expression_value value, struct span name,
                                  struct expression_value *out);

#endif
