/*
 * number.c: decimal128 by the Intel RDFP library (call by value, rounding and flags as arguments:
 * libbidgcc000).
 *
 * Invariant: a NUMBER is finite. Integers stay int64_t while nothing overflows; everything else is
 * decimal128. The two mix freely and compare by value.
 */
#include "engine/expression/number.h"

#define DECIMAL_CALL_BY_REFERENCE      0
#define DECIMAL_GLOBAL_ROUNDING        0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

#include "engine/expression/number_parts.h"
#include "proto/base/assert.h"

#define POWER_MAX       1000000000
#define SCALE_SHORT_MAX 18
#define NO_FLAGS        (&(unsigned){0})
#define NEAREST_EVEN    BID_ROUNDING_TO_NEAREST

typedef unsigned __int128 uint128;

static BID_UINT128 bid_of(struct expression_value number)
{
    BID_UINT128 bid;
    if (!number.is_decimal) {
        return bid128_from_int64(number.as.integer);
    }
    memcpy(&bid, &number.as.decimal, sizeof bid);
    return bid;
}

static bool value_of(BID_UINT128 bid, struct expression_value *out)
{
    if (!bid128_isFinite(bid)) {
        return false;
    }
    *out = (struct expression_value){.type = VALUE_NUMBER, .is_decimal = true};
    memcpy(&out->as.decimal, &bid, sizeof bid);
    return true;
}

struct number_parts expression_number_parts(struct expression_value number)
{
    ASSERT(number.is_decimal);
    uint64_t high = number.as.decimal.words[1];
    struct number_parts parts = {
        .negative = (high >> 63) != 0,
        .exponent = (int)((high >> 49) & 0x3fff) + NUMBER_EXPONENT_MIN,
        .significand =
            (uint128)(high & ((UINT64_C(1) << 49) - 1)) << 64 | number.as.decimal.words[0],
    };
    while (parts.significand > UINT64_MAX && parts.significand % 10 == 0) {
        parts.significand /= 10;
        parts.exponent++;
    }
    if (parts.significand <= UINT64_MAX) { /* nearly all do, and divide much faster */
        uint64_t significand = (uint64_t)parts.significand;
        while (significand != 0 && significand % 10 == 0) {
            significand /= 10;
            parts.exponent++;
        }
        parts.significand = significand;
    }
    if (parts.significand == 0) {
        parts.exponent = 0;
        parts.negative = false;
    }
    return parts;
}

struct expression_value expression_number_of_parts(struct number_parts parts)
{
    ASSERT(parts.exponent >= NUMBER_EXPONENT_MIN && parts.exponent <= NUMBER_EXPONENT_MAX);
    struct expression_value value = {.type = VALUE_NUMBER, .is_decimal = true};
    value.as.decimal.words[0] = (uint64_t)parts.significand;
    value.as.decimal.words[1] = (uint64_t)(parts.significand >> 64) |
                                (uint64_t)(parts.exponent - NUMBER_EXPONENT_MIN) << 49 |
                                (uint64_t)parts.negative << 63;
    return value;
}

/* The magnitude when the number is integral and below 2^64. */
static bool integral(struct expression_value number, bool *negative, uint64_t *magnitude)
{
    struct number_parts parts = expression_number_parts(number);
    for (; parts.exponent > 0 && parts.significand <= UINT64_MAX; parts.exponent--) {
        parts.significand *= 10;
    }
    *negative = parts.negative;
    *magnitude = (uint64_t)parts.significand;
    return parts.exponent == 0 && parts.significand <= UINT64_MAX;
}

