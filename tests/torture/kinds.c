/* kinds.c: the processes of the torture. All of them end as Completed, whatever the order of
 * things. */
#include "tests/torture/ledger.h"

#define BPMN "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
#define FLOW(id, from, to)                                                                         \
    "<sequenceFlow id=\"" id "\" sourceRef=\"" from "\" targetRef=\"" to "\"/>"
#define MODULE(id) "<serviceTask id=\"" id "\"/>"

const struct torture_kind_row torture_kinds[TORTURE_KIND_COUNT] = {
    [TORTURE_WAIT] =
        {.process = "wait",
         .calls = 2,
         .needs = true,
         .definition = BPMN
         "<process id=\"wait\" isExecutable=\"true\"><startEvent id=\"s\"/>" MODULE(
             "m1") "<userTask id=\"u\"/>" MODULE("m2") "<endEvent id=\"e\"/>" FLOW("f1", "s", "m1")
             FLOW("f2", "m1", "u") FLOW("f3", "u", "m2")
                 FLOW("f4", "m2", "e") "</process></definitions>"},
    [TORTURE_FORK] = {.process = "fork",
                      .calls = 3,
                      .definition = BPMN
                      "<process id=\"fork\" isExecutable=\"true\"><startEvent id=\"s\"/>"
                      "<parallelGateway id=\"g\"/>" MODULE("a") MODULE("b")
                          MODULE("c") "<parallelGateway id=\"j\"/><endEvent id=\"e\"/>" FLOW(
                              "f1", "s", "g") FLOW("f2", "g", "a") FLOW("f3", "g", "b")
                              FLOW("f4", "g", "c") FLOW("f5", "a", "j") FLOW("f6", "b", "j") FLOW(
                                  "f7", "c", "j") FLOW("f8", "j", "e") "</process></definitions>"},
    [TORTURE_MESSAGE] =
        {.process = "message",
         .calls = 1,
         .needs = true,
         .definition = "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" "
                       "xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\">"
                       "<message id=\"msg\" name=\"paid\"><extensionElements>"
                       "<zeebe:subscription correlationKey=\"=key\"/></extensionElements></message>"
                       "<process id=\"message\" isExecutable=\"true\"><startEvent id=\"s\"/>"
                       "<intermediateCatchEvent id=\"c\"><messageEventDefinition "
                       "messageRef=\"msg\"/></intermediateCatchEvent>" MODULE(
                           "m1") "<endEvent id=\"e\"/>" FLOW("f1", "s", "c") FLOW("f2", "c", "m1")
                           FLOW("f3", "m1", "e") "</process></definitions>"},
    [TORTURE_TIMER] = {.process = "timer",
                       .calls = 1,
                       .definition = BPMN
                       "<process id=\"timer\" isExecutable=\"true\"><startEvent id=\"s\"/>"
                       "<intermediateCatchEvent id=\"t\"><timerEventDefinition><timeDuration>PT1S"
                       "</timeDuration></timerEventDefinition></intermediateCatchEvent>" MODULE(
                           "m1") "<endEvent id=\"e\"/>" FLOW("f1", "s", "t") FLOW("f2", "t", "m1")
                           FLOW("f3", "m1", "e") "</process></definitions>"},
};
