/*
 * Random lives: models with everything that is executed, driven by random inputs from a seed:
 * replies of all kinds, doubled and late ones, callbacks, time, crashes, operator verbs, migrations
 * to and fro. world.c
 * checks after every call that replay and decode give the same bytes and that tokens are conserved;
 * here it is checked that a run that is let alone comes to an end or to a wait that is real.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/world.h"

enum { SEEDS = 530, ACTIONS = 60, SETTLE_ROUNDS = 300 };

/* SplitMix64 (Steele, Lea, Flood 2014): the test's own randomness, the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(next_random(state) % limit);
}

#define TIMER_ON(id, host, cancel, kind, text)                                                     \
    "<boundaryEvent id='" id "' attachedToRef='" host "' cancelActivity='" cancel                  \
    "'><timerEventDefinition><" kind ">" text "</" kind "></timerEventDefinition></boundaryEvent>"
#define ANY_ERROR_ON(id, host)                                                                     \
    "<boundaryEvent id='" id "' attachedToRef='" host "'><errorEventDefinition/></boundaryEvent>"

#define BLOCK(id, type) "{\"id\":\"" id "\",\"type\":\"" type "\"}"
#define HANDLED(id)     "{\"id\":\"" id "\",\"type\":\"Block\",\"handler\":\"svc\"}"
#define FACE(from, to)  "{\"from\":\"" from "\",\"to\":\"" to "\"}"

static const char *const models[] = {
    /* fork, join, timers on tasks, a loop by exclusive gateway */
    WORLD_BPMN(START("s") XOR("m") AND("f") SERVICE("a") USER("u")
                   AND("j") "<exclusiveGateway id='x' default='x-e'/>" END("e")
                       TIMER_ON("rem", "u", "false", "timeCycle", "R3/PT10S") TASK("remind")
                           TIMER_ON("give", "u", "true", "timeDuration", "PT1M") TASK("gave")
                               FLOW("s", "m") FLOW("m", "f") FLOW("f", "a") FLOW("f", "u")
                                   FLOW("a", "j") FLOW("u", "j") FLOW("rem", "remind")
                                       FLOW("give", "gave") FLOW("gave", "j") FLOW("j", "x")
                                           FLOW_IF("x", "m", "=again = true") FLOW("x", "e")),
    /* nested scopes, errors, a terminate end, a called process with a wait */
    WORLD_FILE("<error id='E' errorCode='OOPS'/>" WORLD_PROCESS(
        "p",
        START("s") "<subProcess id='sub'>" START("i") AND(
            "f") "<serviceTask id='a'><extensionElements>"
                 "<zeebe:taskDefinition type='svc'/><zeebe:ioMapping><zeebe:input source='=n' "
                 "target='inner'/>"
                 "<zeebe:output source='=inner' "
                 "target='outer.inner'/></zeebe:ioMapping></extensionElements></serviceTask>"
                 "<callActivity id='c' calledElement='q'/>" USER(
                     "u") "<endEvent id='t'><terminateEventDefinition/></endEvent>" FLOW("i", "f")
                     FLOW("f", "a") FLOW("f", "c") FLOW("f", "u")
                         FLOW("u", "t") "</subProcess>" ANY_ERROR_ON("b", "sub")
                             TIMER_ON("late", "sub", "true", "timeDuration", "PT5M") USER("fix")
                                 END("e") FLOW("s", "sub") FLOW("sub", "e") FLOW("b", "fix")
                                     FLOW("late", "fix") FLOW("fix", "e"))
                   WORLD_PROCESS(
                       "q", START("qs") SERVICE("qa") "<exclusiveGateway id='qx' default='qx-qe'/>"
                                                      "<endEvent id='qerr'><errorEventDefinition "
                                                      "errorRef='E'/></endEvent>" END("qe")
                                                          FLOW("qs", "qa") FLOW("qa", "qx")
                                                              FLOW_IF("qx", "qerr", "=again = true")
                                                                  FLOW("qx", "qe"))),
    /* uncontrolled merge: many tokens on few nodes; timers as catch events; a join with surplus */
    WORLD_BPMN(START("s") AND("f") SERVICE("a") SERVICE(
        "b") "<intermediateCatchEvent id='w'><timerEventDefinition><timeDuration>PT30S"
             "</timeDuration></timerEventDefinition></intermediateCatchEvent>" USER("u") AND("f2")
                   AND("j") "<serviceTask id='z'/>" FLOW("s", "f") FLOW("f", "a") FLOW("f", "b")
                       FLOW("f", "w") FLOW("a", "u") FLOW("b", "u") FLOW("w", "f2") FLOW("f2", "u")
                           FLOW("f2", "j") FLOW("u", "j") FLOW("j", "z")),
    /* an inclusive split and join, branches that turn away, leave by a link or are taken away */
    WORLD_BPMN(
        START(
            "s") XOR("m") "<inclusiveGateway id='o' default='o-b'/>" SERVICE("a") SERVICE("b")
            USER("u") TIMER_ON("late", "u", "true", "timeDuration", "PT1M") END(
                "gone") "<intermediateThrowEvent id='t'><linkEventDefinition name='L'/>"
                        "</intermediateThrowEvent><intermediateCatchEvent id='l'>"
                        "<linkEventDefinition name='L'/></intermediateCatchEvent>"
                        "<inclusiveGateway id='j'/><exclusiveGateway id='x' default='x-e'/>" END(
                            "e") FLOW("s", "m") FLOW("m", "o") FLOW_IF("o", "a", "=true")
                            FLOW("o", "b") FLOW_IF("o", "u", "=again = false") FLOW("a", "t") FLOW(
                                "l", "j") FLOW("b", "j") FLOW("u", "j") FLOW("late", "gone")
                                FLOW("j", "x") FLOW_IF("x", "m", "=again = true") FLOW("x", "e")),
    /* bodies: in parallel, nested, with a collection; a sequence; a loop */
    WORLD_BPMN(START(
        "s") "<subProcess id='sub'><multiInstanceLoopCharacteristics>"
             "<extensionElements><zeebe:loopCharacteristics inputCollection='=[1,2,3]'"
             " inputElement='x' outputCollection='out' outputElement='=n'/>"
             "</extensionElements><completionCondition>=again = true"
             "</completionCondition></multiInstanceLoopCharacteristics>"
             "<serviceTask id='a' camunda:type='external' camunda:topic='svc'>"
             "<multiInstanceLoopCharacteristics><loopCardinality>=loopCounter"
             "</loopCardinality></multiInstanceLoopCharacteristics></serviceTask>"
             "</subProcess>" ANY_ERROR_ON("b", "sub") TIMER_ON("late", "sub", "true",
                                                               "timeDuration", "PT5M")
                   XOR("m") "<userTask id='u'><multiInstanceLoopCharacteristics "
                            "isSequential='true'>"
                            "<loopCardinality>2</loopCardinality></"
                            "multiInstanceLoopCharacteristics>"
                            "</userTask><serviceTask id='qa' camunda:type='external' "
                            "camunda:topic='svc'>"
                            "<standardLoopCharacteristics loopMaximum='5'><loopCondition>=again = "
                            "true"
                            "</loopCondition></standardLoopCharacteristics></serviceTask>" END("e")
                                FLOW("s", "sub") FLOW("sub", "m") FLOW("b", "m") FLOW("late", "m")
                                    FLOW("m", "u") FLOW("u", "qa") FLOW("qa", "e")),
    /* event sub-processes: of an error, of timers beside and instead of their scope; escalations */
    WORLD_BPMN(START("s") "<subProcess id='sub'>" SERVICE(
        "a") "<userTask id='u'/>"
             "<endEvent id='up'><escalationEventDefinition/></endEvent>" FLOW(
                 "u",
                 "up") "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs'>"
                       "<errorEventDefinition/></startEvent>" USER("fix") FLOW(
                           "hs",
                           "fix") "</subProcess><subProcess id='t' triggeredByEvent='true'>"
                                  "<startEvent id='ts' "
                                  "isInterrupting='false'><timerEventDefinition>"
                                  "<timeCycle>R3/PT20S</timeCycle></timerEventDefinition></"
                                  "startEvent>" SERVICE("b") FLOW(
                                      "ts",
                                      "b") "</subProcess></subProcess>"
                                           "<subProcess id='e' triggeredByEvent='true'><startEvent "
                                           "id='es' "
                                           "isInterrupting='false'><escalationEventDefinition/></"
                                           "startEvent>" SERVICE("qa") FLOW(
                                               "es",
                                               "qa") "</subProcess>"
                                                     "<subProcess id='l' "
                                                     "triggeredByEvent='true'><startEvent id='ls'>"
                                                     "<timerEventDefinition><timeDuration>PT5M</"
                                                     "timeDuration>"
                                                     "</timerEventDefinition></startEvent>" END(
                                                         "le")
                                                         FLOW("ls", "le") "</subProcess>" FLOW(
                                                             "s", "sub")),
    /* a transaction with handlers that are called, cancelled or left; ad-hoc work in sequence */
    WORLD_BPMN(START("s") XOR("m") "<transaction id='sub'>" START("i") SERVICE(
        "a") "<boundaryEvent id='on' attachedToRef='a'><compensateEventDefinition/>"
             "</boundaryEvent><serviceTask id='qa' isForCompensation='true' "
             "camunda:type='external' camunda:topic='svc'/><association id='as' "
             "sourceRef='on' targetRef='qa'/><exclusiveGateway id='x' default='x-ie'/>"
             "<endEvent id='c'><cancelEventDefinition/></endEvent>" END("ie") FLOW("i", "a")
                   FLOW("a", "x") FLOW_IF("x", "c", "=again = true") FLOW(
                       "x",
                       "ie") "</transaction><boundaryEvent id='b' attachedToRef='sub'>"
                             "<cancelEventDefinition/></boundaryEvent>" USER(
                                 "fix") "<adHocSubProcess id='h' ordering='Sequential'>" USER("u")
                                 SERVICE("b1") "</adHocSubProcess><endEvent "
                                               "id='t'><compensateEventDefinition/></"
                                               "endEvent>" FLOW("s", "m") FLOW("m", "sub")
                                                   FLOW("b", "fix") FLOW("fix", "m")
                                                       FLOW("sub", "h") FLOW("h", "t")),
    /* messages, signals and conditions: caught, thrown, at a gateway, on boundaries */
    WORLD_FILE("<message id='M' name='m'/><signal id='S' name='s'/>" WORLD_PROCESS(
        "p",
        START("s") XOR("i") "<eventBasedGateway id='g'/>" SERVICE("a") USER(
            "u") "<intermediateCatchEvent id='cm'><messageEventDefinition messageRef='M'/>"
                 "</intermediateCatchEvent><intermediateCatchEvent id='ct'><timerEventDefinition>"
                 "<timeDuration>PT40S</timeDuration></timerEventDefinition>"
                 "</intermediateCatchEvent><intermediateCatchEvent id='all' "
                 "parallelMultiple='true'><messageEventDefinition messageRef='M'/>"
                 "<signalEventDefinition signalRef='S'/></intermediateCatchEvent>"
                 "<boundaryEvent id='bm' attachedToRef='u' cancelActivity='false'>"
                 "<messageEventDefinition messageRef='M'/></boundaryEvent><boundaryEvent id='bc' "
                 "attachedToRef='u' cancelActivity='false'><conditionalEventDefinition>"
                 "<condition>=again = true</condition></conditionalEventDefinition></boundaryEvent>"
                 "<boundaryEvent id='bs' attachedToRef='u'><signalEventDefinition signalRef='S'/>"
                 "</boundaryEvent><intermediateThrowEvent id='t'><signalEventDefinition "
                 "signalRef='S'/></intermediateThrowEvent><endEvent id='e'>"
                 "<messageEventDefinition messageRef='M'/></endEvent>" TASK("note") FLOW("s", "i")
                     FLOW("i", "g") FLOW("s", "a") FLOW("a", "t") FLOW("t", "u") FLOW("g", "cm")
                         FLOW("g", "ct") FLOW("cm", "all") FLOW("ct", "e") FLOW("all", "e")
                             FLOW("u", "e") FLOW("bm", "note") FLOW("bc", "note") FLOW("bs", "e"))),
    /* a block scheme: joins, results, a loop, a dead end, a finish that aborts */
    "{\"id\":\"p\",\"blocks\":[" BLOCK("s", "StartBlock") "," HANDLED("m") "," HANDLED("a") "," HANDLED("b") "," HANDLED("qa") "," HANDLED("fix") "," HANDLED("u") "," BLOCK("b1", "OrBlock") "," BLOCK("f", "FinishBlock") "],\"faces\":[" FACE(
        "s",
        "m") "," FACE("s",
                      "u") "," FACE("m",
                                    "a") "," FACE("m",
                                                  "b") "," FACE("a",
                                                                "qa") "," FACE("b",
                                                                               "qa") "," FACE("a",
                                                                                              "b1") "," FACE("b",
                                                                                                             "b1") "," FACE("qa",
                                                                                                                            "fix") ","
                                                                                                                                   "{\"from\":\"qa\",\"to\":\"m\",\"result\":\"o\"}," FACE(
                                                                                                                                       "fix",
                                                                                                                                       "f") "]}",
    /* a complex gateway that starts on two of three, resets and goes round; a signal that the
     * process hears itself */
    WORLD_FILE("<signal id='S' name='own'/>" WORLD_PROCESS(
        "p",
        START("s") XOR("m") AND("f") SERVICE("a") SERVICE("b") USER(
            "u") "<complexGateway id='j' default='j-note'><activationCondition>activationCount "
                 "&gt;= 2</activationCondition></complexGateway>" TASK("note") SERVICE("qa")
                     XOR("x") END(
                         "e") "<intermediateThrowEvent id='t'><signalEventDefinition "
                              "signalRef='S'/></intermediateThrowEvent><subProcess id='h' "
                              "triggeredByEvent='true'><startEvent id='hs' isInterrupting='false'>"
                              "<signalEventDefinition signalRef='S'/></startEvent>" TASK("ht")
                                  FLOW("hs", "ht") "</subProcess>" FLOW("s", "m") FLOW("m", "f")
                                      FLOW("f", "a") FLOW("f", "b") FLOW("f", "u") FLOW("a", "j")
                                          FLOW("b", "j") FLOW("u", "j") FLOW_IF("j", "qa",
                                                                                "=waitingForStart")
                                              FLOW("j", "note") FLOW("note", "t") FLOW("qa", "x")
                                                  FLOW_IF("x", "m", "=again = true")
                                                      FLOW_IF("x", "e", "=again != true"))),
};

