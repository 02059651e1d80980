#include "proto/operation.h"

#include <criterion/criterion.h>

Test(operation, every_name_parses_to_its_operation)
{
    for (int i = PROTO_OP_NONE + 1; i < PROTO_OP_COUNT; i++) {
        const char *name = proto_operation_name((enum proto_operation)i);
        cr_expect_eq((int)proto_operation_parse(span_text(name)), i, "%s", name);
    }
    cr_expect_str_eq(proto_operation_name(PROTO_OP_CALLBACK), "callback");
}

Test(operation, unknown_names_are_none)
{
    static const char *const rows[] = {"", "Start", "start ", "star", "starts", "none"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(proto_operation_parse(span_text(rows[i])), PROTO_OP_NONE, "\"%s\"", rows[i]);
    }
    cr_expect_eq(proto_operation_parse(SPAN_EMPTY), PROTO_OP_NONE);
}

Test(operation, error_codes_are_their_own_text)
{
    cr_expect_str_eq(proto_error_name(PROTO_ERROR_NONE), "");
    cr_expect_str_eq(proto_error_name(PROTO_ERROR_AmbiguousCallback), "AmbiguousCallback");
    cr_expect_str_eq(proto_error_name(PROTO_ERROR_Internal), "Internal");
}
