/*
 * Messages, signals, conditions, and events with several triggers: who hears what, and when it is
 * over. traps.md 6, 7, 9 and 13; field reports F10, F16, F46, F68, F79.
 */
#include <criterion/criterion.h>

#include "tests/conformance/world.h"

#define MESSAGES                                                                                   \
    "<message id='M' name='paid'><extensionElements><zeebe:subscription "                          \
    "correlationKey='=order'/></extensionElements></message><message id='N' name='news'/>"         \
    "<signal id='S' name='alarm'/>"
#define FILE_OF(body)   WORLD_FILE(MESSAGES WORLD_PROCESS("p", body))
#define ON_MESSAGE(ref) "<messageEventDefinition messageRef='" ref "'/>"
#define ON_SIGNAL(ref)  "<signalEventDefinition signalRef='" ref "'/>"
#define ON_TRUE(text)                                                                              \
    "<conditionalEventDefinition><condition>" text "</condition></conditionalEventDefinition>"
#define AFTER(text)                                                                                \
    "<timerEventDefinition><timeDuration>" text "</timeDuration></timerEventDefinition>"
#define CATCH(id, on) "<intermediateCatchEvent id='" id "'>" on "</intermediateCatchEvent>"
#define CATCH_ALL(id, on)                                                                          \
    "<intermediateCatchEvent id='" id "' parallelMultiple='true'>" on "</intermediateCatchEvent>"
#define THROW(id, on) "<intermediateThrowEvent id='" id "'>" on "</intermediateThrowEvent>"
#define ENDS(id, on)  "<endEvent id='" id "'>" on "</endEvent>"
#define ON_BOUNDARY(id, host, cancel, on)                                                          \
    "<boundaryEvent id='" id "' attachedToRef='" host "' cancelActivity='" cancel "'>" on          \
    "</boundaryEvent>"
#define GATEWAY(id) "<eventBasedGateway id='" id "'/>"

/* ---- messages ---- */

#define CATCH_PAID                                                                                 \
    FILE_OF(START("s") CATCH("c", ON_MESSAGE("M")) END("e") FLOW("s", "c") FLOW("c", "e"))

Test(message, goes_to_the_wait_of_its_name_and_correlation_key)
{
    struct world world;
    world_open(&world, CATCH_PAID, NULL);

    world_start(&world, NULL, "{\"order\":42}");

    cr_expect_str_eq(world_waiting(&world), "c:message");
    cr_expect_str_eq(world_subscriptions(&world), "c:message:paid/42");
    cr_expect_not(world_message(&world, "paid", "43", NULL));
    cr_expect_eq(world.error, PROTO_ERROR_NotWaiting);
    cr_expect_not(world_message(&world, "paid", NULL, NULL));
    cr_expect_not(world_message(&world, "other", "42", NULL));
    world_crash(&world);
    cr_expect(world_message(&world, "paid", "42", "{\"sum\":7}"));
    cr_expect_str_eq(world_trace(&world), "s c e");
    cr_expect_str_eq(world_value(&world, "execution.sum"), "7");
    cr_expect_str_eq(world_value(&world, "__resume.sum"), "7");
    cr_expect_eq(world_state(&world), 40);
    cr_expect_not(world_message(&world, "paid", "42", NULL));
    cr_expect_eq(world.error, PROTO_ERROR_AlreadyFinished);
    world_close(&world);
}

Test(message, a_key_that_is_null_or_a_list_is_an_incident_that_can_be_resolved)
{
    static const char *const orders[] = {"{}", "{\"order\":[1]}", "{\"order\":{\"a\":1}}"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct world world;
        world_open(&world, CATCH_PAID, NULL);

        world_start(&world, NULL, orders[i]);

        cr_expect_eq(world_state(&world), 24);
        cr_expect_str_eq(world_error(&world), "ExpressionFailed");
        cr_expect_str_eq(world_subscriptions(&world), "");
        cr_expect(world_verb(&world, ENGINE_IN_RETRY, NULL));
        cr_expect_eq(world_state(&world), 24, "a retry without a repair fails again (F34)");
        world_close(&world);
    }
}

