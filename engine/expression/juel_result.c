/*
 * juel_result.c: the methods of Camunda 7's decision results, which are lists of maps here, one for
 * each rule that matched: of the list, and of one of its maps.
 */
#include "engine/expression/juel_method.h"

static struct expression_value several(const struct juel_invocation *call, const char *what)
{
    return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                           "%.*s: there are several %s where one is wanted", SPAN_ARG(call->name),
                           what);
}

static struct expression_value first_result(const struct juel_invocation *call)
{
    struct expression_value row;
    bool any = call->receiver.count > 0 && expression_value_at(call->receiver, 0, &row);
    return any ? expression_value_read(row) : expression_null();
}

static struct expression_value single_result(const struct juel_invocation *call)
{
    return call->receiver.count > 1 ? several(call, "results") : first_result(call);
}

static struct expression_value first_entry(const struct juel_invocation *call)
{
    struct expression_walk walk = expression_walk(call->receiver);
    struct expression_entry entry;
    return expression_walk_entry(&walk, &entry) ? entry.value : expression_null();
}

static struct expression_value single_entry_of_row(const struct juel_invocation *call)
{
    return call->receiver.count > 1 ? several(call, "outputs") : first_entry(call);
}

static struct expression_value single_entry(const struct juel_invocation *call)
{
    struct juel_invocation of_row = *call;
    of_row.receiver = single_result(call);
    if (of_row.receiver.type == VALUE_NULL) {
        return expression_null();
    }
    if (of_row.receiver.type != VALUE_CONTEXT) {
        return expression_fail(call->evaluation, RESULT_INVALID, call->offset,
                               "%.*s: %s has no outputs", SPAN_ARG(call->name),
                               expression_type_name(of_row.receiver.type));
    }
    return single_entry_of_row(&of_row);
}

static struct expression_value entry_of_row(const struct juel_invocation *call)
{
    struct expression_value value;
    return expression_value_find(call->receiver, expression_juel_text(call, 0), &value)
               ? value
               : expression_null();
}

/* Rows without that output add nothing. */
static struct expression_value collect_entries(const struct juel_invocation *call)
{
    struct expression_builder entries = {.arena = call->evaluation->arena};
    struct expression_walk walk = expression_walk(call->receiver);
    struct span name = expression_juel_text(call, 0);
    struct expression_value row;
    struct expression_value value;
    while (expression_walk_item(&walk, &row) && expression_pay(call->evaluation, 1)) {
        if (row.type == VALUE_CONTEXT && expression_value_find(row, name, &value)) {
            expression_builder_add(&entries, value);
        }
    }
    return expression_builder_list(&entries);
}

static struct expression_value itself(const struct juel_invocation *call)
{
    return call->receiver;
}

const struct juel_method expression_result_methods[] = {
    {"getSingleResult", VALUE_LIST, 0, 0, single_result},
    {"getFirstResult", VALUE_LIST, 0, 0, first_result},
    {"getResultList", VALUE_LIST, 0, 0, itself},
    {"getSingleEntry", VALUE_LIST, 0, 0, single_entry},
    {"collectEntries", VALUE_LIST, 1, 1, collect_entries},
    {"getSingleEntry", VALUE_CONTEXT, 0, 0, single_entry_of_row},
    {"getFirstEntry", VALUE_CONTEXT, 0, 0, first_entry},
    {"getEntry", VALUE_CONTEXT, 1, 1, entry_of_row},
    {"getEntryMap", VALUE_CONTEXT, 0, 0, itself},
    {0},
};
