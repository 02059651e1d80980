/* token_test.c: which tokens are accepted. */
#include <criterion/criterion.h>

#include "transport/guard/token.h"

static const char *const tokens[] = {"first-token", "second"};

Test(token, is_not_asked_for_when_none_is_configured)
{
    cr_assert(transport_token_accepted(NULL, 0, SPAN_EMPTY));
}

Test(token, is_accepted_when_it_is_any_of_the_configured_ones)
{
    cr_assert(transport_token_accepted(tokens, 2, span_text("first-token")));
    cr_assert(transport_token_accepted(tokens, 2, span_text("second")));
}

Test(token, is_refused_when_absent_cut_longer_or_different)
{
    static const char *const wrong[] = {"",       "secon",      "second2", "secondsecond",
                                        "Second", "first-tokem"};
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        cr_assert_not(transport_token_accepted(tokens, 2, span_text(wrong[index])), "%s",
                      wrong[index]);
    }
}

Test(token, is_refused_unread_when_it_is_too_long)
{
    static char longest[TRANSPORT_TOKEN_BYTES_MAX + 2];
    memset(longest, 'x', TRANSPORT_TOKEN_BYTES_MAX);
    const char *const one[] = {longest};
    cr_assert(transport_token_accepted(one, 1, span_text(longest)));
    longest[TRANSPORT_TOKEN_BYTES_MAX] = 'x';
    cr_assert_not(transport_token_accepted(one, 1, span_text(longest)));
}

Test(token, empty_in_the_configuration_opens_nothing)
{
    static const char *const empty[] = {""};
    cr_assert_not(transport_token_accepted(empty, 1, SPAN_EMPTY));
}
