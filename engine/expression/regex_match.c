/*
 * regex_match.c: all threads side by side, in the order of their priority (R. Pike's machine; R.
 * Cox, "Regular Expression Matching: the Virtual Machine Approach"). At each place of the text an
 * instruction is entered once at most.
 */
#include "engine/expression/regex.h"
#include "engine/expression/text.h"
#include "proto/base/assert.h"

#define THREADS_PER_STEP 8u /* threads that cost one step of the evaluation */

/* The threads at one place, each at an instruction that reads a code point or matches. */
struct list {
    uint32_t *places; /* instructions, by priority */
    uint32_t *slots;  /* kept_slots for each */
    uint32_t count;
};

/* What is to be done while threads spread: follow an instruction, or put a slot back. */
struct pending {
    uint32_t place;
    uint32_t slot; /* UINT32_MAX: follow `place`; else the slot becomes `place` */
};

struct regex_threads {
    struct list now;
    struct list then;
    uint32_t *entered; /* by instruction: the last generation it was entered in */
    uint32_t generation;
    uint32_t *current; /* slots of the thread that spreads */
    struct pending *stack;
};

static bool list_init(struct list *list, struct arena *arena, uint32_t count, uint32_t slots)
{
    list->places = arena_alloc(arena, count * sizeof(uint32_t));
    list->slots = arena_alloc(arena, (size_t)count * slots * sizeof(uint32_t));
    list->count = 0;
    return list->places != NULL && list->slots != NULL;
}

static struct regex_threads *threads_new(struct arena *arena, const struct regex *regex,
                                         uint32_t kept_slots)
{
    struct regex_threads *threads = arena_zero(arena, sizeof *threads);
    if (threads == NULL || !list_init(&threads->now, arena, regex->count, kept_slots) ||
        !list_init(&threads->then, arena, regex->count, kept_slots)) {
        return NULL;
    }
    threads->entered = arena_zero(arena, regex->count * sizeof(uint32_t));
    threads->current = arena_alloc(arena, kept_slots * sizeof(uint32_t));
    threads->stack = arena_alloc(arena, (2 * (size_t)regex->count + 2) * sizeof(struct pending));
    bool whole = threads->entered != NULL && threads->current != NULL && threads->stack != NULL;
    return whole ? threads : NULL;
}

bool expression_regex_search_init(struct regex_search *search,
                                  struct expression_evaluation *evaluation,
                                  const struct regex *regex, struct span text, bool with_groups)
{
    bool keeps = with_groups || regex->has_back_references;
    *search = (struct regex_search){.evaluation = evaluation,
                                    .regex = regex,
                                    .text = text,
                                    .kept_slots = keeps ? 2 * regex->group_count : 0};
    search->found = arena_alloc(evaluation->arena, search->kept_slots * sizeof(uint32_t));
    if (!regex->has_back_references) {
        search->threads = threads_new(evaluation->arena, regex, search->kept_slots);
    }
    if (text.count >= UINT32_MAX || search->found == NULL || evaluation->arena->overflowed) {
        expression_fail(evaluation, RESULT_LIMIT, 0, "out of memory");
    }
    return evaluation->result == RESULT_OK;
}

/* XPath 3.1 §5.6.1.1: lines are parted by newlines; one at the very end begins no line. */
bool expression_regex_place_holds(enum regex_operation operation, struct span text, uint32_t at)
{
    bool begins = at == 0;
    bool ends = at == text.count;
    if (operation == REGEX_LINE_BEGIN) {
        return begins || (!ends && text.bytes[at - 1] == '\n');
    }
    if (operation == REGEX_LINE_END) {
        return ends || text.bytes[at] == '\n';
    }
    ASSERT(operation == REGEX_BEGIN || operation == REGEX_END);
    return operation == REGEX_BEGIN ? begins : ends;
}

/* Follows an instruction that reads nothing: up to two that come next, the preferred one on top. */
static uint32_t follow(struct regex_search *search, uint32_t place, uint32_t at, uint32_t top)
{
    struct regex_threads *threads = search->threads;
    const struct regex_instruction *instruction = &search->regex->program[place];
    struct pending *stack = threads->stack;
    switch (instruction->operation) {
    case REGEX_SPLIT:
        stack[top++] = (struct pending){instruction->y, UINT32_MAX};
        stack[top++] = (struct pending){instruction->x, UINT32_MAX};
        return top;
    case REGEX_JUMP:
        stack[top++] = (struct pending){instruction->x, UINT32_MAX};
        return top;
    case REGEX_SAVE:
        if (instruction->x < search->kept_slots) {
            stack[top++] = (struct pending){threads->current[instruction->x], instruction->x};
            threads->current[instruction->x] = at;
        }
        stack[top++] = (struct pending){place + 1, UINT32_MAX};
        return top;
    case REGEX_PROGRESS: /* nothing is entered twice at one place: no loop can stand still */
        stack[top++] = (struct pending){place + 1, UINT32_MAX};
        return top;
    case REGEX_BEGIN:
    case REGEX_END:
    case REGEX_LINE_BEGIN:
    case REGEX_LINE_END:
        if (expression_regex_place_holds(instruction->operation, search->text, at)) {
            stack[top++] = (struct pending){place + 1, UINT32_MAX};
        }
        return top;
    case REGEX_POINT:
    case REGEX_SET:
    case REGEX_ANY:
    case REGEX_ANY_INLINE:
    case REGEX_BACK:
    case REGEX_MATCH:
        break;
    }
    ASSERT_UNREACHABLE();
    return top;
}

