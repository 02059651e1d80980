/* function_temporal.c: FEEL's functions that make dates, times and durations or take them apart
 * (DMN 1.5 §10.3.4.1, §10.3.4.9). */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"
#include "engine/time/calendar.h"
#include "engine/time/zone.h"

#define ZONE_STEPS  64u /* a zone's table is read for each name */
#define NANOSECONDS 1000000000

const struct expression_zone *expression_find_zone(struct expression_evaluation *evaluation,
                                                   struct span name, uint32_t offset)
{
    const struct engine_names *names = evaluation->names;
    const struct engine_zone *rules = NULL;
    if (expression_pay(evaluation, ZONE_STEPS)) {
        bool universal = span_is(name, "UTC") || span_is(name, "Etc/UTC");
        rules = universal             ? &engine_zone_utc
                : names->zone == NULL ? NULL
                                      : names->zone(names, name, evaluation->arena);
    }
    struct expression_zone *zone = arena_alloc(evaluation->arena, sizeof *zone);
    if (rules == NULL || zone == NULL) {
        expression_warn(evaluation, offset, "unknown time zone \"%.*s\"", SPAN_ARG(name));
        return NULL;
    }
    *zone = (struct expression_zone){.name = name, .rules = rules};
    return zone;
}

/* Puts a value that was read without its zone into the zone of that name, if there is one. */
static struct expression_value with_zone(struct expression_evaluation *evaluation,
                                         struct expression_value value, struct span name,
                                         uint32_t offset)
{
    if (name.count == 0) {
        return value;
    }
    const struct expression_zone *zone = expression_find_zone(evaluation, name, offset);
    if (zone == NULL) {
        return expression_null();
    }
    value.zone = ZONE_NAMED;
    value.as.moment.zone = zone;
    return value;
}

struct expression_value expression_feel_zoned(struct expression_evaluation *evaluation,
                                              const struct expression_node *node)
{
    return with_zone(evaluation, *node->as.zoned.moment, node->as.zoned.zone, node->offset);
}

static struct expression_value refuse(struct expression_evaluation *evaluation, uint32_t offset,
                                      const char *what, struct expression_value value)
{
    return value.type == VALUE_STRING
               ? expression_warn(evaluation, offset, "this string is no %s", what)
               : expression_warn(evaluation, offset, "cannot make a %s of %s", what,
                                 expression_type_name(value.type));
}

/* A number without its fraction; false when it is none or too large. */
static bool whole(struct expression_value value, int64_t *out)
{
    return value.type == VALUE_NUMBER && expression_number_truncate(value, out);
}

static struct expression_value date_of(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value from = arguments[0];
    struct expression_value date;
    if (from.type == VALUE_DATE_TIME || from.type == VALUE_DATE) {
        return (struct expression_value){.type = VALUE_DATE, .as.days = expression_days_of(from)};
    }
    if (from.type == VALUE_STRING && expression_date_parse(from.as.text, &date)) {
        return date;
    }
    return refuse(evaluation, offset, "date", from);
}

static struct expression_value date_of_parts(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    int64_t year, month, day;
    struct expression_value date;
    if (whole(arguments[0], &year) && whole(arguments[1], &month) && whole(arguments[2], &day) &&
        expression_date_make(year, month, day, &date)) {
        return date;
    }
    return expression_warn(evaluation, offset, "there is no such date");
}

/* Of a date alone: its midnight, UTC. */
static struct expression_value time_of(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct span zone;
    struct expression_value from = arguments[0];
    struct expression_value time;
    bool made = true;
    if (from.type == VALUE_TIME) {
        return from;
    }
    if (from.type == VALUE_DATE_TIME) {
        return expression_time_of(from);
    }
    if (from.type == VALUE_DATE) {
        time = expression_time_of(from);
        made = expression_set_offset(&time, 0);
        return made ? time : expression_null();
    }
    if (from.type == VALUE_STRING && expression_time_parse(from.as.text, &time, &zone)) {
        return with_zone(evaluation, time, zone, offset);
    }
    return refuse(evaluation, offset, "time", from);
}

/* Seconds may have a fraction; the offset is a duration, or nothing. */
static struct expression_value time_of_parts(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    int64_t hour, minute, second, nanoseconds;
    struct expression_value fraction;
    struct expression_value time;
    struct expression_value zone = arguments[3];
    bool made = whole(arguments[0], &hour) && whole(arguments[1], &minute) &&
                whole(arguments[2], &second) &&
                expression_number_subtract(arguments[2], expression_integer(second), &fraction) &&
                expression_number_multiply(fraction, expression_integer(NANOSECONDS), &fraction) &&
                whole(fraction, &nanoseconds) && nanoseconds >= 0 &&
                expression_time_make(hour, minute, second, (uint32_t)nanoseconds, &time);
    bool local = zone.type == VALUE_ABSENT || zone.type == VALUE_NULL;
    if (!made || (!local && (zone.type != VALUE_DURATION || zone.count != 0 ||
                             !expression_set_offset(&time, zone.as.moment.seconds)))) {
        return expression_warn(evaluation, offset, "there is no such time");
    }
    return time;
}

static struct expression_value date_time_of(struct expression_evaluation *evaluation,
                                            const struct expression_value *arguments,
                                            uint32_t offset)
{
    struct span zone;
    struct expression_value from = arguments[0];
    struct expression_value value;
    if (from.type == VALUE_DATE_TIME) {
        return from;
    }
    if (from.type == VALUE_STRING && expression_date_time_parse(from.as.text, &value, &zone)) {
        return with_zone(evaluation, value, zone, offset);
    }
    return refuse(evaluation, offset, "date and time", from);
}

