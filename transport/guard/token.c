/*
 * token.c: compares tokens without an early exit: all of them, each over the whole length of what
 * was given.
 */
#include "transport/guard/token.h"

static bool equal_in_constant_time(struct span given, struct span token);

bool transport_token_accepted(const char *const *tokens, size_t count, struct span given)
{
    bool accepted = count == 0;
    for (size_t index = 0; index < count && given.count <= TRANSPORT_TOKEN_BYTES_MAX; index++) {
        accepted |= equal_in_constant_time(given, span_text(tokens[index]));
    }
    return accepted;
}

/* The volatile accumulator keeps the compiler from leaving the loop at the first difference. */
static bool equal_in_constant_time(struct span given, struct span token)
{
    volatile unsigned difference = given.count == token.count ? 0u : 1u;
    for (size_t index = 0; index < given.count; index++) {
        uint8_t expected = token.count == 0 ? 0 : token.bytes[index % token.count];
        difference = difference | (unsigned)(given.bytes[index] ^ expected);
    }
    return difference == 0 && token.count > 0;
}
