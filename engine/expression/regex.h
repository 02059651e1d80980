/*
 * regex.h: regular expressions as XPath and XQuery Functions 3.1 §5.6 has them (those of XML
 * Schema, with anchors, reluctant quantifiers and back-references), which is what FEEL's matches,
 * replace and split take.
 *
 * A pattern is matched in time linear in the text (all threads side by side, as Thompson and Pike
 * do); one with back-references by backtracking. Both pay for each step from the evaluation's
 * budget, so that no pattern runs for long. Everything lives in an arena.
 */
#ifndef ENGINE_EXPRESSION_REGEX_H
#define ENGINE_EXPRESSION_REGEX_H

#include "engine/expression/evaluate.h"

#define REGEX_PROGRAM_MAX 4096u /* instructions of one pattern */
#define REGEX_GROUPS_MAX  64u   /* groups that can be referred to, the whole match included */
#define REGEX_UNSET       UINT32_MAX

enum regex_operation {
    REGEX_POINT,      /* one code point: `point` */
    REGEX_SET,        /* one of `set` */
    REGEX_ANY,        /* any code point */
    REGEX_ANY_INLINE, /* any but line ends */
    REGEX_SPLIT,      /* go on at x; failing that, at y */
    REGEX_JUMP,       /* go on at x */
    REGEX_SAVE,       /* note the place in slot x */
    REGEX_PROGRESS,   /* go on at y if nothing was read since slot x was noted: a loop's body that
                         matches nothing is not repeated */
    REGEX_BEGIN,
    REGEX_END,
    REGEX_LINE_BEGIN,
    REGEX_LINE_END,
    REGEX_BACK, /* what group x matched, again */
    REGEX_MATCH,
};

struct regex_set;

struct regex_instruction {
    enum regex_operation operation;
    uint32_t x;
    uint32_t y;
    uint32_t point;
    const struct regex_set *set;
};

struct regex {
    const struct regex_instruction *program;
    uint32_t count;
    uint32_t group_count; /* with the whole match, which is group 0 */
    uint32_t slot_count;  /* two a group, then one for each loop */
    bool ignores_case;
    bool has_back_references;
};

/* NULL when the pattern or the flags (of "smixq") are malformed: then *reason is a static phrase.
 */
const struct regex *expression_regex_compile(struct arena *arena, struct span pattern,
                                             struct span flags, const char **reason);

/* A set of code points under construction and as it is matched; regex_set.c. */
struct regex_set *expression_regex_set_new(struct arena *arena);
void expression_regex_set_add_range(struct arena *arena, struct regex_set *set, uint32_t first,
                                    uint32_t last);
/* The class of an escape: one of "sSiIcCdDwW". */
void expression_regex_set_add_class(struct arena *arena, struct regex_set *set, uint8_t letter);
/* A category ("L", "Nd") or block ("IsBasicLatin"); false when there is none of that name. */
bool expression_regex_set_add_property(struct arena *arena, struct regex_set *set, struct span name,
                                       bool negated);
void expression_regex_set_negate(struct regex_set *set);
void expression_regex_set_subtract(struct regex_set *set, const struct regex_set *minus);
bool expression_regex_set_holds(const struct regex_set *set, uint32_t point, bool ignores_case);

/* The form of a code point that all its cases share. */
uint32_t expression_regex_fold(uint32_t point);

/* A text being searched. */
struct regex_search {
    struct expression_evaluation *evaluation;
    const struct regex *regex;
    struct span text;
    uint32_t kept_slots; /* 0: only whether there is a match */
    uint32_t *found;     /* of the last match: begin and end of each group, or REGEX_UNSET */
    struct regex_threads *threads;
};

/* False after a failure of the evaluation. */
bool expression_regex_search_init(struct regex_search *search,
                                  struct expression_evaluation *evaluation,
                                  const struct regex *regex, struct span text, bool with_groups);
/* The first match that begins at `from` or behind it. */
bool expression_regex_search_next(struct regex_search *search, uint32_t from);
/* Private to regex_match.c, regex_back.c: the same for a pattern with back-references. */
bool expression_regex_backtrack(struct regex_search *search, uint32_t from);
/* Do the conditions of a place (BEGIN … LINE_END) hold there? */
bool expression_regex_place_holds(enum regex_operation operation, struct span text, uint32_t at);

/* "Lu", "Nd", …: index into the two-letter names of general categories; unicode_category.c. */
#define UNICODE_CATEGORY_COUNT 30u
extern const char expression_unicode_names[UNICODE_CATEGORY_COUNT][3];
unsigned expression_unicode_category(uint32_t point);

#endif