Test(message, without_a_key_a_wait_takes_any_of_its_name_and_a_keyed_one_comes_first)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") CATCH(
                   "any", ON_MESSAGE("N")) "<intermediateCatchEvent id='mine' "
                                           "xmlns:strider='https://strider.dev/schema/1.0' "
                                           ">" ON_MESSAGE("N") "</intermediateCatchEvent>" END("e")
                                               FLOW("s", "any") FLOW("s", "mine") FLOW("any", "e")
                                                   FLOW("mine", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect(world_message(&world, "news", "k", NULL));

    cr_expect_str_eq(world_trace(&world), "s any mine e", "the older wait takes it");
    cr_expect_str_eq(world_waiting(&world), "mine:message");
    cr_expect(world_message(&world, "news", NULL, NULL));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(message, a_receive_task_waits_for_its_message)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") "<receiveTask id='r' messageRef='N'><extensionElements>"
                                  "<zeebe:ioMapping><zeebe:output source='=a' target='b'/>"
                                  "</zeebe:ioMapping></extensionElements></receiveTask>" END("e")
                                      FLOW("s", "r") FLOW("r", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "r:message");
    cr_expect(world_message(&world, "news", NULL, "{\"a\":1}"));

    cr_expect_str_eq(world_trace(&world), "s r e");
    cr_expect_str_eq(world_value(&world, "execution.b"), "1");
    world_close(&world);
}

/* Found by the simulator: stored bytes of a join do not tell nil from nothing. */
Test(message, with_nothing_to_say_is_the_same_behind_a_join_after_a_decode)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") AND("fork") "<receiveTask id='r' messageRef='N'/>" USER("u") AND(
                   "j") USER("v") END("e") FLOW("s", "fork") FLOW("fork", "u") FLOW("fork", "r")
                           FLOW("u", "j") FLOW("r", "j") FLOW("j", "v") FLOW("v", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect(world_message(&world, "news", NULL, "null"));
    cr_expect(world_callback(&world, "u", NULL)); /* the world compares with a decoded twin */

    cr_expect_str_eq(world_waiting(&world), "v:human");
    world_close(&world);
}

Test(message, of_a_throw_event_an_end_event_and_a_send_task_leaves_with_its_inputs)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") "<intermediateThrowEvent id='t'><extensionElements><zeebe:ioMapping>"
                           "<zeebe:input source='=order' target='o'/></zeebe:ioMapping>"
                           "</extensionElements>" ON_MESSAGE(
                               "M") "</intermediateThrowEvent>"
                                    "<sendTask id='m' messageRef='N'/>" ENDS("e", ON_SIGNAL("S"))
                                        FLOW("s", "t") FLOW("t", "m") FLOW("m", "e")),
        NULL);

    world_start(&world, NULL, "{\"order\":\"A\"}");

    cr_expect_str_eq(world.published, "paid/A{\"o\":\"A\"} news signal:alarm ");
    cr_expect_str_eq(world_trace(&world), "s t m e");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(message, of_a_throw_event_with_a_task_type_is_sent_by_its_module)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") "<endEvent id='e'><extensionElements><zeebe:taskDefinition "
                                  "type='svc'/></extensionElements>" ON_MESSAGE(
                                      "M") "</endEvent>" FLOW("s", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_open_calls(&world), "e");
    world_answer(&world, "e", 200, "{}");

    cr_expect_str_eq(world.published, "");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- boundary events ---- */

Test(boundary_message, that_interrupts_takes_the_host_and_its_wait_away)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER("u") ON_BOUNDARY("b", "u", "true", ON_MESSAGE("M")) TASK("x")
                           END("e") FLOW("s", "u") FLOW("u", "e") FLOW("b", "x")),
               NULL);

    world_start(&world, NULL, "{\"order\":\"A\"}");
    cr_expect_str_eq(world_subscriptions(&world), "b:message:paid/A");
    cr_expect(world_message(&world, "paid", "A", "{\"why\":\"late\"}"));

    cr_expect_str_eq(world_trace(&world), "s u b x");
    cr_expect_str_eq(world_value(&world, "execution.why"), "\"late\"");
    cr_expect_not(world_callback(&world, "u", NULL), "F79");
    world_close(&world);
}

Test(boundary_message, that_does_not_interrupt_makes_a_token_each_time_until_the_host_is_done)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER("u") ON_BOUNDARY("b", "u", "false", ON_MESSAGE("N"))
                           TASK("x") END("e") FLOW("s", "u") FLOW("u", "e") FLOW("b", "x")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect(world_message(&world, "news", NULL, NULL));
    world_crash(&world);
    cr_expect(world_message(&world, "news", NULL, NULL));
    cr_expect(world_callback(&world, "u", NULL));

    cr_expect_str_eq(world_trace(&world), "s u b x b x e");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(boundary_message, on_a_sub_process_takes_all_that_runs_in_it)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") "<subProcess id='p1'>" START("is") USER("u") SERVICE("a") FLOW("is", "u")
                    FLOW("is", "a") "</subProcess>" ON_BOUNDARY("b", "p1", "true", ON_SIGNAL("S"))
                        TASK("x") END("e") FLOW("s", "p1") FLOW("p1", "e") FLOW("b", "x")),
        NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_open_calls(&world), "a");
    cr_expect(world_signal(&world, "alarm", NULL));

    cr_expect_str_eq(world_open_calls(&world), "", "the call is dropped");
    cr_expect_str_eq(world_trace(&world), "s p1 is u a b x");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- signals ---- */

