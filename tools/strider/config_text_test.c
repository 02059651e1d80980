#include <criterion/criterion.h>
#include <stdio.h>

#include "tools/strider/config_text.h"

/* The entries of a text as "section.key=value,value@line;" each, or "LINE: problem". */
static const char *reading(const char *text)
{
    static char out[1024];
    struct arena arena;
    struct config_text entries;
    unsigned line = 0;
    const char *problem = NULL;
    arena_init(&arena, 4096, 1 << 20);
    size_t count = 0;
    out[0] = '\0';
    if (config_text_read(span_text(text), &arena, &entries, &line, &problem) != RESULT_OK) {
        snprintf(out, sizeof(out), "%u: %s", line, problem);
        entries.count = 0;
    }
    for (size_t i = 0; i < entries.count; i++) {
        const struct config_entry *entry = &entries.entries[i];
        count += (size_t)snprintf(out + count, sizeof(out) - count, "%s.%s=", entry->section,
                                  entry->key);
        for (size_t k = 0; k < entry->value_count; k++) {
            count += (size_t)snprintf(out + count, sizeof(out) - count, "%s%s", k == 0 ? "" : ",",
                                      entry->values[k]);
        }
        count += (size_t)snprintf(out + count, sizeof(out) - count, "@%u;", entry->line);
    }
    arena_release(&arena);
    return out;
}

Test(config_text, reads_every_spelling_of_a_pair)
{
    static const struct {
        const char *text;
        const char *reads;
    } rows[] = {
        {"", ""},
        {"a = 1", ".a=1@1;"},
        {"a: 1", ".a=1@1;"},
        {"a 1", ".a=1@1;"},
        {"a = 10min; b = 1mb", ".a=10min@1;.b=1mb@1;"},
        {"a = \"x y\"\nb = z", ".a=x y@1;.b=z@2;"},
        {"s { a = 1\n b = 2 }\nc = 3", "s.a=1@1;s.b=2@2;.c=3@3;"},
        {"s = { a: 1, }", "s.a=1@1;"},
        {"s {}", ""},
        {"a = [x, \"y z\", 3]", ".a=x,y z,3@1;"},
        {"a = []", ".a=@1;"},
        {"a = [x,]", ".a=x@1;"},
        {"listen: tcp://127.0.0.1:7700", ".listen=tcp://127.0.0.1:7700@1;"},
        {"listen = [tcp://a:1, ipc:///tmp/x]", ".listen=tcp://a:1,ipc:///tmp/x@1;"},
        {"{\"front\": {\"listen\": [\"a\"], \"maxPending\":7}, \"n\":true}",
         "front.listen=a@1;front.maxPending=7@1;.n=true@1;"},
        {"# c\n// c\n/* c\n c */ a = 1 # c", ".a=1@4;"},
        {"a = \"\\\"\\\\\\n\"", ".a=\"\\\n@1;"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_str_eq(reading(rows[i].text), rows[i].reads, "%s\ngives %s", rows[i].text,
                         reading(rows[i].text));
    }
}

Test(config_text, says_line_and_reason_of_what_it_cannot_read)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"a", "1: expected = after a key"},
        {"a\n= ", "2: expected a value"},
        {"a\nb = 1", "2: expected = after a key"},
        {"a = 2 parsecs", "1: a value with white space needs \"…\" around it"},
        {"a = [", "1: a list holds texts or numbers, and ends with ]"},
        {"a = [1 2]", "1: expected , or ] in a list"},
        {"s {\n a = 1\n", "3: a section has no closing }"},
        {"s { t { a = 1 } }", "1: sections hold no sections"},
        {"a = 1 }", "1: a } without its {"},
        {"{ a = 1", "1: the opening { has no partner"},
        {"{ a = 1 } b", "1: text after the last }"},
        {"= 1", "1: expected a key"},
        {"a = \"x\n\"", "1: a \" has no partner on its line"},
        {"a = \"\\u0041\"", "1: unknown escape in a text (\\\" \\\\ \\/ \\n \\t \\r are known)"},
        {"\n/* for ever", "2: a comment has no end"},
        {"a = \xff", "1: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_str_eq(reading(rows[i].text), rows[i].says, "%s\nsays %s", rows[i].text,
                         reading(rows[i].text));
    }
}

Test(config_text, reads_no_byte_behind_its_text)
{
    /* Every prefix of a whole file, each in an allocation of its own size: AddressSanitizer watches
     * the end. */
    static const char text[] = "s { a = \"x\\\"y\" /* c */ b: [1, \"2\"] } # end\nt = 5 // x\n";
    for (size_t count = 0; count < sizeof(text); count++) {
        struct arena arena;
        struct config_text entries;
        unsigned line;
        const char *problem;
        char *copy = malloc(count + 1);
        memcpy(copy, text, count);
        copy = realloc(copy, count > 0 ? count : 1);
        arena_init(&arena, 4096, 1 << 20);
        enum result result =
            config_text_read(span_of(copy, count), &arena, &entries, &line, &problem);
        cr_expect(result == RESULT_OK || result == RESULT_INVALID);
        arena_release(&arena);
        free(copy);
    }
}
