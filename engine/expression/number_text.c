/* number_text.c: numbers from text and to text. Digits beyond what a decimal128 holds are rounded
 * once, half-even. */
#include <stdio.h>
#include <stdlib.h>

#define DECIMAL_CALL_BY_REFERENCE      0
#define DECIMAL_GLOBAL_ROUNDING        0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

#include "engine/expression/number.h"
#include "engine/expression/number_parts.h"
#include "proto/base/assert.h"

#define PARSE_DIGITS                                                                               \
    36 /* two more than kept, then one sticky digit: enough to round once and rightly */
#define FEW_DIGITS     18 /* fit 64 bits */
#define EXPONENT_BYTES 8  /* "e-6176" and a NUL */
#define PLAIN_DIGITS   40 /* the longest plain spelling; beyond it an exponent is written */

/* What the digits of a text say, before any rounding. */
struct digits {
    struct number_parts parts;
    unsigned kept; /* significant digits in parts.significand */
    bool sticky;   /* a dropped digit was not zero */
    bool any;
};

/* Up to 18 digits are counted in 64 bits. */
static const uint8_t *read_few_digits(const uint8_t *next, const uint8_t *end, bool fraction,
                                      struct digits *digits)
{
    const uint8_t *first = next;
    uint64_t significand = (uint64_t)digits->parts.significand;
    unsigned kept = digits->kept;
    for (; next < end && *next >= '0' && *next <= '9' && kept < FEW_DIGITS; next++) {
        significand = significand * 10 + (*next - (unsigned)'0');
        kept += significand != 0;
    }
    digits->any |= next > first;
    digits->kept = kept;
    digits->parts.significand = significand;
    digits->parts.exponent -= fraction ? (int)(next - first) : 0;
    return next;
}

static const uint8_t *read_digits(const uint8_t *next, const uint8_t *end, bool fraction,
                                  struct digits *digits)
{
    if (digits->kept < FEW_DIGITS) {
        next = read_few_digits(next, end, fraction, digits);
    }
    for (; next < end && *next >= '0' && *next <= '9'; next++) {
        unsigned digit = *next - (unsigned)'0';
        digits->any = true;
        if (digits->kept < PARSE_DIGITS) {
            digits->parts.significand = digits->parts.significand * 10 + digit;
            digits->kept += digits->parts.significand != 0;
            digits->parts.exponent -= fraction;
        } else {
            digits->sticky |= digit != 0;
            digits->parts.exponent += !fraction;
        }
    }
    return next;
}

static bool read_exponent(const uint8_t *next, const uint8_t *end, int *exponent)
{
    bool negative = next < end && *next == '-';
    next += next < end && (*next == '-' || *next == '+');
    if (next == end) {
        return false;
    }
    int magnitude = 0;
    for (; next < end; next++) {
        if (*next < '0' || *next > '9') {
            return false;
        }
        magnitude = magnitude > 99999 ? magnitude : magnitude * 10 + (*next - '0');
    }
    *exponent += negative ? -magnitude : magnitude;
    return true;
}

/* More digits than are kept, or an exponent at the edge: the library rounds. */
static bool round_digits(const struct digits *digits, struct expression_value *out)
{
    char text[PARSE_DIGITS + 32];
    char significand[PARSE_DIGITS + 2];
    unsigned __int128 rest = digits->parts.significand;
    size_t at = sizeof significand - 1;
    significand[at] = '\0';
    do {
        significand[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest != 0);
    snprintf(text, sizeof text, "%s%s%sE%d", digits->parts.negative ? "-" : "", significand + at,
             digits->sticky ? "1" : "", digits->parts.exponent - (digits->sticky ? 1 : 0));
    unsigned flags = 0;
    BID_UINT128 bid = bid128_from_string(text, BID_ROUNDING_TO_NEAREST, &flags);
    if (!bid128_isFinite(bid)) {
        return false;
    }
    *out = (struct expression_value){.type = VALUE_NUMBER, .is_decimal = true};
    memcpy(&out->as.decimal, &bid, sizeof bid);
    return true;
}

bool expression_number_parse(struct span text, struct expression_value *out)
{
    const uint8_t *next = text.bytes;
    const uint8_t *end = text.bytes + text.count;
    struct digits digits = {0};
    if (next < end && (*next == '-' || *next == '+')) {
        digits.parts.negative = *next++ == '-';
    }
    next = read_digits(next, end, false, &digits);
    if (next < end && *next == '.') {
        next = read_digits(next + 1, end, true, &digits);
    }
    if (!digits.any) {
        return false;
    }
    if (next < end && (*next == 'e' || *next == 'E')) {
        if (!read_exponent(next + 1, end, &digits.parts.exponent)) {
            return false;
        }
    } else if (next < end) {
        return false;
    }
    struct number_parts *parts = &digits.parts;
    if (parts->exponent == 0 && !digits.sticky && parts->significand <= INT64_MAX) {
        int64_t magnitude = (int64_t)parts->significand;
        *out = expression_integer(parts->negative ? -magnitude : magnitude);
        return true;
    }
    if (parts->significand == 0) {
        *out = expression_integer(0);
        return true;
    }
    if (digits.kept <= NUMBER_DIGITS && !digits.sticky && parts->exponent >= NUMBER_EXPONENT_MIN &&
        parts->exponent <= NUMBER_EXPONENT_MAX) {
        *out = expression_number_of_parts(*parts);
        return true;
    }
    return round_digits(&digits, out);
}

struct expression_value expression_number_of_unsigned(uint64_t integer)
{
    if (integer <= INT64_MAX) {
        return expression_integer((int64_t)integer);
    }
    return expression_number_of_parts((struct number_parts){.significand = integer});
}

bool expression_number_of_real(double real, struct expression_value *out)
{
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, real);
        if (strtod(text, NULL) == real) {
            break;
        }
    }
    return expression_number_parse(span_text(text), out); /* "nan" and "inf" are no numbers to it */
}

