/*
 * JSON graphs: what each type and member becomes, and what is refused.
 */
#include "engine/read/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "engine/read/sample.h"

/* A graph with id p of these nodes and edges. Quotes are written as ' for readability. */
static const char *graph(const char *nodes, const char *edges)
{
    static char text[8192];
    int length =
        snprintf(text, sizeof text, "{'id':'p',\n'nodes':[\n%s\n],\n'edges':[%s]}", nodes, edges);
    cr_assert(length > 0 && (size_t)length < sizeof text);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    return text;
}

static struct sample read_graph(const char *nodes, const char *edges)
{
    struct sample sample = sample_read_bytes(span_text(graph(nodes, edges)), true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    return sample;
}

static struct sample one(const char *node)
{
    return read_graph(node, "");
}

Test(graph, maps_its_types_to_bpmn)
{
    static const struct {
        const char *type;
        const char *config;
        enum engine_kind kind;
    } rows[] = {
        {"trigger_manual", "{}", ENGINE_START_EVENT},
        {"trigger_cron", "{'cron':'0 9 * * *'}", ENGINE_START_EVENT},
        {"trigger_webhook", "{'path':'a'}", ENGINE_START_EVENT},
        {"end", "{}", ENGINE_END_EVENT},
        {"action", "{'task_type':'pay'}", ENGINE_SERVICE_TASK},
        {"human_task", "{}", ENGINE_USER_TASK},
        {"decision", "{}", ENGINE_EXCLUSIVE_GATEWAY},
        {"split_wait", "{}", ENGINE_PARALLEL_GATEWAY},
        {"match", "{}", ENGINE_INCLUSIVE_GATEWAY},
        {"delay", "{'duration':'PT5S'}", ENGINE_INTERMEDIATE_CATCH_EVENT},
        {"for_each", "{'collection':'=list'}", ENGINE_SUB_PROCESS},
        {"ad_hoc_sub_process", "{}", ENGINE_AD_HOC_SUB_PROCESS},
        {"event_based_gateway", "{}", ENGINE_EVENT_GATEWAY},
        {"business_rule_task", "{}", ENGINE_BUSINESS_RULE_TASK},
        {"call_activity", "{'process':'q'}", ENGINE_CALL_ACTIVITY},
        {"sub_process", "{'nodes':[],'edges':[]}", ENGINE_SUB_PROCESS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char node[256];
        (void)snprintf(node, sizeof node, "{'id':'x','type':'%s','config':%s}", rows[i].type,
                       rows[i].config);
        struct sample sample = one(node);
        cr_expect_eq(sample_node(&sample, "x")->kind, rows[i].kind, "%s", rows[i].type);
        cr_expect_eq(sample_process(&sample)->notation, ENGINE_NOTATION_GRAPH);
        sample_free(&sample);
    }
}

Test(graph, gives_a_task_what_its_config_says)
{
    struct sample sample =
        one("{'id':'x','type':'action','name':'Pay','config':{'task_type':'http','retries':5,"
            "'url':'http://h/{{ order.id }}','count':3,'price':1.50,'flag':true,'none':null,"
            "'empty':'','spaced':' a ','headers':{'X-A':'b'},'list':[1,'{{ a }}','=b','c'],"
            "'body':{'id':'{{ order.id }}','text':'Hi {{ name }}','deep':{'n':'=n'},'k':1},"
            "'inputs':{'amount':'=order.total','currency':'EUR'},'outputs':{'order.paid':'=ok'}}}");
    const struct engine_node *node = sample_node(&sample, "x");

    SAMPLE_EXPECT_TEXT(node->task_type, "http");
    cr_expect(node->task_type_explicit);
    SAMPLE_EXPECT_TEXT(sample_source(node->retries), "=5");
    SAMPLE_EXPECT_MAPPING(node->headers, "url", "http://h/{{ order.id }}");
    SAMPLE_EXPECT_MAPPING(node->headers, "count", "=3");
    SAMPLE_EXPECT_MAPPING(node->headers, "price", "=1.50");
    SAMPLE_EXPECT_MAPPING(node->headers, "flag", "=true");
    SAMPLE_EXPECT_MAPPING(node->headers, "none", "=null");
    SAMPLE_EXPECT_MAPPING(node->headers, "empty", "=\"\"");
    SAMPLE_EXPECT_MAPPING(node->headers, "spaced", "=\" a \"");
    SAMPLE_EXPECT_MAPPING(node->headers, "headers", "={\"X-A\": \"b\"}");
    SAMPLE_EXPECT_MAPPING(node->headers, "list", "=[1, (a), (b), \"c\"]");
    SAMPLE_EXPECT_MAPPING(node->headers, "body.id", "{{ order.id }}");
    SAMPLE_EXPECT_MAPPING(node->headers, "body.text", "Hi {{ name }}");
    SAMPLE_EXPECT_MAPPING(node->headers, "body.deep.n", "=n");
    SAMPLE_EXPECT_MAPPING(node->headers, "body.k", "=1");
    cr_expect_eq(node->headers.count, 13);
    SAMPLE_EXPECT_MAPPING(node->inputs, "amount", "=order.total");
    SAMPLE_EXPECT_MAPPING(node->inputs, "currency", "EUR");
    SAMPLE_EXPECT_MAPPING(node->outputs, "order.paid", "=ok");
    sample_free(&sample);
}

Test(graph, gives_a_human_task_its_assignment_and_its_module_the_rest)
{
    struct sample sample =
        one("{'id':'x','type':'human_task','config':{'assignee':'{{ boss }}','candidate_groups':"
            "['sales','it'],'due_date':'=due','form_key':'f','color':'red',"
            "'settings':{'assignee':'module'}}}");
    const struct engine_node *node = sample_node(&sample, "x");

    SAMPLE_EXPECT_TEXT(sample_source(node->assignment.assignee), "{{ boss }}");
    SAMPLE_EXPECT_TEXT(sample_source(node->assignment.candidate_groups), "=[\"sales\", \"it\"]");
    SAMPLE_EXPECT_TEXT(sample_source(node->assignment.due_date), "=due");
    SAMPLE_EXPECT_TEXT(node->assignment.form_key, "f");
    SAMPLE_EXPECT_MAPPING(node->headers, "color", "red");
    SAMPLE_EXPECT_MAPPING(node->headers, "assignee", "module");
    sample_free(&sample);
}

Test(graph, makes_triggers_start_events)
{
    struct sample sample = read_graph(
        "{'id':'m','type':'trigger_manual'},"
        "{'id':'c','type':'trigger_cron','config':{'cron':'0 9 * * 1','time_zone':'Europe/Paris'}},"
        "{'id':'w','type':'trigger_webhook','config':{'path':'/orders/new'}},"
        "{'id':'e','type':'end'}",
        "{'source':'m','target':'e'},{'source':'c','target':'e'},{'source':'w','target':'e'}");
    const struct engine_process *process = sample_process(&sample);
    const struct engine_node *cron = sample_node(&sample, "c");
    const struct engine_node *webhook = sample_node(&sample, "w");

    cr_expect_eq(process->starts.count, 1, "by hand, only the manual one starts");
    cr_assert_eq(cron->event_count, 1);
    cr_expect_eq(cron->events[0].timer, ENGINE_TIMER_CYCLE);
    SAMPLE_EXPECT_TEXT(sample_source(cron->events[0].timer_value),
                       "CRON_TZ=Europe/Paris 0 9 * * 1");
    cr_assert_eq(webhook->event_count, 1);
    cr_expect_eq(webhook->events[0].kind, ENGINE_ON_MESSAGE);
    SAMPLE_EXPECT_TEXT(webhook->events[0].name, "webhook:orders/new");
    sample_free(&sample);
}

Test(graph, keeps_triggers_that_name_no_node_and_hands_the_others_to_theirs)
{
    struct sample sample = sample_read_bytes(
        span_text("{\"id\":\"p\",\"nodes\":[{\"id\":\"a\",\"type\":\"trigger_cron\"}],\"edges\":[],"
                  "\"triggers\":[{\"id\":\"t1\",\"type\":\"cron\",\"cron\":\"@daily\"},"
                  "{\"type\":\"webhook\",\"path\":\"x\"},{\"type\":\"manual\"},"
                  "{\"type\":\"cron\",\"cron\":\"@hourly\",\"node\":\"a\"}]}"),
        true);
    cr_assert_eq(sample.result, RESULT_OK, "%s", sample_text(&sample));
    const struct engine_process *process = sample_process(&sample);

    cr_assert_eq(process->trigger_count, 3);
    cr_expect_eq(process->triggers[0].kind, ENGINE_TRIGGER_CRON);
    SAMPLE_EXPECT_TEXT(process->triggers[0].id, "t1");
    SAMPLE_EXPECT_TEXT(process->triggers[0].text, "@daily");
    cr_expect_eq(process->triggers[1].kind, ENGINE_TRIGGER_WEBHOOK);
    SAMPLE_EXPECT_TEXT(process->triggers[1].text, "x");
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "a")->events[0].timer_value), "@hourly");
    sample_free(&sample);
}