static const char modules[] =
    "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/"
    "svc\",\"callback\":true,\"cancel\":true,\"callbackTimeoutMs\":20000}]";

static const struct {
    uint32_t status;
    const char *body;
} replies[] = {
    {200, "{}"},
    {200, "{\"execution\":{\"again\":true,\"n\":1}}"},
    {200, "{\"execution\":{\"again\":false},\"outputs\":{\"r\":[1,2]},\"output\":\"o\",\"logs\":[{"
          "\"message\":\"m\"}]}"},
    {202, NULL},
    {503, NULL},
    {404, NULL},
    {200, "{\"wait\":{\"kind\":\"human\",\"assignee\":\"x\"}}"},
    {200, "{\"error\":{\"code\":\"c\",\"message\":\"m\",\"bpmnError\":\"OOPS\"}}"},
    {200, "{\"conversation\":[{\"role\":\"user\"}],\"context\":{\"$unset\":[\"k\"],\"l\":1}}"},
};

static struct world_call *any_open_call(struct world *world, uint64_t *random)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < world->call_count; i++) {
        open += world->calls[i].open;
    }
    uint32_t chosen = open == 0 ? 0 : below(random, open);
    for (uint32_t i = 0; i < world->call_count; i++) {
        if (world->calls[i].open && chosen-- == 0) {
            return &world->calls[i];
        }
    }
    return NULL;
}