/* A date and a time; or, as in Camunda, a date and time and the name of a zone to see it from. */
static struct expression_value date_time_of_parts(struct expression_evaluation *evaluation,
                                                  const struct expression_value *arguments,
                                                  uint32_t offset)
{
    struct expression_value date = arguments[0];
    struct expression_value time = arguments[1];
    bool has_date = date.type == VALUE_DATE || date.type == VALUE_DATE_TIME;
    struct expression_value value;
    if (has_date && time.type == VALUE_TIME) {
        return expression_date_time_make(expression_days_of(date), time);
    }
    if (date.type == VALUE_DATE_TIME && time.type == VALUE_STRING) {
        const struct expression_zone *zone = expression_find_zone(evaluation, time.as.text, offset);
        if (zone != NULL && expression_in_zone(date, zone, &value)) {
            return value;
        }
        return zone == NULL ? expression_null() : with_zone(evaluation, date, time.as.text, offset);
    }
    return expression_warn(evaluation, offset, "cannot make a date and time of %s and %s",
                           expression_type_name(date.type), expression_type_name(time.type));
}

static struct expression_value duration_of(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    struct expression_value from = arguments[0];
    struct expression_value duration;
    if (from.type == VALUE_MONTHS || from.type == VALUE_DURATION) {
        return from;
    }
    if (from.type == VALUE_STRING && expression_duration_parse(from.as.text, &duration)) {
        return duration;
    }
    return refuse(evaluation, offset, "duration", from);
}

static struct expression_value months_between(struct expression_evaluation *evaluation,
                                              const struct expression_value *arguments,
                                              uint32_t offset)
{
    (void)evaluation;
    (void)offset;
    return expression_months_make(expression_months_between(arguments[0], arguments[1]));
}

static struct expression_value now(struct expression_evaluation *evaluation,
                                   const struct expression_value *arguments, uint32_t offset)
{
    int64_t unix_ms;
    const struct engine_names *names = evaluation->names;
    (void)arguments;
    if (names->clock == NULL || !names->clock(names, &unix_ms)) {
        return expression_warn(evaluation, offset, "there is no clock here");
    }
    return expression_date_time_of_unix(unix_ms);
}

static struct expression_value today(struct expression_evaluation *evaluation,
                                     const struct expression_value *arguments, uint32_t offset)
{
    struct expression_value moment = now(evaluation, arguments, offset);
    return moment.type == VALUE_NULL ? moment : date_of(evaluation, &moment, offset);
}

static int64_t first_of_year(int32_t year)
{
    return date_to_days((struct date){year, 1, 1});
}

static struct expression_value day_of_year(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    int64_t days = expression_days_of(arguments[0]);
    (void)evaluation;
    (void)offset;
    return expression_integer(days - first_of_year(date_of_days(days).year) + 1);
}

static struct expression_value day_of_week(struct expression_evaluation *evaluation,
                                           const struct expression_value *arguments,
                                           uint32_t offset)
{
    static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
    (void)evaluation;
    (void)offset;
    return expression_string(
        span_text(names[engine_weekday_of_days(expression_days_of(arguments[0]))]));
}

static struct expression_value month_of_year(struct expression_evaluation *evaluation,
                                             const struct expression_value *arguments,
                                             uint32_t offset)
{
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    (void)evaluation;
    (void)offset;
    return expression_string(
        span_text(names[date_of_days(expression_days_of(arguments[0])).month - 1]));
}

/* ISO 8601: a week belongs to the year that has its Thursday. */
static struct expression_value week_of_year(struct expression_evaluation *evaluation,
                                            const struct expression_value *arguments,
                                            uint32_t offset)
{
    int64_t days = expression_days_of(arguments[0]);
    int64_t from_monday = (engine_weekday_of_days(days) + 6) % 7;
    int64_t thursday = days - from_monday + 3;
    (void)evaluation;
    (void)offset;
    return expression_integer((thursday - first_of_year(date_of_days(thursday).year)) / 7 + 1);
}

/* Camunda's. */
static struct expression_value last_day_of_month(struct expression_evaluation *evaluation,
                                                 const struct expression_value *arguments,
                                                 uint32_t offset)
{
    int64_t days = expression_days_of(arguments[0]);
    struct date date = date_of_days(days);
    struct expression_value last = {.type = VALUE_DATE};
    (void)evaluation;
    (void)offset;
    last.as.days = days + date_days_in_month(date.year, date.month) - date.day;
    return last;
}

const struct expression_function expression_temporal_functions[] = {
    {"date", "v", 1, "from", date_of},
    {"date", "nnn", 3, "year,month,day", date_of_parts},
    {"time", "v", 1, "from", time_of},
    {"time", "nnnv", 3, "hour,minute,second,offset", time_of_parts},
    {"date and time", "v", 1, "from", date_time_of},
    {"date and time", "vv", 2, "date,time", date_time_of_parts},
    {"duration", "v", 1, "from", duration_of},
    {"years and months duration", "dd", 2, "from,to", months_between},
    {"now", "", 0, "", now},
    {"today", "", 0, "", today},
    {"day of year", "d", 1, "date", day_of_year},
    {"day of week", "d", 1, "date", day_of_week},
    {"month of year", "d", 1, "date", month_of_year},
    {"week of year", "d", 1, "date", week_of_year},
    {"last day of month", "d", 1, "date", last_day_of_month},
    {0},
};