Test(graph, puts_the_body_of_a_for_each_inside_it)
{
    struct sample sample = read_graph(
        "{'id':'x','type':'for_each','config':{'collection':'{{ items }}','item':'it','output':'o',"
        "'output_item':'=r','until':'=done','nodes':[{'id':'in','type':'action','config':"
        "{'task_type':'a'}},{'id':'out','type':'end'}],'edges':[{'source':'in','target':'out'}]}}",
        "");
    const struct engine_node *node = sample_node(&sample, "x");
    const struct engine_node *inner = sample_node(&sample, "in");

    cr_expect_eq(node->loop.kind, ENGINE_LOOP_SEQUENTIAL);
    SAMPLE_EXPECT_TEXT(sample_source(node->loop.collection), "{{ items }}");
    SAMPLE_EXPECT_TEXT(node->loop.element_variable, "it");
    SAMPLE_EXPECT_TEXT(node->loop.output_collection, "o");
    SAMPLE_EXPECT_TEXT(sample_source(node->loop.output_element), "=r");
    SAMPLE_EXPECT_TEXT(sample_source(node->loop.condition), "=done");
    cr_expect_eq(inner->scope, node->index);
    cr_expect_eq(node->children.count, 2);
    cr_expect_eq(node->starts.count, 1);
    sample_free(&sample);

    sample = one("{'id':'x','type':'for_each','config':{'collection':[1,2],'parallel':true}}");
    cr_expect_eq(sample_node(&sample, "x")->loop.kind, ENGINE_LOOP_PARALLEL);
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "x")->loop.collection), "=[1, 2]");
    sample_free(&sample);
}

