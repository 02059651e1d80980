/*
 * What is XML, and what is refused before it is BPMN: field reports F122, F124, F125, F127.
 */
#include "engine/read/xml.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"
#include "proto/base/limits.h"

static const char plain[] = SAMPLE(
    "<startEvent id='s'/><sequenceFlow id='f' sourceRef='s' targetRef='e'/><endEvent id='e'/>");

Test(xml, every_truncation_is_an_error_with_a_line)
{
    for (size_t count = 0; count + 1 < sizeof plain; count++) {
        struct sample sample = sample_read_bytes(span_of(plain, count), false);
        cr_expect_eq(sample.result, RESULT_INVALID, "%zu bytes", count);
        cr_expect_gt(sample.report.errors, 0);
        cr_expect_gt(sample.report.problems[0].line, 0, "%zu bytes", count);
        sample_free(&sample);
    }
}

Test(xml, every_damaged_byte_is_survived)
{
    char damaged[sizeof plain];
    for (size_t at = 0; at + 1 < sizeof plain; at++) {
        memcpy(damaged, plain, sizeof plain);
        damaged[at] = (char)(damaged[at] ^ 0x15);
        struct sample sample = sample_read_bytes(span_of(damaged, sizeof plain - 1), false);
        cr_expect(sample.result == RESULT_OK || sample.report.errors > 0, "byte %zu", at);
        sample_free(&sample);
    }
}

Test(xml, a_dtd_is_refused_and_no_entity_is_expanded)
{
    sample_refuse(
        "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<definitions>&b;</definitions>",
        "dtd", "", "DTD");
    sample_refuse("<!DOCTYPE d SYSTEM 'file:///etc/passwd'><definitions/>", "dtd", "", "DTD");
}

Test(xml, an_undeclared_prefix_names_its_tag_and_place)
{
    struct sample sample =
        sample_read(SAMPLE("<startEvent id='s'>\n  "
                           "<extensionElements><acme:formData/></extensionElements></startEvent>"));
    const struct engine_problem *problem = sample_problem(&sample, "xml", "");
    cr_expect(sample_says(problem, "<acme:formData>"), "%s", sample_text(&sample));
    cr_expect_eq(problem->line, 4);
    cr_expect_eq(problem->column, 22);
    sample_free(&sample);
}

Test(xml, an_end_tag_that_does_not_fit_names_what_is_open)
{
    sample_refuse("<definitions>\n<process>\n</definitions>", "xml", "",
                  "does not close <process> of line 2");
    sample_refuse("<definitions>\n<process>\n", "xml", "", "ends before <process> of line 2");
}