/* Text under construction, of EXPRESSION_NUMBER_TEXT_BYTES at most. */
struct spelling {
    char *next;
};

static void put_text(struct spelling *spelling, const char *text, int count)
{
    memcpy(spelling->next, text, (size_t)count);
    spelling->next += count;
}

static void put_zeros(struct spelling *spelling, int count)
{
    memset(spelling->next, '0', (size_t)count);
    spelling->next += count;
}

/* Writes digits so that they end before `end`; returns the first. A part of 19 fits 64 bits. */
static char *put_digits_before(char *end, unsigned __int128 significand)
{
    const uint64_t part = UINT64_C(10000000000000000000);
    while (significand > UINT64_MAX) {
        uint64_t low = (uint64_t)(significand % part);
        significand /= part;
        for (int i = 0; i < 19; i++, low /= 10) {
            *--end = (char)('0' + low % 10);
        }
    }
    uint64_t high = (uint64_t)significand;
    do {
        *--end = (char)('0' + high % 10);
        high /= 10;
    } while (high != 0);
    return end;
}

static size_t format_parts(struct number_parts parts, char *out)
{
    char digits[NUMBER_DIGITS + 6];
    const char *first = put_digits_before(digits + sizeof digits, parts.significand);
    int count = (int)(digits + sizeof digits - first);
    int point = count + parts.exponent; /* digits before the decimal point */
    struct spelling spelling = {out};
    if (parts.negative) {
        put_text(&spelling, "-", 1);
    }
    if (parts.exponent >= 0 && point <= PLAIN_DIGITS) {
        put_text(&spelling, first, count);
        put_zeros(&spelling, parts.exponent);
    } else if (parts.exponent < 0 && point > 0) {
        put_text(&spelling, first, point);
        put_text(&spelling, ".", 1);
        put_text(&spelling, first + point, count - point);
    } else if (parts.exponent < 0 && -parts.exponent <= PLAIN_DIGITS) {
        put_text(&spelling, "0.", 2);
        put_zeros(&spelling, -point);
        put_text(&spelling, first, count);
    } else {
        put_text(&spelling, first, 1);
        put_text(&spelling, ".", count > 1);
        put_text(&spelling, first + 1, count - 1);
        spelling.next += snprintf(spelling.next, EXPONENT_BYTES, "e%d", point - 1);
    }
    ASSERT(spelling.next - out < (ptrdiff_t)EXPRESSION_NUMBER_TEXT_BYTES);
    return (size_t)(spelling.next - out);
}

/* The longest: a sign, all digits or a zero before PLAIN_DIGITS, a point, an exponent. */
_Static_assert(1 + 2 + PLAIN_DIGITS + NUMBER_DIGITS + 1 < EXPRESSION_NUMBER_TEXT_BYTES &&
                   1 + NUMBER_DIGITS + 1 + EXPONENT_BYTES <= EXPRESSION_NUMBER_TEXT_BYTES,
               "every spelling has room");

size_t expression_number_format(struct expression_value number,
                                char out[EXPRESSION_NUMBER_TEXT_BYTES])
{
    if (number.is_decimal) {
        return format_parts(expression_number_parts(number), out);
    }
    bool negative = number.as.integer < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)number.as.integer : (uint64_t)number.as.integer;
    return format_parts((struct number_parts){.negative = negative, .significand = magnitude}, out);
}