Test(graph, says_everything_that_bpmn_says_of_events)
{
    struct sample sample = read_graph(
        "{'id':'t','type':'action'},"
        "{'id':'b','type':'boundary_event','config':{'attached_to':'t','interrupting':false,"
        "'event':{'type':'message','name':'m','correlation_key':'=k'}}},"
        "{'id':'e','type':'end_event','config':{'event':{'type':'error','code':'E1'}}},"
        "{'id':'c','type':'intermediate_catch_event','config':{'events':[{'type':'signal',"
        "'name':'s'},{'type':'conditional','condition':'=a > 1'}]}},"
        "{'id':'l','type':'intermediate_throw_event','config':{'event':{'type':'link','name':'l'}}"
        "}",
        "");
    const struct engine_node *boundary = sample_node(&sample, "b");

    cr_expect_eq(boundary->attached_to, sample_node(&sample, "t")->index);
    cr_expect_not(boundary->interrupting);
    cr_expect_eq(boundary->events[0].kind, ENGINE_ON_MESSAGE);
    SAMPLE_EXPECT_TEXT(boundary->events[0].name, "m");
    SAMPLE_EXPECT_TEXT(sample_source(boundary->events[0].correlation_key), "=k");
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "e")->events[0].code, "E1");
    cr_expect_eq(sample_node(&sample, "c")->event_count, 2);
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "c")->events[0].name, "s");
    SAMPLE_EXPECT_TEXT(sample_source(sample_node(&sample, "c")->events[1].condition), "=a > 1");
    SAMPLE_EXPECT_TEXT(sample_node(&sample, "l")->events[0].name, "l");
    sample_free(&sample);
}

