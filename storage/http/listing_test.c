/* listing_test.c: listings as Azure and S3 send them, and what is no listing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "storage/http/listing.h"
#include "storage/http/percent.h"

static const struct storage_listing_words azure = {"Blob", "Name", "NextMarker"};
static const struct storage_listing_words s3 = {"Contents", "Key", "NextContinuationToken"};

static void gather(void *owner, struct span name)
{
    char *text = owner;
    size_t used = strlen(text);
    snprintf(text + used, 400 - used, "%.*s ", SPAN_ARG(name));
}

static enum result read(const char *xml, const struct storage_listing_words *words,
                        const char *names, const char *next)
{
    struct arena arena;
    struct span marker;
    char text[400] = "";
    arena_init(&arena, 1024, 65536);
    enum result result = storage_listing_read(span_text(xml), words, &arena, gather, text, &marker);
    if (result == RESULT_OK) {
        cr_assert_str_eq(text, names);
        cr_assert(span_is(marker, next), "%.*s", SPAN_ARG(marker));
    }
    arena_release(&arena);
    return result;
}

Test(listing, reads_the_names_and_the_marker_of_azure)
{
    cr_assert_eq(read("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                      "<EnumerationResults ServiceEndpoint=\"http://h/\" ContainerName=\"c\">"
                      "<Prefix>w/</Prefix><Blobs><Blob><Name>w/a&amp;b</Name><Properties>"
                      "<Etag>1</Etag></Properties></Blob><Blob><Name>w/c</Name></Blob></Blobs>"
                      "<NextMarker>2!76!x&lt;</NextMarker></EnumerationResults>",
                      &azure, "w/a&b w/c ", "2!76!x<"),
                 RESULT_OK);
    cr_assert_eq(
        read("<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>", &azure, "", ""),
        RESULT_OK);
}

Test(listing, reads_the_names_and_the_marker_of_s3)
{
    cr_assert_eq(read("<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                      "<Name>bucket</Name><IsTruncated>true</IsTruncated><Contents><Key>w/1</Key>"
                      "<Owner><ID>1</ID></Owner></Contents><NextContinuationToken>t=</"
                      "NextContinuationToken></ListBucketResult>",
                      &s3, "w/1 ", "t="),
                 RESULT_OK);
}

Test(listing, refuses_what_is_no_listing)
{
    cr_assert_eq(read("", &azure, "", ""), RESULT_INVALID);
    cr_assert_eq(read("<html><body>Bad gateway", &azure, "", ""), RESULT_INVALID);
    cr_assert_eq(read("<!DOCTYPE x [<!ENTITY a \"aaaa\">]><x><Blob><Name>&a;</Name></Blob></x>",
                      &azure, "", ""),
                 RESULT_INVALID);
    static char large[6000] = "<x><Blob><Name>";
    memset(large + strlen(large), 'n', 5000);
    snprintf(large + strlen(large), 40, "</Name></Blob></x>");
    cr_assert_eq(read(large, &azure, "", ""), RESULT_LIMIT);
}

Test(percent, encodes_all_that_is_not_plain)
{
    struct arena arena;
    arena_init(&arena, 1024, 65536);
    struct span text = span_text("w/a b+c:@%~\xc3\xbc.msgpack");

    cr_assert(
        span_is(storage_percent_encode(&arena, text, true), "w/a%20b%2Bc%3A%40%25~%C3%BC.msgpack"));
    cr_assert(span_is(storage_percent_encode(&arena, text, false),
                      "w%2Fa%20b%2Bc%3A%40%25~%C3%BC.msgpack"));
    arena_release(&arena);
}
