/* number_parts.h: a decimal128 taken apart: what arithmetic and text of numbers share. Private to
 * number.c, number_text.c. */
#ifndef ENGINE_EXPRESSION_NUMBER_PARTS_H
#define ENGINE_EXPRESSION_NUMBER_PARTS_H

#include "engine/expression/value.h"

#define NUMBER_DIGITS 34
#define NUMBER_EXPONENT_MAX                                                                        \
    6111 /* IEEE 754-2008 table 3.6, exponent of the integer significand                           \
          */
#define NUMBER_EXPONENT_MIN (-6176)

struct number_parts {
    bool negative;
    unsigned __int128 significand; /* at most NUMBER_DIGITS digits */
    int exponent;
};

/* Of a decimal; trailing zeros are moved to the exponent, zero is 0e0. */
struct number_parts expression_number_parts(struct expression_value number);
struct expression_value expression_number_of_parts(struct number_parts parts);

#endif
