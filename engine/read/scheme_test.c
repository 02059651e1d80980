/*
 * Block schemes: blocks, joins, results and back faces.
 */
#include "engine/read/scheme.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"

/* A scheme with id p. Quotes are written as ' for readability. */
static const char *scheme(const char *blocks, const char *faces)
{
    static char text[8192];
    int length = snprintf(text, sizeof text,
                          "{'id':'p','version':2,\n'blocks':[\n%s\n],\n"
                          "'faces':[%s]}",
                          blocks, faces);
    cr_assert(length > 0 && (size_t)length < sizeof text);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    return text;
}

static struct sample read_scheme(const char *blocks, const char *faces)
{
    struct sample sample = sample_read_bytes(span_text(scheme(blocks, faces)), true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    return sample;
}

static const struct engine_flow *face(const struct sample *sample, const char *id)
{
    const struct engine_process *process = sample_process(sample);
    for (uint32_t i = 0; i < process->flow_count; i++) {
        if (span_is(process->flows[i].id, id)) {
            return &process->flows[i];
        }
    }
    cr_assert_fail("no face %s", id);
    return NULL;
}

#define BLOCKS                                                                                     \
    "{'id':'s','type':'StartBlock'},"                                                              \
    "{'id':'a','type':'Block','handler':'approve','name':'Approve','config':{'n':1,'t':'=x'}},"    \
    "{'id':'b','type':'OrBlock'},"                                                                 \
    "{'id':'c','type':'AndBlock'},"                                                                \
    "{'id':'f','type':'FinishBlock'}"

Test(scheme, maps_its_blocks)
{
    struct sample sample = read_scheme(BLOCKS, "{'from':'s','to':'a'}");
    const struct engine_process *process = sample_process(&sample);
    const struct engine_node *block = sample_node(&sample, "a");
    const struct engine_node *finish = sample_node(&sample, "f");

    cr_expect_eq(process->notation, ENGINE_NOTATION_SCHEME);
    SAMPLE_EXPECT_TEXT(process->version_tag, "2");
    cr_expect_eq(sample_node(&sample, "s")->kind, ENGINE_START_EVENT);
    cr_expect_eq(block->kind, ENGINE_SERVICE_TASK);
    SAMPLE_EXPECT_TEXT(block->task_type, "approve");
    SAMPLE_EXPECT_MAPPING(block->headers, "n", "=1");
    SAMPLE_EXPECT_MAPPING(block->headers, "t", "=x");
    cr_expect_eq(block->join, ENGINE_JOIN_ALL);
    cr_expect_eq(sample_node(&sample, "b")->kind, ENGINE_TASK);
    cr_expect_eq(sample_node(&sample, "b")->join, ENGINE_JOIN_ANY);
    cr_expect_eq(sample_node(&sample, "c")->join, ENGINE_JOIN_ALL);
    cr_expect_eq(finish->kind, ENGINE_END_EVENT);
    cr_assert_eq(finish->event_count, 1);
    cr_expect_eq(finish->events[0].kind, ENGINE_ON_TERMINATE);
    cr_expect_eq(finish->join, ENGINE_JOIN_ALL);
    sample_free(&sample);
}

Test(scheme, keeps_results_as_text_or_as_their_json)
{
    struct sample sample = read_scheme(BLOCKS, "{'id':'1','from':'s','to':'a','result':'go'},"
                                               "{'id':'2','from':'a','to':'b','result':true},"
                                               "{'id':'3','from':'a','to':'b','result':7},"
                                               "{'id':'4','from':'a','to':'c','result':null},"
                                               "{'id':'5','from':'a','to':'c'}");
    SAMPLE_EXPECT_TEXT(face(&sample, "1")->result, "go");
    SAMPLE_EXPECT_TEXT(face(&sample, "2")->result, "true");
    SAMPLE_EXPECT_TEXT(face(&sample, "3")->result, "7");
    cr_expect_eq(face(&sample, "4")->result.count, 0);
    cr_expect_eq(face(&sample, "5")->result.count, 0);
    sample_free(&sample);
}

/*
 * s -> a -> b -> c -> f, with c -> a and b -> b as back faces. d is reached from a and from the
 * start, so a does not dominate it: d -> a is the way back of no loop that a alone begins... but s
 * does, so d -> a leads forward.
 */
Test(scheme, tells_back_faces_by_dominance)
{
    struct sample sample = read_scheme(
        BLOCKS ",{'id':'d','type':'OrBlock'}",
        "{'id':'1','from':'s','to':'a'},{'id':'2','from':'a','to':'b'},"
        "{'id':'3','from':'b','to':'c'},{'id':'4','from':'c','to':'f'},"
        "{'id':'5','from':'c','to':'a','result':'again'},{'id':'6','from':'b','to':'b'},"
        "{'id':'7','from':'s','to':'d'},{'id':'8','from':'a','to':'d'},"
        "{'id':'9','from':'d','to':'a'}");
    static const struct {
        const char *id;
        bool is_back;
    } rows[] = {{"1", false}, {"2", false}, {"3", false}, {"4", false}, {"5", true},
                {"6", true},  {"7", false}, {"8", false}, {"9", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(face(&sample, rows[i].id)->is_back, rows[i].is_back, "face %s", rows[i].id);
    }
    sample_free(&sample);
}

Test(scheme, is_legal_with_dead_ends_and_loops)
{
    struct sample sample = sample_accept(
        scheme("{'id':'s','type':'StartBlock'},{'id':'a','type':'Block','handler':'x'}"
               ",{'id':'b','type':'Block','handler':'y'}",
               "{'from':'s','to':'a'},{'from':'a','to':'b'},{'from':'b','to':'a'}"));
    cr_expect_eq(sample_process(&sample)->id_next, 4);
    SAMPLE_EXPECT_TEXT(sample_process(&sample)->flows[2].id, "face_3");
    sample_free(&sample);
}

Test(scheme, refuses_what_is_broken_by_id)
{
    static const struct {
        const char *blocks;
        const char *faces;
        const char *rule;
        const char *element;
        const char *words;
    } rows[] = {
        {"{'id':'x','type':'XorBlock'}", "", "unsupported-element", "x", "no type of block"},
        {"{'id':'x','type':'Block'},{'id':'x','type':'Block'}", "", "duplicate-id", "x", "line 3"},
        {"{'type':'Block'}", "", "no-id", "", "no id"},
        {"{'id':'x','type':'Block'}", "{'id':'e','from':'x','to':'y'}", "dangling-reference", "e",
         "\"y\""},
        {"{'id':'s','type':'StartBlock'},{'id':'x','type':'Block'}",
         "{'id':'e','from':'x','to':'s'}", "illegal-flow", "e", "start event"},
        {"{'id':'f','type':'FinishBlock'},{'id':'x','type':'Block'}",
         "{'id':'e','from':'f','to':'x'}", "illegal-flow", "e", "end event"},
        {"{'id':'x','type':'Block'}", "{'id':'e','from':'x','to':'x','result':[1]}", "malformed",
         "e", "result"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample_refuse(scheme(rows[i].blocks, rows[i].faces), rows[i].rule, rows[i].element,
                      rows[i].words);
    }
}

Test(scheme, deploys_a_block_without_a_type_with_a_warning)
{
    struct sample sample =
        sample_accept(scheme("{'id':'s','type':'StartBlock'},{'id':'x'}", "{'from':'s','to':'x'}"));
    cr_expect_eq(sample_node(&sample, "x")->task_type.count, 0);
    cr_expect_not_null(sample_problem(&sample, "no-type", "x"));
    sample_free(&sample);
}
