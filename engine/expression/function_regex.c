/* function_regex.c: matches, replace and split (DMN 1.5 table 73; XPath and XQuery Functions 3.1
 * §5.6.2 to §5.6.4), and Camunda's extract. */
#include "engine/expression/evaluate.h"
#include "engine/expression/function.h"
#include "engine/expression/regex.h"
#include "engine/expression/text.h"

/* Compiles the pattern and begins a search; false after a warning or a failure. */
static bool begin(struct regex_search *search, struct expression_evaluation *evaluation,
                  struct expression_value text, struct expression_value pattern,
                  struct expression_value flags, uint32_t offset, bool with_groups)
{
    const char *reason;
    bool flagged = flags.type == VALUE_STRING;
    if (!flagged && flags.type != VALUE_ABSENT && flags.type != VALUE_NULL) {
        expression_warn(evaluation, offset, "the flags are no string");
        return false;
    }
    if (!expression_pay(evaluation, 1 + pattern.as.text.count / 8)) {
        return false;
    }
    const struct regex *regex = expression_regex_compile(
        evaluation->arena, pattern.as.text, flagged ? flags.as.text : SPAN_EMPTY, &reason);
    if (regex == NULL) {
        expression_warn(evaluation, offset, "this is no pattern: %s",
                        reason == NULL ? "out of memory" : reason);
        return false;
    }
    return expression_regex_search_init(search, evaluation, regex, text.as.text, with_groups);
}

static struct expression_value matches(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct regex_search search;
    if (!begin(&search, evaluation, arguments[0], arguments[1], arguments[2], offset, false)) {
        return expression_null();
    }
    return expression_boolean(expression_regex_search_next(&search, 0));
}

/* replace and split refuse patterns that match nothing at all: they would match everywhere. */
static bool matches_nothing(struct regex_search *search, uint32_t offset)
{
    struct regex_search empty;
    bool matches = expression_regex_search_init(&empty, search->evaluation, search->regex,
                                                SPAN_EMPTY, false) &&
                   expression_regex_search_next(&empty, 0);
    if (matches) {
        expression_warn(search->evaluation, offset, "the pattern matches the empty string");
    }
    return matches;
}

static struct span part(const struct regex_search *search, uint32_t begin, uint32_t end)
{
    return span_of(search->text.bytes + begin, end - begin);
}

/* "$12" is group 12 if there is one, else group 1 and a "2"; groups there are not are empty.
 * Returns how many digits belong to it. */
static size_t add_group(const struct regex_search *search, struct span digits,
                        struct expression_buffer *out)
{
    uint32_t number = 0;
    size_t taken = 0;
    while (taken < digits.count && digits.bytes[taken] >= '0' && digits.bytes[taken] <= '9') {
        uint32_t longer = number * 10 + (digits.bytes[taken] - '0');
        if (taken > 0 && longer >= search->regex->group_count) {
            break;
        }
        number = longer;
        taken++;
    }
    if (number < search->regex->group_count && search->found[2 * number] != REGEX_UNSET) {
        expression_buffer_add(
            out, part(search, search->found[2 * number], search->found[2 * number + 1]));
    }
    return taken;
}

/* "$1" is a group, "\$" and "\\" themselves; false for any other use of these two signs. */
static bool add_replacement(const struct regex_search *search, struct span text,
                            struct expression_buffer *out)
{
    size_t from = 0;
    for (size_t at = 0; at < text.count;) {
        uint8_t sign = text.bytes[at];
        if (sign != '$' && sign != '\\') {
            at++;
            continue;
        }
        expression_buffer_add(out, span_of(text.bytes + from, at - from));
        at++;
        struct span rest = span_of(text.bytes + at, text.count - at);
        if (sign == '$') {
            size_t digits = add_group(search, rest, out);
            if (digits == 0) {
                return false;
            }
            at += digits;
            from = at;
        } else {
            if (rest.count == 0 || (rest.bytes[0] != '$' && rest.bytes[0] != '\\')) {
                return false;
            }
            from = at++;
        }
    }
    expression_buffer_add(out, span_of(text.bytes + from, text.count - from));
    return true;
}

static struct expression_value replace(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct regex_search search;
    struct expression_buffer out = {.arena = evaluation->arena};
    struct span replacement = arguments[2].as.text;
    bool literal =
        arguments[3].type == VALUE_STRING &&
        expression_text_find(arguments[3].as.text, span_text("q")) != EXPRESSION_NOT_FOUND;
    if (!begin(&search, evaluation, arguments[0], arguments[1], arguments[3], offset, true) ||
        matches_nothing(&search, offset)) {
        return expression_null();
    }
    uint32_t from = 0;
    while (expression_regex_search_next(&search, from) &&
           expression_pay(evaluation, 1 + replacement.count / EXPRESSION_BYTES_PER_STEP)) {
        expression_buffer_add(&out, part(&search, from, search.found[0]));
        if (literal) {
            expression_buffer_add(&out, replacement);
        } else if (!add_replacement(&search, replacement, &out)) {
            return expression_warn(evaluation, offset, "malformed replacement");
        }
        from = search.found[1];
    }
    expression_buffer_add(&out, part(&search, from, (uint32_t)search.text.count));
    return expression_string(expression_buffer_span(&out));
}

static struct expression_value split(struct expression_evaluation *evaluation,
                                     const struct expression_value *arguments, uint32_t offset)
{
    struct regex_search search;
    struct expression_builder parts = {.arena = evaluation->arena};
    if (!begin(&search, evaluation, arguments[0], arguments[1], expression_absent(), offset,
               true) ||
        matches_nothing(&search, offset)) {
        return expression_null();
    }
    uint32_t from = 0;
    while (expression_regex_search_next(&search, from) && expression_pay(evaluation, 1)) {
        expression_builder_add(&parts, expression_string(part(&search, from, search.found[0])));
        from = search.found[1];
    }
    expression_builder_add(&parts,
                           expression_string(part(&search, from, (uint32_t)search.text.count)));
    return expression_builder_list(&parts);
}

/* Camunda's: all matches, as they stand in the text. */
static struct expression_value extract(struct expression_evaluation *evaluation,
                                       const struct expression_value *arguments, uint32_t offset)
{
    struct regex_search search;
    struct expression_builder found = {.arena = evaluation->arena};
    if (!begin(&search, evaluation, arguments[0], arguments[1], expression_absent(), offset,
               true) ||
        matches_nothing(&search, offset)) {
        return expression_null();
    }
    uint32_t from = 0;
    while (expression_regex_search_next(&search, from) && expression_pay(evaluation, 1)) {
        expression_builder_add(&found,
                               expression_string(part(&search, search.found[0], search.found[1])));
        from = search.found[1];
    }
    return expression_builder_list(&found);
}

const struct expression_function expression_regex_functions[] = {
    {"matches", "ssv", 2, "input,pattern,flags", matches},
    {"replace", "sssv", 3, "input,pattern,replacement,flags", replace},
    {"split", "ss", 2, "string,delimiter", split},
    {"extract", "ss", 2, "string,pattern", extract},
    {0},
};