static void act(struct world *world, uint64_t *random)
{
    static const char *const tasks[] = {"u", "fix", "a", "qa", "b", "nobody", NULL};
    static const enum engine_input_kind verbs[] = {
        ENGINE_IN_SUSPEND, ENGINE_IN_RESUME,  ENGINE_IN_RESUME, ENGINE_IN_RETRY,
        ENGINE_IN_RETRY,   ENGINE_IN_RESTART, ENGINE_IN_ABORT};
    struct world_call *call = any_open_call(world, random);
    uint32_t choice = below(random, 100);
    if (choice < 45 && call != NULL) {
        uint32_t reply = below(random, sizeof replies / sizeof replies[0]);
        (void)world_answer_call(world, (uint32_t)(call - world->calls), replies[reply].status,
                                replies[reply].body);
    } else if (choice < 50 && world->call_count > 0) { /* a reply that may be late or doubled */
        (void)world_answer_call(world, below(random, world->call_count), 200,
                                "{\"execution\":{\"stray\":1}}");
    } else if (choice < 70) {
        (void)world_callback(world, tasks[below(random, sizeof tasks / sizeof tasks[0])],
                             "{\"said\":1}");
    } else if (choice < 74) {
        (void)world_message(world, "m", NULL, "{\"heard\":1}");
    } else if (choice < 77) {
        (void)world_signal(world, "s", NULL);
    } else if (choice < 84) {
        world_pass(world, below(random, 40000));
    } else if (choice < 87) {
        world_sleep(world, below(random, 400000));
    } else if (choice < 91) {
        world_crash(world);
    } else if (choice < 93) {
        (void)world_migrate(world, world->execution->process->version == 1 ? 2 : 1, NULL);
    } else {
        (void)world_verb(world, verbs[below(random, sizeof verbs / sizeof verbs[0])], NULL);
    }
}

