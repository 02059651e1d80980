/* etags_test.c: what is known of the versions of blobs. */
#include "storage/http/etags.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ELSEWHERE = 32768 * 7 + 5 }; /* in the row of 5 */

Test(etags, of_a_name_are_the_last_that_were_kept)
{
    struct storage_etags etags;
    cr_assert_eq(storage_etags_init(&etags), RESULT_OK);
    cr_expect_null(storage_etags_find(&etags, 5));

    cr_expect(storage_etags_keep(&etags, 5, "\"one\""));
    cr_expect(storage_etags_keep(&etags, 5, "\"two\""));

    cr_expect_str_eq(storage_etags_find(&etags, 5), "\"two\"");
    cr_expect_null(storage_etags_find(&etags, ELSEWHERE), "that is another name's");
    storage_etags_release(&etags);
}

Test(etags, are_forgotten_by_their_own_name_or_for_another_one)
{
    struct storage_etags etags;
    cr_assert_eq(storage_etags_init(&etags), RESULT_OK);
    cr_expect(storage_etags_keep(&etags, 5, "\"one\""));

    storage_etags_forget(&etags, ELSEWHERE);
    cr_expect_str_eq(storage_etags_find(&etags, 5), "\"one\"");
    cr_expect(storage_etags_keep(&etags, ELSEWHERE, "\"other\""));
    cr_expect_null(storage_etags_find(&etags, 5));
    storage_etags_forget(&etags, ELSEWHERE);
    cr_expect_null(storage_etags_find(&etags, ELSEWHERE));
    storage_etags_release(&etags);
}

Test(etags, that_are_no_header_text_are_not_kept)
{
    char longer[STORAGE_ETAG_BYTES_MAX + 2];
    memset(longer, 'e', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const char *const wrong[] = {"", "a b", "a\r\nEvil: 1", "\x80", longer};
    struct storage_etags etags;
    cr_assert_eq(storage_etags_init(&etags), RESULT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect(storage_etags_keep(&etags, 5, "\"one\""));
        cr_expect_not(storage_etags_keep(&etags, 5, wrong[i]), "%zu", i);
        cr_expect_null(storage_etags_find(&etags, 5), "%zu: what was known is not so any more", i);
    }
    storage_etags_release(&etags);
}