Test(graph, reads_edges_with_their_conditions_defaults_and_labels)
{
    struct sample sample = read_graph(
        "{'id':'s','type':'trigger_manual'},{'id':'d','type':'decision'},{'id':'e','type':'end'},"
        "{'id':'f','type':'end'}",
        "{'id':'e1','source':'s','target':'d'},"
        "{'id':'e2','source':'d','target':'e','condition':'total > 100','label':'big'},"
        "{'id':'e3','source':'d','target':'f','default':true}");
    const struct engine_process *process = sample_process(&sample);

    SAMPLE_EXPECT_TEXT(sample_source(process->flows[1].condition), "total > 100");
    SAMPLE_EXPECT_TEXT(process->flows[1].name, "big");
    cr_expect(process->flows[2].is_default);
    cr_expect_eq(sample_node(&sample, "d")->default_flow, 2);
    sample_free(&sample);
}

/* S3: "on load: advance nextNodeId past all existing IDs to prevent collisions". */
Test(graph, advances_its_counter_past_every_id)
{
    struct sample sample = read_graph(
        "{'id':'node_7','type':'trigger_manual'},{'id':12,'type':'for_each','config':{"
        "'collection':'=l','nodes':[{'id':'node_41','type':'end'}],'edges':[]}}",
        "{'source':'node_7','target':'12'},{'id':'edge_3','source':'node_7','target':'12'}");
    const struct engine_process *process = sample_process(&sample);

    SAMPLE_EXPECT_TEXT(process->flows[0].id, "edge_42");
    cr_expect_eq(process->id_next, 43);
    cr_expect_not_null(engine_process_node(process, span_text("12")), "a number is an id too");
    sample_free(&sample);
}

Test(graph, keeps_the_drawing)
{
    struct sample sample = read_graph(
        "{'id':'a','type':'trigger_manual','position':{'x':10,'y':-20.5}},"
        "{'id':'b','type':'end','position':{'x':100,'y':0},'size':{'width':40,'height':30},"
        "'label_bounds':{'x':1,'y':2,'width':3,'height':4}}",
        "{'id':'e','source':'a','target':'b','waypoints':[{'x':1,'y':2},{'x':3.25,'y':4}]}");
    const struct engine_shape *a = sample_node(&sample, "a")->shape;
    const struct engine_shape *b = sample_node(&sample, "b")->shape;
    const struct engine_edge *edge = sample_process(&sample)->flows[0].edge;

    cr_assert(a != NULL && b != NULL && edge != NULL);
    cr_expect(a->x == 10 && a->y == -20.5 && a->width == 0);
    cr_expect(b->width == 40 && b->height == 30 && b->has_label && b->label_height == 4);
    cr_assert_eq(edge->point_count, 2);
    cr_expect(edge->points[1].x == 3.25 && edge->points[1].y == 4);
    sample_free(&sample);
}

Test(graph, deploys_a_node_without_a_type_with_a_warning)
{
    struct sample sample = sample_accept(
        graph("{'id':'s','type':'trigger_manual'},{'id':'x'}", "{'source':'s','target':'x'}"));
    cr_expect_eq(sample_node(&sample, "x")->task_type.count, 0);
    cr_expect_not_null(sample_problem(&sample, "no-type", "x"));
    sample_free(&sample);
}