bool expression_number_to_integer(struct expression_value number, int64_t *out)
{
    if (!number.is_decimal) {
        *out = number.as.integer;
        return true;
    }
    bool negative;
    uint64_t magnitude;
    if (!integral(number, &negative, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool expression_number_to_unsigned(struct expression_value number, uint64_t *out)
{
    bool negative;
    if (!number.is_decimal) {
        *out = (uint64_t)number.as.integer;
        return number.as.integer >= 0;
    }
    return integral(number, &negative, out) && !negative;
}

/* As most numbers are written: digits that fit 64 bits, up to 18 of them behind the point. */
static inline bool is_short(const struct expression_value *number, int64_t *digits, unsigned *scale)
{
    uint64_t low = number->as.decimal.words[0];
    uint64_t high = number->as.decimal.words[1];
    int exponent = (int)((high >> 49) & 0x3fff) + NUMBER_EXPONENT_MIN;
    if (!number->is_decimal) {
        *digits = number->as.integer;
        *scale = 0;
        return true;
    }
    if (low > INT64_MAX || (high & ((UINT64_C(1) << 49) - 1)) != 0 || exponent > 0 ||
        exponent < -SCALE_SHORT_MAX) {
        return false;
    }
    *digits = high >> 63 != 0 ? -(int64_t)low : (int64_t)low;
    *scale = (unsigned)-exponent;
    return true;
}

int expression_number_compare(struct expression_value a, struct expression_value b)
{
    static const int64_t tens[SCALE_SHORT_MAX + 1] = {
        1,
        10,
        100,
        1000,
        10000,
        100000,
        1000000,
        10000000,
        100000000,
        1000000000,
        10000000000,
        100000000000,
        1000000000000,
        10000000000000,
        100000000000000,
        1000000000000000,
        10000000000000000,
        100000000000000000,
        1000000000000000000,
    };
    int64_t a_digits, b_digits;
    unsigned a_scale, b_scale;
    if (is_short(&a, &a_digits, &a_scale) && is_short(&b, &b_digits, &b_scale)) {
        __int128 left = (__int128)a_digits * tens[b_scale]; /* below 2^63 * 10^18 < 2^123 */
        __int128 right = (__int128)b_digits * tens[a_scale];
        return (left > right) - (left < right);
    }
    BID_UINT128 left = bid_of(a);
    BID_UINT128 right = bid_of(b);
    return bid128_quiet_greater(left, right, NO_FLAGS) - bid128_quiet_less(left, right, NO_FLAGS);
}

int expression_number_sign(struct expression_value number)
{
    return expression_number_compare(number, expression_integer(0));
}

struct expression_value expression_number_negate(struct expression_value number)
{
    struct expression_value negated;
    if (!number.is_decimal && number.as.integer != INT64_MIN) {
        return expression_integer(-number.as.integer);
    }
    bool finite = value_of(bid128_negate(bid_of(number)), &negated);
    ASSERT(finite);
    return negated;
}

bool expression_number_add(struct expression_value a, struct expression_value b,
                           struct expression_value *out)
{
    int64_t sum;
    if (!a.is_decimal && !b.is_decimal &&
        !__builtin_add_overflow(a.as.integer, b.as.integer, &sum)) {
        *out = expression_integer(sum);
        return true;
    }
    return value_of(bid128_add(bid_of(a), bid_of(b), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_subtract(struct expression_value a, struct expression_value b,
                                struct expression_value *out)
{
    int64_t difference;
    if (!a.is_decimal && !b.is_decimal &&
        !__builtin_sub_overflow(a.as.integer, b.as.integer, &difference)) {
        *out = expression_integer(difference);
        return true;
    }
    return value_of(bid128_sub(bid_of(a), bid_of(b), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_multiply(struct expression_value a, struct expression_value b,
                                struct expression_value *out)
{
    int64_t product;
    if (!a.is_decimal && !b.is_decimal &&
        !__builtin_mul_overflow(a.as.integer, b.as.integer, &product)) {
        *out = expression_integer(product);
        return true;
    }
    return value_of(bid128_mul(bid_of(a), bid_of(b), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_divide(struct expression_value a, struct expression_value b,
                              struct expression_value *out)
{
    if (expression_number_sign(b) == 0) {
        return false;
    }
    if (!a.is_decimal && !b.is_decimal && b.as.integer != -1 && a.as.integer % b.as.integer == 0) {
        *out = expression_integer(a.as.integer / b.as.integer);
        return true;
    }
    return value_of(bid128_div(bid_of(a), bid_of(b), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_power(struct expression_value base, struct expression_value exponent,
                             struct expression_value *out)
{
    int64_t count;
    if (!expression_number_to_integer(exponent, &count) || count > POWER_MAX ||
        count < -POWER_MAX) {
        return value_of(bid128_pow(bid_of(base), bid_of(exponent), NEAREST_EVEN, NO_FLAGS), out);
    }
    struct expression_value power = expression_integer(1);
    struct expression_value square = base;
    for (uint64_t left = (uint64_t)(count < 0 ? -count : count); left > 0;) {
        if ((left & 1) != 0 && !expression_number_multiply(power, square, &power)) {
            return false;
        }
        left >>= 1;
        if (left > 0 && !expression_number_multiply(square, square, &square)) {
            return false;
        }
    }
    if (count < 0) {
        return expression_number_divide(expression_integer(1), power, out);
    }
    *out = power;
    return true;
}

bool expression_number_remainder(struct expression_value a, struct expression_value b,
                                 struct expression_value *out)
{
    if (expression_number_sign(b) == 0) {
        return false;
    }
    if (!a.is_decimal && !b.is_decimal) {
        *out = expression_integer(b.as.integer == -1 ? 0 : a.as.integer % b.as.integer);
        return true;
    }
    return value_of(bid128_fmod(bid_of(a), bid_of(b), NO_FLAGS), out);
}

bool expression_number_modulo(struct expression_value a, struct expression_value b,
                              struct expression_value *out)
{
    if (!expression_number_remainder(a, b, out)) {
        return false;
    }
    if (expression_number_sign(*out) * expression_number_sign(b) < 0) {
        return expression_number_add(*out, b, out);
    }
    return true;
}

/* The library has no half-down: away from zero only when more than half is cut off. */
static BID_UINT128 quantize_half_down(BID_UINT128 bid, BID_UINT128 unit)
{
    BID_UINT128 cut = bid128_quantize(bid, unit, BID_ROUNDING_TO_ZERO, NO_FLAGS);
    BID_UINT128 rest = bid128_abs(bid128_sub(bid, cut, NEAREST_EVEN, NO_FLAGS));
    BID_UINT128 half = bid128_div(unit, bid128_from_int64(2), NEAREST_EVEN, NO_FLAGS);
    bool negative = bid128_isSigned(bid) != 0;
    if (!bid128_quiet_greater(rest, half, NO_FLAGS)) {
        return cut;
    }
    return bid128_quantize(bid, unit, negative ? BID_ROUNDING_DOWN : BID_ROUNDING_UP, NO_FLAGS);
}

bool expression_number_round(struct expression_value number, int64_t scale,
                             enum expression_rounding rounding, struct expression_value *out)
{
    if (scale > -NUMBER_EXPONENT_MIN || scale < -NUMBER_EXPONENT_MAX) {
        return false;
    }
    if (!number.is_decimal && scale >= 0) {
        *out = number;
        return true;
    }
    BID_UINT128 bid = bid_of(number);
    BID_UINT128 unit = bid_of(expression_number_of_parts(
        (struct number_parts){.significand = 1, .exponent = -(int)scale}));
    bool negative = bid128_isSigned(bid) != 0;
    const _IDEC_round modes[] = {
        [ROUND_HALF_EVEN] = NEAREST_EVEN,
        [ROUND_HALF_UP] = BID_ROUNDING_TIES_AWAY,
        [ROUND_HALF_DOWN] = NEAREST_EVEN,
        [ROUND_DOWN] = BID_ROUNDING_TO_ZERO,
        [ROUND_FLOOR] = BID_ROUNDING_DOWN,
        [ROUND_CEILING] = BID_ROUNDING_UP,
        [ROUND_UP] = negative ? BID_ROUNDING_DOWN : BID_ROUNDING_UP,
    };
    BID_UINT128 rounded = rounding == ROUND_HALF_DOWN
                              ? quantize_half_down(bid, unit)
                              : bid128_quantize(bid, unit, modes[rounding], NO_FLAGS);
    if (!value_of(rounded, out)) {
        *out = number; /* too long for that many places: it has none to lose */
    }
    return true;
}

bool expression_number_truncate(struct expression_value number, int64_t *out)
{
    return expression_number_round(number, 0, ROUND_DOWN, &number) &&
           expression_number_to_integer(number, out);
}

bool expression_number_sqrt(struct expression_value number, struct expression_value *out)
{
    return value_of(bid128_sqrt(bid_of(number), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_exp(struct expression_value number, struct expression_value *out)
{
    return value_of(bid128_exp(bid_of(number), NEAREST_EVEN, NO_FLAGS), out);
}

bool expression_number_log(struct expression_value number, struct expression_value *out)
{
    return expression_number_sign(number) > 0 &&
           value_of(bid128_log(bid_of(number), NEAREST_EVEN, NO_FLAGS), out);
}