/* The faults are over: everything is answered well, until the run has ended. */
static bool settle(struct world *world)
{
    struct engine_view view;
    for (unsigned round = 0; round < SETTLE_ROUNDS; round++) {
        uint64_t first = 0;
        engine_look(world->execution, &view);
        if (view.ended) {
            return true;
        }
        struct world_call *call = any_open_call(world, &first);
        if (world_verb(world, ENGINE_IN_RESUME, NULL)) {
            continue;
        }
        if (call != NULL) {
            (void)world_answer_call(world, (uint32_t)(call - world->calls), 200,
                                    "{\"execution\":{\"again\":false}}");
        } else if (!world_callback(world, NULL, "{}") && !world_callback(world, "u", "{}") &&
                   !world_callback(world, "a", "{}") && !world_callback(world, "qa", "{}") &&
                   !world_callback(world, "b", "{}") && !world_callback(world, "fix", "{}") &&
                   !world_callback(world, "b1", "{}") && !world_message(world, "m", NULL, NULL) &&
                   !world_signal(world, "s", NULL)) {
            world_pass(world, 60000);
        }
    }
    return false;
}

/* The same process with one node more, before all others: so all are numbered otherwise. */
static void deploy_another(struct world *world, const char *model)
{
    bool is_bpmn = model[0] == '<';
    const char *mark = is_bpmn ? "isExecutable='true'>" : "\"blocks\":[";
    const char *node = is_bpmn ? "<task id='more'/>" : "{\"id\":\"more\",\"type\":\"Block\"},";
    const char *rest = strstr(model, mark) + strlen(mark);
    char text[16384];
    int length = snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - model), model, node, rest);
    cr_assert(length > 0 && (size_t)length < sizeof text);
    world_deploy(world, text);
}

