/*
 * engine_many_system.c: 50,000 parallel instances over the real actors and stores, on one shard
 * that others use, too (field report F143). What it claims is an order of replies, not a time.
 */
#include "tests/system/engine_host.h"

enum { ITEMS = 50000, NEIGHBOURS = 100 };

static const char startend[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"startend\" isExecutable=\"true\"><startEvent id=\"s\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"e\"/></process></definitions>";

static const char many[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" "
    "xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\">"
    "<process id=\"many\" isExecutable=\"true\"><startEvent id=\"s\"/>"
    "<scriptTask id=\"list\"><extensionElements><zeebe:script expression=\"=for i in 1..50000 "
    "return i\" resultVariable=\"items\"/></extensionElements></scriptTask>"
    "<task id=\"each\"><multiInstanceLoopCharacteristics><extensionElements>"
    "<zeebe:loopCharacteristics inputCollection=\"=items\" inputElement=\"x\"/>"
    "</extensionElements></multiInstanceLoopCharacteristics></task>"
    "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"list\"/>"
    "<sequenceFlow id=\"g\" sourceRef=\"list\" targetRef=\"each\"/></process></definitions>";

/* Replies until all `wanted` tickets are there; *last: that of `ticket`, and how many came before.
 */
static struct span reply_among(struct engine_host *host, uint64_t ticket, int wanted, int *before)
{
    struct span found = SPAN_EMPTY;
    for (int i = 0; i < wanted; i++) {
        uint64_t answered;
        struct span reply = host_next_reply(host, &answered);
        if (answered == ticket) {
            found = reply;
            *before = i;
        } else {
            CHECK_OK(reply);
        }
    }
    return found;
}

static void neighbours_go_on(struct engine_host *host)
{
    CHECK_CASE("100 starts sent behind one of 50,000 instances are answered before it (F143)");
    int before = -1;
    uint64_t ticket = host_send(host, "{\"op\":\"start\",\"process\":\"many\"}");
    REQUIRE(ticket != 0);
    for (int i = 0; i < NEIGHBOURS; i++) {
        REQUIRE(host_send(host, "{\"op\":\"start\",\"process\":\"startend\"}") != 0);
    }

    struct span reply = reply_among(host, ticket, NEIGHBOURS + 1, &before);

    CHECK_INT(before, NEIGHBOURS);
    CHECK_INT(host_int(reply, "state"), 40);
    CHECK_INT(host_int(reply, "sequence"), ITEMS + 3);
}

static void is_aborted_midway(struct engine_host *host)
{
    CHECK_CASE("an abort sent behind it ends it midway (F143)");
    int before = -1;
    uint64_t start =
        host_send(host, "{\"op\":\"start\",\"process\":\"many\",\"executionId\":\"many-2\"}");
    uint64_t abort = host_send(host, "{\"op\":\"abort\",\"executionId\":\"many-2\"}");
    REQUIRE(start != 0 && abort != 0);

    struct span reply = reply_among(host, start, 2, &before);

    CHECK_INT(host_int(reply, "state"), 8);
    CHECK(host_int(reply, "sequence") < ITEMS);
}

int main(void)
{
    char directory[128];
    struct engine_host host;
    struct actor_runtime_options options = host_defaults();
    options.shard_count = 1;
    options.durability = ACTOR_NOT_DURABLE; /* order is what counts */
    host_directory(directory);
    host_open(&host, directory, options);
    host_deploy(&host, "startend.bpmn", startend);
    host_deploy(&host, "many.bpmn", many);
    neighbours_go_on(&host);
    is_aborted_midway(&host);
    host_close(&host);
    host_remove_directory(directory);
    return check_report();
}
