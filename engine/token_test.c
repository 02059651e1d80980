#include <criterion/criterion.h>

#include "engine/token.h"

/*
 * The token's life once more, as text: for each state the events that may happen in it. Every other
 * cell is ILLEGAL, and that is tried too.
 */
static const struct {
    enum engine_token_state state;
    const char *events;
} legal[] = {
    {ENGINE_TOKEN_GONE, ""},
    {ENGINE_TOKEN_ARRIVED, "entered|joined|consumed|caught|listens|failed|cancelled|"},
    {ENGINE_TOKEN_ENTERED, "completed|called|waits|scope opened|consumed|failed|cancelled|"},
    {ENGINE_TOKEN_ANSWERED, "completed|called|waits|scope opened|consumed|failed|cancelled|"},
    {ENGINE_TOKEN_RETURNING, "completed|failed|cancelled|"},
    {ENGINE_TOKEN_LEAVING, "left|linked|consumed|failed|cancelled|"},
    {ENGINE_TOKEN_CALLING, "answered|cancelled|"},
    {ENGINE_TOKEN_WAITING, "callback|timed out|woken|caught|completed|cancelled|"},
    {ENGINE_TOKEN_INSIDE, "scope spent|cancelled|"},
    {ENGINE_TOKEN_FAILED, "retried|cancelled|"},
    {ENGINE_TOKEN_LISTENING, "cancelled|"},
};

static bool is_listed(const char *events, const char *name)
{
    size_t count = strlen(name);
    for (const char *at = events; *at != '\0'; at = strchr(at, '|') + 1) {
        if (strncmp(at, name, count) == 0 && at[count] == '|') {
            return true;
        }
    }
    return false;
}

Test(token, every_event_is_legal_exactly_where_the_picture_says)
{
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        struct engine_token token = {.state = (uint8_t)legal[i].state};
        for (enum engine_event_type event = ENGINE_EVENT_NONE; event < ENGINE_EVENT_TYPE_COUNT;
             event++) {
            cr_expect_eq(engine_token_may(&token, event),
                         is_listed(legal[i].events, engine_event_name(event)), "%s in %s",
                         engine_event_name(event), engine_token_state_name(token.state));
        }
    }
    cr_expect_eq(sizeof legal / sizeof legal[0], ENGINE_TOKEN_STATE_COUNT);
}

Test(token, states_are_read_by_the_names_that_they_are_written_with)
{
    for (uint8_t state = ENGINE_TOKEN_ARRIVED; state < ENGINE_TOKEN_STATE_COUNT; state++) {
        cr_expect_eq(engine_token_state_parse(span_text(engine_token_state_name(state))), state);
    }
    cr_expect_eq(engine_token_state_parse(span_text("gone")), ENGINE_TOKEN_GONE);
    cr_expect_eq(engine_token_state_parse(SPAN_EMPTY), ENGINE_TOKEN_GONE);
}