Test(xml, the_language_attribute_needs_no_declaration)
{
    struct sample sample = sample_accept(SAMPLE(
        "<startEvent id='s'><documentation xml:lang='de'>Anfang</documentation></startEvent>"));
    cr_expect_eq(sample.report.count, 0, "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(xml, a_namespace_is_told_by_its_uri_and_not_by_its_prefix)
{
    sample_refuse("<bpmn:definitions xmlns:bpmn='http://www.omg.org/spec/BPMN/20100501/MODEL'/>",
                  "not-bpmn", "", "20100501");
    sample_refuse("<definitions/>", "not-bpmn", "", "namespace");
    sample_refuse("<html/>", "not-bpmn", "", "not with <html>");
}

Test(xml, what_is_not_xml_at_all_is_told_so)
{
    sample_refuse("", "notation", "", "empty");
    sample_refuse(" \n", "notation", "", "empty");
    sample_refuse("hello", "notation", "", "neither XML nor JSON");
    sample_refuse("{\"x\":[]}", "notation", "", "JSON");
    sample_refuse("<a b='1' b='2'/>", "xml", "", "twice");
    sample_refuse("<a/><b/>", "xml", "", "behind the root");
    sample_refuse("<a>&nbsp;</a>", "xml", "", "entity");
    sample_refuse("<?xml version='1.0' encoding='windows-1252'?><a/>", "xml", "", "encoding");
    sample_refuse("<a>\xff\xfe</a>", "xml", "", "character");
    sample_refuse("<a><![CDATA[x", "xml", "", "CDATA");
}

static struct sample read_utf16(const char *text, bool big_endian, bool mark)
{
    struct arena arena;
    arena_init(&arena, 4096, 1 << 20);
    size_t length = strlen(text);
    uint8_t *bytes = arena_alloc(&arena, length * 2 + 2);
    size_t count = 0;
    if (mark) {
        bytes[count++] = big_endian ? 0xfe : 0xff;
        bytes[count++] = big_endian ? 0xff : 0xfe;
    }
    for (size_t i = 0; i < length; i++) {
        bytes[count++] = big_endian ? 0 : (uint8_t)text[i];
        bytes[count++] = big_endian ? (uint8_t)text[i] : 0;
    }
    struct sample sample = sample_read_bytes(span_of(bytes, count), false);
    arena_release(&arena);
    return sample;
}

Test(xml, utf16_of_either_order_is_read)
{
    static const char declared[] =
        "<?xml version='1.0' encoding='UTF-16'?>" SAMPLE("<startEvent id='s' name='Start'/>");
    for (int i = 0; i < 2; i++) {
        struct sample sample = read_utf16(declared, i == 1, true);
        cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
        SAMPLE_EXPECT_TEXT(sample_node(&sample, "s")->name, "Start");
        sample_free(&sample);
    }
    struct sample truncated = read_utf16("<definitions>", false, true);
    cr_expect_eq(truncated.result, RESULT_INVALID);
    sample_free(&truncated);
}

Test(xml, a_byte_order_mark_and_latin_1_are_read_as_utf8)
{
    struct sample sample =
        sample_accept("\xef\xbb\xbf" SAMPLE("<startEvent id='s' name='Gr\xc3\xbc\xc3\x9f'/>"));
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "s")->name, "Gr\xc3\xbc\xc3\x9f");
    sample_free(&sample);
    sample = sample_accept("<?xml version='1.0' encoding='ISO-8859-1'?>" SAMPLE(
        "<startEvent id='s' name='Gr\xfc\xdf'/>"));
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "s")->name, "Gr\xc3\xbc\xc3\x9f");
    sample_free(&sample);
}

/* `count` copies of `piece`, between a beginning and an end. */
static struct span repeat(struct arena *arena, const char *before, const char *piece, size_t count,
                          const char *after)
{
    size_t size = strlen(piece);
    uint8_t *bytes = arena_alloc(arena, strlen(before) + size * count + strlen(after));
    uint8_t *next = mempcpy(bytes, before, strlen(before));
    for (size_t i = 0; i < count; i++) {
        next = mempcpy(next, piece, size);
    }
    next = mempcpy(next, after, strlen(after));
    return span_of(bytes, (size_t)(next - bytes));
}

static void expect_limit(struct span content, const char *words)
{
    struct sample sample = sample_read_bytes(content, false);
    cr_expect_eq(sample.result, RESULT_LIMIT);
    cr_expect(sample_says(sample_problem(&sample, "limit", ""), words), "%s", sample_text(&sample));
    sample_free(&sample);
}

Test(xml, depth_elements_attributes_and_bytes_are_bounded)
{
    struct arena arena;
    arena_init(&arena, 4096, 64 << 20);
    expect_limit(repeat(&arena, "", "<a>", LIMIT_XML_DEPTH + 1, ""), "deeply");
    expect_limit(repeat(&arena, "<a>", "<b/>", LIMIT_XML_ELEMENTS, "</a>"), "many elements");
    expect_limit(repeat(&arena, "<a>", " ", LIMIT_DEFINITION_BYTES, "</a>"), "larger than");
    char attributes[257 * 8] = "";
    size_t at = 0;
    for (int i = 0; i < 257; i++) {
        at += (size_t)snprintf(attributes + at, sizeof attributes - at, "a%d='' ", i);
    }
    struct span many = repeat(&arena, "<a ", attributes, 1, "/>");
    expect_limit(many, "attributes");
    arena_release(&arena);
}