static void live(uint64_t seed, uint64_t event_counts[ENGINE_EVENT_TYPE_COUNT])
{
    struct world world;
    uint64_t random = seed;
    const char *model = models[below(&random, sizeof models / sizeof models[0])];
    world_open(&world, model, modules);
    deploy_another(&world, model);
    if (below(&random, 8) == 0) { /* the same, said to have stood before its start */
        bool imported = world_import(&world, "{\"request\":{\"k\":1},\"active\":[\"s\"],"
                                             "\"execution\":{\"again\":false}}");
        cr_assert(imported, "%.*s", SPAN_ARG(world.refusal));
    } else {
        world_start(&world, "{\"k\":1}", "{\"again\":false}");
    }
    for (unsigned i = 0; i < ACTIONS; i++) {
        act(&world, &random);
    }
    cr_expect(settle(&world), "seed %llu: still waiting for %s, calls %s", (unsigned long long)seed,
              world_waiting(&world), world_open_calls(&world));
    struct engine_view view;
    engine_look(world.execution, &view);
    cr_expect(view.state == 40 || view.state == 24 || view.state == 8, "seed %llu: state %u",
              (unsigned long long)seed, view.state);
    for (unsigned type = 0; type < ENGINE_EVENT_TYPE_COUNT; type++) {
        event_counts[type] += world.event_counts[type];
    }
    world_close(&world);
}

/* STRIDER_SEED=n runs that seed alone. */
Test(random, lives_keep_every_promise_and_meet_every_event, .timeout = 600)
{
    uint64_t event_counts[ENGINE_EVENT_TYPE_COUNT] = {0};
    const char *only = getenv("STRIDER_SEED");
    if (only != NULL) {
        live(strtoull(only, NULL, 10), event_counts);
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        live(seed, event_counts);
    }
    for (enum engine_event_type type = ENGINE_EVENT_NONE + 1; type < ENGINE_EVENT_TYPE_COUNT;
         type++) {
        cr_expect_geq(event_counts[type], 12, "\"%s\" happened %llu times", engine_event_name(type),
                      (unsigned long long)event_counts[type]);
    }
}
