/* hook_secret_test.c: whose webhooks are believed. */
#include <criterion/criterion.h>

#include "transport/admin.h"
#include "transport/admin/hook_secret.h"

static const char *const entries[] = {"orders/new=first", "*=any", "orders/old=a=b"};

Test(hook_secret, is_that_of_the_decoded_path_or_of_all_others)
{
    static const struct {
        const char *uri;
        size_t count;
        const char *secret;
    } rows[] = {
        {"/hooks/orders/new", 3, "first"},
        {"/hooks/orders/new?a=b", 3, "first"},
        {"/hooks/orders%2Fnew", 3, "first"},
        {"/hooks/%6frders/new", 3, "first"},
        {"/hooks/orders/old", 3, "a=b"},
        {"/hooks/orders/new/", 3, "any"},
        {"/hooks/orders", 3, "any"},
        {"/hooks/orders", 1, NULL},
        {"/hooks/orders/new", 0, NULL},
        {"/v1/executions", 3, NULL},
        {"/hooks", 3, NULL},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        const char *secret = hook_secret_of(entries, rows[index].count, rows[index].uri);
        cr_expect((secret == NULL) == (rows[index].secret == NULL) &&
                      (secret == NULL || strcmp(secret, rows[index].secret) == 0),
                  "%s: %s", rows[index].uri, secret == NULL ? "none" : secret);
    }
}

/* The value of GitHub's documentation on the validation of deliveries. */
#define SECRET    "It's a Secret to Everybody"
#define BODY      "Hello, World!"
#define SIGNATURE "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

Test(hook_secret, is_known_by_who_signs_the_body_or_shows_it)
{
    cr_expect(hook_secret_is_known(SECRET, span_text(BODY), SIGNATURE, NULL));
    cr_expect(hook_secret_is_known(SECRET, span_text(BODY), NULL, SECRET));
    cr_expect(hook_secret_is_known(SECRET, span_text(BODY), SIGNATURE, SECRET));
    cr_expect(hook_secret_is_known(
        "key", SPAN_EMPTY,
        "sha256=5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0", NULL));
}

Test(hook_secret, is_not_known_by_anybody_else)
{
    static const struct {
        const char *body;
        const char *signature;
        const char *token;
    } rows[] = {
        {BODY, NULL, NULL},
        {BODY "!", SIGNATURE, NULL},
        {"", SIGNATURE, NULL},
        {BODY, "", NULL},
        {BODY, "sha256=", NULL},
        {BODY, "sha1=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17", NULL},
        {BODY, "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1", NULL},
        {BODY, "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e18", NULL},
        {BODY, "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1x", NULL},
        {BODY, SIGNATURE "0", NULL},
        {BODY, NULL, ""},
        {BODY, NULL, "It's a Secret to Everybod"},
        {BODY, SIGNATURE, "another"},
        {BODY, "sha256=0", SECRET},
    };
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        cr_expect_not(hook_secret_is_known(SECRET, span_text(rows[index].body),
                                           rows[index].signature, rows[index].token),
                      "row %zu", index);
    }
}

Test(hook_secret, entry_needs_a_path_and_a_secret)
{
    cr_expect(transport_hook_secret_is_sound("a/b=c"));
    cr_expect(transport_hook_secret_is_sound("*=c=d"));
    cr_expect_not(transport_hook_secret_is_sound("a/b"));
    cr_expect_not(transport_hook_secret_is_sound("a/b="));
    cr_expect_not(transport_hook_secret_is_sound("=c"));
    cr_expect_not(transport_hook_secret_is_sound(""));
}
