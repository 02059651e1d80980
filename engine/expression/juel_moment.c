/* juel_moment.c: what files call on now() and dateTime(), which are Java's dates and Joda's: steps
 * forth and back, and the way to plain dates. */
#include "engine/expression/juel_method.h"
#include "engine/expression/number.h"
#include "engine/expression/temporal.h"

static const struct {
    const char *name;
    int64_t seconds; /* or */
    int64_t months;
} units[] = {
    {"Seconds", 1, 0},       {"Minutes", 60, 0}, {"Hours", 3600, 0}, {"Days", 86400, 0},
    {"Weeks", 7 * 86400, 0}, {"Months", 0, 1},   {"Years", 0, 12},
};

enum { AMOUNT_MAX = 1000000000 };

/* plusDays(3), minusMonths(1): by the calendar for months, by the instant else. */
static struct expression_value shift(const struct juel_invocation *call)
{
    bool forth = span_starts_with(call->name, "plus");
    size_t prefix = forth ? 4 : 5;
    struct span unit = span_of(call->name.bytes + prefix, call->name.count - prefix);
    struct expression_value moved = expression_null();
    int64_t amount;
    if (!expression_number_to_integer(call->arguments[0], &amount) || amount > AMOUNT_MAX ||
        amount < -AMOUNT_MAX) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "%.*s wants a whole number", SPAN_ARG(call->name));
    }
    amount = forth ? amount : -amount;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct expression_value step = units[i].months == 0
                                           ? expression_duration_make(amount * units[i].seconds, 0)
                                           : expression_months_make(amount * units[i].months);
        if (span_is(unit, units[i].name) &&
            !expression_temporal_add(call->receiver, step, &moved)) {
            return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                                   "there is no such date");
        }
    }
    return moved;
}

static struct expression_value itself(const struct juel_invocation *call)
{
    return call->receiver;
}

#define SHIFTS(unit)                                                                               \
    {"plus" unit, VALUE_DATE_TIME, 1, 1, shift},                                                   \
    {                                                                                              \
        "minus" unit, VALUE_DATE_TIME, 1, 1, shift                                                 \
    }

const struct juel_method expression_moment_methods[] = {
    SHIFTS("Seconds"),
    SHIFTS("Minutes"),
    SHIFTS("Hours"),
    SHIFTS("Days"),
    SHIFTS("Weeks"),
    SHIFTS("Months"),
    SHIFTS("Years"),
    {"toDate", VALUE_DATE_TIME, 0, 0, itself},
    {"toDateTime", VALUE_DATE_TIME, 0, 0, itself},
    {0},
};