static bool reads_nothing(enum regex_operation operation)
{
    return operation >= REGEX_SPLIT && operation <= REGEX_LINE_END;
}

/* Adds the thread at `place`, with the current slots, and all that it comes to without reading. */
static void spread(struct regex_search *search, struct list *list, uint32_t place, uint32_t at)
{
    struct regex_threads *threads = search->threads;
    uint32_t top = 0;
    threads->stack[top++] = (struct pending){place, UINT32_MAX};
    while (top > 0) {
        struct pending pending = threads->stack[--top];
        if (pending.slot != UINT32_MAX) {
            threads->current[pending.slot] = pending.place;
            continue;
        }
        if (threads->entered[pending.place] == threads->generation) {
            continue;
        }
        threads->entered[pending.place] = threads->generation;
        if (reads_nothing(search->regex->program[pending.place].operation)) {
            top = follow(search, pending.place, at, top);
            continue;
        }
        uint32_t kept = search->kept_slots;
        list->places[list->count] = pending.place;
        memcpy(list->slots + (size_t)list->count * kept, threads->current, kept * sizeof(uint32_t));
        list->count++;
    }
}

static bool reads(const struct regex *regex, const struct regex_instruction *instruction,
                  uint32_t point)
{
    switch (instruction->operation) {
    case REGEX_POINT:
        return (regex->ignores_case ? expression_regex_fold(point) : point) == instruction->point;
    case REGEX_SET:
        return expression_regex_set_holds(instruction->set, point, regex->ignores_case);
    case REGEX_ANY:
        return true;
    case REGEX_ANY_INLINE:
        return point != '\n' && point != '\r';
    case REGEX_SPLIT:
    case REGEX_JUMP:
    case REGEX_SAVE:
    case REGEX_PROGRESS:
    case REGEX_BEGIN:
    case REGEX_END:
    case REGEX_LINE_BEGIN:
    case REGEX_LINE_END:
    case REGEX_BACK:
    case REGEX_MATCH:
        break;
    }
    return false;
}

/* One code point for all threads; true when one of them matched, which ends those behind it. */
static bool advance(struct regex_search *search, uint32_t at, uint32_t behind, uint32_t point)
{
    struct regex_threads *threads = search->threads;
    uint32_t kept = search->kept_slots;
    threads->then.count = 0;
    threads->generation++;
    for (uint32_t i = 0; i < threads->now.count; i++) {
        uint32_t place = threads->now.places[i];
        const struct regex_instruction *instruction = &search->regex->program[place];
        const uint32_t *slots = threads->now.slots + (size_t)i * kept;
        if (instruction->operation == REGEX_MATCH) {
            memcpy(search->found, slots, kept * sizeof(uint32_t));
            return true;
        }
        if (at < search->text.count && reads(search->regex, instruction, point)) {
            memcpy(threads->current, slots, kept * sizeof(uint32_t));
            spread(search, &threads->then, place + 1, behind);
        }
    }
    return false;
}

static void start_thread(struct regex_search *search, uint32_t at)
{
    struct regex_threads *threads = search->threads;
    for (uint32_t i = 0; i < search->kept_slots; i++) {
        threads->current[i] = REGEX_UNSET;
    }
    spread(search, &threads->now, 0, at);
}

bool expression_regex_search_next(struct regex_search *search, uint32_t from)
{
    struct expression_evaluation *evaluation = search->evaluation;
    struct regex_threads *threads = search->threads;
    bool matched = false;
    if (search->regex->has_back_references) {
        return expression_regex_backtrack(search, from);
    }
    threads->now.count = 0;
    threads->generation++;
    for (uint32_t at = from; at <= search->text.count;) {
        if (!matched) {
            start_thread(search, at); /* behind all that began earlier */
        }
        if (threads->now.count == 0 && matched) {
            break;
        }
        if (!expression_pay(evaluation, 1 + threads->now.count / THREADS_PER_STEP)) {
            return false;
        }
        size_t behind = at;
        uint32_t point =
            at < search->text.count ? expression_text_decode(search->text, &behind) : 0;
        if (advance(search, at, (uint32_t)behind, point)) {
            matched = true;
            if (search->kept_slots == 0) {
                return true;
            }
        }
        struct list swapped = threads->now;
        threads->now = threads->then;
        threads->then = swapped;
        if (at == search->text.count) {
            break;
        }
        at = (uint32_t)behind;
    }
    return matched;
}