Test(signal, reaches_every_wait_of_its_name_and_is_not_kept)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") CATCH("a", ON_SIGNAL("S")) CATCH("b", ON_SIGNAL("S")) USER("u")
                           CATCH("late", ON_SIGNAL("S")) FLOW("s", "a") FLOW("s", "b")
                               FLOW("s", "u") FLOW("u", "late")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect(world_signal(&world, "alarm", "{\"n\":1}"));
    cr_expect_str_eq(world_waiting(&world), "u:human");
    cr_expect_not(world_signal(&world, "alarm", NULL), "nobody hears it now");
    cr_expect(world_callback(&world, "u", NULL));

    cr_expect_str_eq(world_waiting(&world), "late:signal");
    cr_expect_str_eq(world_value(&world, "execution.n"), "1");
    world_close(&world);
}

/* ---- conditions ---- */

Test(condition, that_is_true_on_entry_passes_at_once)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") CATCH("c", ON_TRUE("=n &gt; 1")) END("e") FLOW("s", "c") FLOW("c", "e")),
        NULL);

    world_start(&world, NULL, "{\"n\":2}");

    cr_expect_str_eq(world_trace(&world), "s c e");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(condition, is_looked_at_again_when_a_variable_changed)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") CATCH("c", ON_TRUE("=n &gt; 1")) SERVICE("a") SERVICE("b")
                           FLOW("s", "c") FLOW("s", "a") FLOW("a", "b")),
               NULL);

    world_start(&world, NULL, "{\"n\":0}");
    cr_expect_str_eq(world_waiting(&world), "c:event");
    world_answer(&world, "a", 200, "{\"execution\":{\"n\":1}}");
    cr_expect_str_eq(world_waiting(&world), "c:event");
    world_crash(&world);
    world_answer(&world, "b", 200, "{\"execution\":{\"n\":2}}");

    cr_expect_str_eq(world_waiting(&world), "");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(condition, of_a_boundary_event_that_is_true_on_entry_fires_before_the_work)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") SERVICE("a") ON_BOUNDARY("b", "a", "true", ON_TRUE("=stop"))
                           TASK("x") END("e") FLOW("s", "a") FLOW("a", "e") FLOW("b", "x")),
               NULL);

    world_start(&world, NULL, "{\"stop\":true}");

    cr_expect_eq(world.call_count, 0, "the module is never called");
    cr_expect_str_eq(world_trace(&world), "s a b x");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(condition, that_does_not_interrupt_fires_each_time_it_turns_true)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER("u") ON_BOUNDARY("b", "u", "false", ON_TRUE("=hot"))
                           TASK("x") SERVICE("a1") SERVICE("a2") SERVICE("a3") FLOW("s", "u")
                               FLOW("s", "a1") FLOW("a1", "a2") FLOW("a2", "a3") FLOW("b", "x")),
               NULL);

    world_start(&world, NULL, "{\"hot\":true}");
    cr_expect_str_eq(world_trace(&world), "s u a1 b x");
    world_answer(&world, "a1", 200, "{\"execution\":{\"other\":1}}");
    cr_expect_str_eq(world_trace(&world), "s u a1 b x a2", "true still is no turn");
    world_answer(&world, "a2", 200, "{\"execution\":{\"hot\":false}}");
    world_answer(&world, "a3", 200, "{\"execution\":{\"hot\":true}}");

    cr_expect_str_eq(world_trace(&world), "s u a1 b x a2 a3 b x");
    world_close(&world);
}

/* ---- event gateways ---- */

#define ORDER_GATEWAY                                                                              \
    FILE_OF(START("s") GATEWAY("g") CATCH("m", ON_MESSAGE("N")) CATCH("t", AFTER("PT1M"))          \
                CATCH("x", ON_SIGNAL("S")) TASK("a") TASK("b") FLOW("s", "g") FLOW("g", "m")       \
                    FLOW("g", "t") FLOW("g", "x") FLOW("m", "a") FLOW("t", "b") FLOW("x", "b"))