Test(graph, refuses_what_is_broken_by_id)
{
    static const struct {
        const char *nodes;
        const char *edges;
        const char *rule;
        const char *element;
        const char *words;
    } rows[] = {
        {"{'id':'x','type':'acton'}", "", "unsupported-element", "x", "did you mean \"action\""},
        {"{'id':'x','type':'zzz'}", "", "unsupported-element", "x", "no type of node"},
        {"{'id':'x','type':'end'},{'id':'x','type':'end'}", "", "duplicate-id", "x", "line 3"},
        {"{'type':'end'}", "", "no-id", "", "has no id"},
        {"{'id':'x','type':'action'}", "{'id':'e','source':'x','target':'y'}", "dangling-reference",
         "e", "\"y\""},
        {"{'id':'x','type':'action'}", "{'id':'e','source':'x'}", "dangling-reference", "e", ""},
        {"{'id':'x','type':'split_wait'},{'id':'y','type':'end'}",
         "{'id':'e','source':'x','target':'y','condition':'a'}", "parallel-condition", "e",
         "takes all"},
        {"{'id':'x','type':'decision'},{'id':'y','type':'end'}",
         "{'id':'e','source':'x','target':'y','condition':'a >'}", "malformed-expression", "e",
         "at character"},
        {"{'id':'x','type':'decision'},{'id':'y','type':'end'}",
         "{'id':'e','source':'x','target':'y','condition':{'a':1}}", "malformed", "e", "condition"},
        {"{'id':'x','type':'decision'},{'id':'y','type':'end'}",
         "{'id':'e','source':'x','target':'y','default':true},"
         "{'id':'f','source':'x','target':'y','default':true}",
         "two-defaults", "f", "\"e\""},
        {"{'id':'x','type':'trigger_cron','config':{'cron':'0 25 * * *'}}", "", "timer", "x",
         "hours are 0 to 23, at character 3"},
        {"{'id':'x','type':'trigger_cron'}", "", "timer", "x", "no cron text"},
        {"{'id':'x','type':'trigger_webhook','config':{'path':'a b'}}", "", "trigger", "x", "path"},
        {"{'id':'x','type':'delay'}", "", "timer", "x", "duration"},
        {"{'id':'x','type':'delay','config':{'duration':'5 s'}}", "", "timer", "x", "no duration"},
        {"{'id':'x','type':'for_each'}", "", "malformed", "x", "collection"},
        {"{'id':'x','type':'end_event','config':{'event':{'type':'foo'}}}", "",
         "unsupported-element", "x", "\"foo\""},
        {"{'id':'x','type':'action','config':{'list':['Hi {{ a }}']}}", "",
         "unsupported-expression", "x", "within a list"},
        {"{'id':'x','type':'action','config':{'o':{'a.b':'=c'}}}", "", "unsupported-expression",
         "x", "\"a.b\""},
        {"{'id':'x','type':'action','config':{'a':'=1 +'}}", "", "malformed-expression", "x", ""},
        {"{'id':'x','type':'action','config':7}", "", "malformed", "x", "no object"},
        {"{'id':'x','type':'boundary_event','config':{'attached_to':'q'}}", "",
         "dangling-reference", "x", "does not exist"},
        {"7", "", "malformed", "", "no object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample_refuse(graph(rows[i].nodes, rows[i].edges), rows[i].rule, rows[i].element,
                      rows[i].words);
    }
}

Test(graph, says_in_which_line_a_node_is)
{
    struct sample sample = sample_read(graph("{'id':'s','type':'trigger_manual','name':'{ \\\\'},\n"
                                             "{'id':'x','type':'foo'}",
                                             ""));
    const struct engine_problem *problem = sample_problem(&sample, "unsupported-element", "x");
    cr_assert_not_null(problem);
    cr_expect_eq(problem->line, 4);
    cr_expect_eq(problem->column, 1);
    sample_free(&sample);
}

Test(graph, warns_of_logic_in_gateways_and_lists_what_it_ignores)
{
    sample_warn(graph("{'id':'s','type':'trigger_manual'},{'id':'g','type':'decision','config':"
                      "{'script':'a'}}",
                      "{'source':'s','target':'g'}"),
                "gateway-logic", "g", "script");
    sample_warn(graph("{'id':'s','type':'trigger_manual'},{'id':'g','type':'decision','config':"
                      "{'task_type':'a'}}",
                      "{'source':'s','target':'g'}"),
                "gateway-logic", "g", "task type");
    struct sample sample = sample_accept(
        graph("{'id':'s','type':'trigger_manual','color':1,'config':{'shape':2}}", ""));
    cr_expect_not_null(strstr(sample_text(&sample), "\"s\": color has no effect"));
    cr_expect_not_null(strstr(sample_text(&sample), "\"s\": config.shape has no effect"));
    sample_free(&sample);
}

Test(notation, is_told_by_the_members_of_a_json_file)
{
    sample_refuse("{\"nodes\":[],\"blocks\":[]}", "notation", "", "only one");
    sample_refuse("{\"a\":1}", "notation", "", "neither");
    sample_refuse("{\"nodes\":[}", "malformed", "", "no JSON");
    sample_refuse("{\"nodes\":{},\"id\":\"p\"}", "malformed", "", "no list");
    sample_refuse("{\"nodes\":[]}", "no-id", "", "no id");
}
