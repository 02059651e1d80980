/*
 * number.h: decimal numbers of 34 digits with exact 64-bit integers as the fast path. Never binary
 * floating point.
 *
 * All functions take values of type NUMBER. Those that return false met an undefined result:
 * division by zero, a result out of range, the root of a negative number.
 */
#ifndef ENGINE_EXPRESSION_NUMBER_H
#define ENGINE_EXPRESSION_NUMBER_H

#include "engine/expression/value.h"

#define EXPRESSION_NUMBER_TEXT_BYTES 80u

enum expression_rounding {
    ROUND_HALF_EVEN,
    ROUND_HALF_UP, /* ties away from zero */
    ROUND_HALF_DOWN,
    ROUND_UP, /* away from zero */
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_CEILING,
};

/* [+-]digits[.digits][e[+-]digits], whole text, ".5" and "5." included; digits beyond the 34th are
 * rounded half-even. */
bool expression_number_parse(struct span text, struct expression_value *out);
struct expression_value expression_number_of_unsigned(uint64_t integer);
/* By the shortest decimal that reads back as the same double; false for NaN and infinities. */
bool expression_number_of_real(double real, struct expression_value *out);
/* Plain spelling without trailing zeros ("0.3"), with an exponent only where that is far shorter;
 * returns bytes written. */
size_t expression_number_format(struct expression_value number,
                                char out[EXPRESSION_NUMBER_TEXT_BYTES]);
/* Does it equal an integer of 64 bits, signed or unsigned? */
bool expression_number_to_integer(struct expression_value number, int64_t *out);
bool expression_number_to_unsigned(struct expression_value number, uint64_t *out);
/* Its whole part, if that is an integer of 64 bits. */
bool expression_number_truncate(struct expression_value number, int64_t *out);

int expression_number_compare(struct expression_value a, struct expression_value b);
int expression_number_sign(struct expression_value number);
struct expression_value expression_number_negate(struct expression_value number);

bool expression_number_add(struct expression_value a, struct expression_value b,
                           struct expression_value *out);
bool expression_number_subtract(struct expression_value a, struct expression_value b,
                                struct expression_value *out);
bool expression_number_multiply(struct expression_value a, struct expression_value b,
                                struct expression_value *out);
bool expression_number_divide(struct expression_value a, struct expression_value b,
                              struct expression_value *out);
/* Integral exponents by repeated multiplication, exact while the digits suffice. */
bool expression_number_power(struct expression_value base, struct expression_value exponent,
                             struct expression_value *out);
/* Remainder of the division rounded towards zero: the sign is that of `a` (Java, EL). */
bool expression_number_remainder(struct expression_value a, struct expression_value b,
                                 struct expression_value *out);
/* Remainder of the division rounded down: the sign is that of `b` (FEEL modulo). */
bool expression_number_modulo(struct expression_value a, struct expression_value b,
                              struct expression_value *out);
/* To `scale` digits after the point (before it when negative). */
bool expression_number_round(struct expression_value number, int64_t scale,
                             enum expression_rounding rounding, struct expression_value *out);
bool expression_number_sqrt(struct expression_value number, struct expression_value *out);
bool expression_number_exp(struct expression_value number, struct expression_value *out);
bool expression_number_log(struct expression_value number, struct expression_value *out);

#endif
