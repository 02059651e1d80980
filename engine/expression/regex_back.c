/* regex_back.c: patterns with back-references, one way after the other. It may take many steps, but
 * each is paid for. */
#include "engine/expression/regex.h"
#include "engine/expression/text.h"
#include "proto/base/assert.h"

/* Somewhere to go on from, or a slot to put back on the way there. */
struct choice {
    uint32_t place;
    uint32_t at;   /* in the text; for a slot its former value */
    uint32_t slot; /* UINT32_MAX: go on at `place` */
};

struct backtracker {
    struct regex_search *search;
    uint32_t *slots; /* all of the regex, those of loops too */
    struct choice *choices;
    uint32_t count;
    uint32_t capacity;
};

static void push(struct backtracker *tracker, struct choice choice)
{
    struct expression_evaluation *evaluation = tracker->search->evaluation;
    if (tracker->count == tracker->capacity) {
        uint32_t capacity = tracker->capacity == 0 ? 64 : tracker->capacity * 2;
        struct choice *choices =
            arena_grow(evaluation->arena, tracker->choices, tracker->capacity * sizeof *choices,
                       capacity * sizeof *choices);
        if (choices == NULL) {
            expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
            return;
        }
        tracker->choices = choices;
        tracker->capacity = capacity;
    }
    tracker->choices[tracker->count++] = choice;
}

static void save(struct backtracker *tracker, uint32_t slot, uint32_t at)
{
    push(tracker, (struct choice){.at = tracker->slots[slot], .slot = slot});
    tracker->slots[slot] = at;
}

/* A group that matched nothing yet matches the empty text (XPath 3.1 §5.6.1). */
static bool reads_again(const struct backtracker *tracker, uint32_t group, uint32_t *at)
{
    const struct regex_search *search = tracker->search;
    uint32_t begin = tracker->slots[2 * group];
    uint32_t end = tracker->slots[2 * group + 1];
    if (begin == REGEX_UNSET || end == REGEX_UNSET) {
        return true;
    }
    size_t old = begin;
    size_t now = *at;
    while (old < end) {
        if (now >= search->text.count) {
            return false;
        }
        uint32_t wanted = expression_text_decode(search->text, &old);
        uint32_t found = expression_text_decode(search->text, &now);
        if (wanted != found && (!search->regex->ignores_case ||
                                expression_regex_fold(wanted) != expression_regex_fold(found))) {
            return false;
        }
    }
    *at = (uint32_t)now;
    return true;
}

static bool reads_point(const struct backtracker *tracker,
                        const struct regex_instruction *instruction, uint32_t *at)
{
    const struct regex_search *search = tracker->search;
    size_t behind = *at;
    if (*at >= search->text.count) {
        return false;
    }
    bool ignores_case = search->regex->ignores_case;
    uint32_t point = expression_text_decode(search->text, &behind);
    bool holds = instruction->operation == REGEX_ANY ||
                 (instruction->operation == REGEX_ANY_INLINE && point != '\n' && point != '\r') ||
                 (instruction->operation == REGEX_SET &&
                  expression_regex_set_holds(instruction->set, point, ignores_case)) ||
                 (instruction->operation == REGEX_POINT &&
                  (ignores_case ? expression_regex_fold(point) : point) == instruction->point);
    *at = (uint32_t)behind;
    return holds;
}

/* One instruction; false when this way is at its end. */
static bool step(struct backtracker *tracker, uint32_t *place, uint32_t *at)
{
    const struct regex_instruction *instruction = &tracker->search->regex->program[*place];
    uint32_t next = *place + 1;
    bool goes_on = true;
    switch (instruction->operation) {
    case REGEX_SPLIT:
        push(tracker, (struct choice){instruction->y, *at, UINT32_MAX});
        next = instruction->x;
        break;
    case REGEX_JUMP:
        next = instruction->x;
        break;
    case REGEX_SAVE:
        save(tracker, instruction->x, *at);
        break;
    case REGEX_PROGRESS:
        next = tracker->slots[instruction->x] == *at ? instruction->y : next;
        break;
    case REGEX_BEGIN:
    case REGEX_END:
    case REGEX_LINE_BEGIN:
    case REGEX_LINE_END:
        goes_on = expression_regex_place_holds(instruction->operation, tracker->search->text, *at);
        break;
    case REGEX_BACK:
        goes_on = reads_again(tracker, instruction->x, at);
        break;
    case REGEX_POINT:
    case REGEX_SET:
    case REGEX_ANY:
    case REGEX_ANY_INLINE:
        goes_on = reads_point(tracker, instruction, at);
        break;
    case REGEX_MATCH:
        ASSERT_UNREACHABLE();
        break;
    }
    *place = next;
    return goes_on;
}

/* Back to the last choice; false when there is none left. */
static bool retreat(struct backtracker *tracker, uint32_t *place, uint32_t *at)
{
    while (tracker->count > 0) {
        struct choice choice = tracker->choices[--tracker->count];
        if (choice.slot == UINT32_MAX) {
            *place = choice.place;
            *at = choice.at;
            return true;
        }
        tracker->slots[choice.slot] = choice.at;
    }
    return false;
}

static bool match_at(struct backtracker *tracker, uint32_t at)
{
    const struct regex_search *search = tracker->search;
    uint32_t place = 0;
    for (uint32_t i = 0; i < search->regex->slot_count; i++) {
        tracker->slots[i] = REGEX_UNSET;
    }
    tracker->count = 0;
    while (search->regex->program[place].operation != REGEX_MATCH) {
        if (!expression_pay(search->evaluation, 1)) {
            return false;
        }
        if (!step(tracker, &place, &at) && !retreat(tracker, &place, &at)) {
            return false;
        }
    }
    memcpy(search->found, tracker->slots, search->kept_slots * sizeof(uint32_t));
    return true;
}

bool expression_regex_backtrack(struct regex_search *search, uint32_t from)
{
    struct expression_evaluation *evaluation = search->evaluation;
    struct backtracker tracker = {.search = search};
    tracker.slots =
        arena_alloc(evaluation->arena, search->regex->slot_count * sizeof *tracker.slots);
    for (size_t at = from; tracker.slots != NULL && at <= search->text.count;) {
        if (match_at(&tracker, (uint32_t)at)) {
            return true;
        }
        if (at == search->text.count || evaluation->result != RESULT_OK) {
            break;
        }
        expression_text_decode(search->text, &at);
    }
    return false;
}