Test(event_gateway, the_first_event_wins_and_the_others_are_forgotten)
{
    struct world world;
    world_open(&world, ORDER_GATEWAY, NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "g:event");
    cr_expect_str_eq(world_subscriptions(&world), "m:message:news x:signal:alarm");
    world_crash(&world);
    cr_expect(world_message(&world, "news", NULL, "{\"n\":1}"));
    world_pass(&world, 120000);

    cr_expect_str_eq(world_trace(&world), "s g m a");
    cr_expect_str_eq(world_value(&world, "execution.n"), "1");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(event_gateway, a_message_after_the_timer_is_refused)
{
    struct world world;
    world_open(&world, ORDER_GATEWAY, NULL);

    world_start(&world, NULL, NULL);
    world_pass(&world, 60000);

    cr_expect_str_eq(world_trace(&world), "s g t b");
    cr_expect_not(world_message(&world, "news", NULL, NULL));
    cr_expect_str_eq(world_subscriptions(&world), "");
    world_close(&world);
}

Test(event_gateway, a_receive_task_and_a_true_condition_may_follow)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") GATEWAY("g") "<receiveTask id='r' messageRef='N'/>" CATCH(
                   "c", ON_TRUE("=n = 1")) TASK("a") TASK("b") SERVICE("z") FLOW("s", "g")
                           FLOW("g", "r") FLOW("g", "c") FLOW("r", "a") FLOW("c", "b")
                               FLOW("a", "z") FLOW("z", "g")),
               NULL);

    world_start(&world, NULL, "{\"n\":0}");
    cr_expect(world_message(&world, "news", NULL, NULL));
    cr_expect_str_eq(world_trace(&world), "s g r a z");
    world_answer(&world, "z", 200, "{\"execution\":{\"n\":1}}");

    cr_expect_str_eq(world_trace(&world), "s g r a z g c b", "it was true on entry");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- several triggers ---- */

Test(multiple, any_of_its_triggers_is_enough)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") CATCH("c", ON_MESSAGE("N") ON_SIGNAL("S") AFTER("PT1M")) END("e")
                           FLOW("s", "c") FLOW("c", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_waiting(&world), "c:event");
    cr_expect(world_signal(&world, "alarm", NULL));

    cr_expect_str_eq(world_trace(&world), "s c e");
    cr_expect_eq(engine_next_due_ms(world.execution), INT64_MAX, "the timer is gone too");
    world_close(&world);
}

Test(multiple, a_parallel_one_needs_all_of_them)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") CATCH_ALL("c", ON_MESSAGE("N") ON_SIGNAL("S") AFTER("PT1M"))
                           END("e") FLOW("s", "c") FLOW("c", "e")),
               NULL);

    world_start(&world, NULL, NULL);
    cr_expect(world_message(&world, "news", NULL, "{\"a\":1}"));
    cr_expect_not(world_message(&world, "news", NULL, NULL), "it has come already");
    world_pass(&world, 60000);
    world_crash(&world);
    cr_expect_str_eq(world_waiting(&world), "c:event");
    cr_expect(world_signal(&world, "alarm", "{\"b\":2}"));

    cr_expect_str_eq(world_trace(&world), "s c e");
    cr_expect_str_eq(world_value(&world, "execution.a"), "1");
    cr_expect_str_eq(world_value(&world, "execution.b"), "2");
    world_close(&world);
}

Test(multiple, a_parallel_boundary_event_that_does_not_interrupt_begins_anew)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER(
                   "u") "<boundaryEvent id='b' attachedToRef='u' "
                        "cancelActivity='false' parallelMultiple='true'>" ON_MESSAGE("N") ON_SIGNAL(
                            "S") "</boundaryEvent>" TASK("x") FLOW("s", "u") FLOW("b", "x")),
               NULL);

    world_start(&world, NULL, NULL);
    for (unsigned round = 0; round < 2; round++) {
        cr_expect(world_signal(&world, "alarm", NULL));
        cr_expect(world_message(&world, "news", NULL, NULL));
    }

    cr_expect_str_eq(world_trace(&world), "s u b x b x");
    world_close(&world);
}

/* ---- starts ---- */

Test(start_node, a_run_and_its_restart_begin_at_the_given_start_event)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") "<startEvent id='m'>" ON_MESSAGE("M") "</startEvent>" TASK("a")
                           TASK("b") FLOW("s", "a") FLOW("m", "b")),
               NULL);

    const struct engine_process *process = &world.definition->processes[0];
    cr_expect_str_eq(
        (const char *)engine_process_started_by(process, ENGINE_ON_MESSAGE, span_text("paid"))
            ->id.bytes,
        "m");
    cr_expect_null(engine_process_started_by(process, ENGINE_ON_MESSAGE, span_text("other")));
    world_start_at(&world, "m", NULL);
    cr_expect_str_eq(world_trace(&world), "m b");
    world_crash(&world);
    cr_expect(world_verb(&world, ENGINE_IN_RESTART, NULL));

    cr_expect_str_eq(world_trace(&world), "m b");
    world_close(&world);
}

Test(start_node, an_instantiating_receive_task_has_its_message_already)
{
    struct world world;
    world_open(
        &world,
        FILE_OF("<receiveTask id='r' instantiate='true' messageRef='N'/>" TASK("a") FLOW("r", "a")),
        NULL);

    world_start_at(&world, "r", NULL);

    cr_expect_str_eq(world_trace(&world), "r a");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(start_node, a_parallel_event_gateway_waits_for_its_other_events_in_the_same_execution)
{
    struct world world;
    world_open(
        &world,
        FILE_OF("<eventBasedGateway id='g' instantiate='true' eventGatewayType='Parallel'/>" CATCH(
            "m", ON_MESSAGE("N")) CATCH("x", ON_MESSAGE("M")) AND("j") TASK("a") FLOW("g", "m")
                    FLOW("g", "x") FLOW("m", "j") FLOW("x", "j") FLOW("j", "a")),
        NULL);

    world_start_at(&world, "m", "{\"order\":1}");
    cr_expect_str_eq(world_waiting(&world), "x:message");
    cr_expect(world_message(&world, "paid", "1", NULL));

    cr_expect_str_eq(world_trace(&world), "m x j a");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- joins and messages ---- */

Test(deadlock, is_none_while_a_message_can_still_come)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") AND("f") TASK("a") "<subProcess id='p1'>" START("is") AND("ij") AND("if")
                    TASK("never") FLOW("is", "if") FLOW("if", "ij") FLOW("never", "ij")
                        FLOW("ij", "z") TASK("z") FLOW("z", "never") "</subProcess>" ON_BOUNDARY(
                            "b", "p1", "true", ON_MESSAGE("N")) AND("j") FLOW("s", "f")
                            FLOW("f", "a") FLOW("f", "p1") FLOW("a", "j") FLOW("b", "j")),
        NULL);

    world_start(&world, NULL, NULL);
    cr_expect_str_eq(world_error(&world), "");
    cr_expect(world_message(&world, "news", NULL, NULL));

    cr_expect_str_eq(world_trace(&world), "s f a p1 is if b j");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

/* ---- event sub-processes ---- */

Test(event_sub_process, of_a_message_takes_all_branches_away_and_the_run_ends)
{
    struct world world;
    world_open(&world,
               FILE_OF(START("s") USER("u") USER("v") FLOW("s", "u")
                           FLOW("s", "v") "<subProcess id='h' triggeredByEvent='true'><startEvent "
                                          "id='hs'>" ON_MESSAGE("M") "</startEvent>" TASK("x")
                                              FLOW("hs", "x") "</subProcess>"),
               NULL);

    world_start(&world, NULL, "{\"order\":1}");
    cr_expect_str_eq(world_subscriptions(&world), "hs:message:paid/1");
    world_crash(&world);
    cr_expect(world_message(&world, "paid", "1", "{\"why\":\"paid\"}"));

    cr_expect_str_eq(world_trace(&world), "s u v h hs x", "F10: %s", world_trace(&world));
    cr_expect_str_eq(world_value(&world, "execution.why"), "\"paid\"");
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}

Test(event_sub_process, beside_its_scope_begins_at_each_signal_and_each_turn_of_a_condition)
{
    struct world world;
    world_open(
        &world,
        FILE_OF(START("s") SERVICE("a") SERVICE("b") FLOW("s", "a") FLOW(
            "a",
            "b") "<subProcess id='h' triggeredByEvent='true'><startEvent id='hs' "
                 "isInterrupting='false'>" ON_SIGNAL(
                     "S") "</startEvent></subProcess>"
                          "<subProcess id='k' triggeredByEvent='true'><startEvent id='ks' "
                          "isInterrupting='false'>" ON_TRUE("=hot") "</startEvent></subProcess>"),
        NULL);

    world_start(&world, NULL, "{\"hot\":false}");
    cr_expect(world_signal(&world, "alarm", NULL));
    cr_expect(world_signal(&world, "alarm", NULL));
    world_answer(&world, "a", 200, "{\"execution\":{\"hot\":true}}");
    world_answer(&world, "b", 200, "{}");

    cr_expect_str_eq(world_trace(&world), "s a h hs h hs k b ks", "%s", world_trace(&world));
    cr_expect_eq(world_state(&world), 40);
    world_close(&world);
}
