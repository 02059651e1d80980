#!/usr/bin/env bash
# `strider run`: exit codes, results, waiting.
. "$(dirname "$0")/harness.sh" "$1"
order=$root/examples/order/order.bpmn

# process NAME BODY: a file with one process.
process() {
    cat >"$scratch/$1.bpmn" <<END
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="t">
  <process id="$1" isExecutable="true">
$2
  </process>
</definitions>
END
}

temporary() { ls -d "${TMPDIR:-/tmp}"/strider-run-* 2>/dev/null | wc -l; }
before=$(temporary)

it "completes with exit code 0 and the whole result"
process plain '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="b"/><endEvent id="b"/>'
run run "$scratch/plain.bpmn" --request '{"n": 1}' --var who=Ada
exits 0
member process '"plain"'
member state 40
member status '"Completed"'
member lifecycle '"Completed"'
member trace '["a","b"]'
member request.n 1
member execution.who '"Ada"'
check "nothing on stderr" is_empty "$err"

it "prints each step with --trace, on stderr"
run run "$scratch/plain.bpmn" --trace
exits 0
complains "step   1  a"
complains "step   2  b"
member trace '["a","b"]'

it "waits for timers itself"
process timer '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="t"/>
    <intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="g" sourceRef="t" targetRef="b"/><endEvent id="b"/>'
run run "$scratch/timer.bpmn"
exits 0
member trace '["a","t","b"]'
complains "waiting: t (timer)"

it "ends with 3 where somebody outside must act"
process person '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="u"/><userTask id="u"/>
    <sequenceFlow id="g" sourceRef="u" targetRef="b"/><endEvent id="b"/>'
run run "$scratch/person.bpmn"
exits 3
member lifecycle '"WaitingForHuman"'
member trace '["a","u"]'
complains "waiting for input from outside: u (human)"

it "ends with 1 on a failure, and says which"
process stuck '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="x"/><exclusiveGateway id="x"/>
    <sequenceFlow id="g" sourceRef="x" targetRef="b"><conditionExpression xsi:type="tFormalExpression">=false</conditionExpression></sequenceFlow><endEvent id="b"/>'
run run "$scratch/stuck.bpmn"
exits 1
member state 24
complains "NoPathTaken"

it "ends with 1 where a module was missing on the way"
process missing '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="s"/><serviceTask id="s"/>
    <sequenceFlow id="g" sourceRef="s" targetRef="b"/><endEvent id="b"/>'
run run "$scratch/missing.bpmn"
exits 1
member state 56
complains "ModuleNotFound"

it "calls other processes that come with it"
process caller '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="c"/><callActivity id="c" calledElement="plain"/>
    <sequenceFlow id="g" sourceRef="c" targetRef="b"/><endEvent id="b"/>'
run run "$scratch/caller.bpmn" --with "$scratch/plain.bpmn"
exits 0
member status '"Completed"'

it "retries a failing module by itself, then waits for the carrier"
start_modules
copy_example "$scratch/project"
run run "$order" --request '{"total": 30}' --env currency=EUR --modules "$scratch/project/modules.json" --trace
exits 3
complains "waiting: charge (retry)"
complains "waiting for input from outside: deliver (callback)"
member execution.charged 30
check "charge was called twice" equals "$(grep -c '^/charge' "$scratch/modules.log")" 2
check "with one key" equals "$(awk '/^\/charge/ {print $2}' "$scratch/modules.log" | sort -u | wc -l)" 1

it "gives up on modules that nobody serves"
sed 's/7790/1/; s/"taskTypes": \["check"\],/"taskTypes": ["check"], "maxAttempts": 1,/' "$root/examples/order/modules.json" >"$scratch/nobody.json"
run run "$order" --request '{"total": 30}' --modules "$scratch/nobody.json"
exits 1
complains "MaxRetriesExceeded"

it "refuses definitions by line, and unknown processes"
printf '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">\n<process id="p"><startEvent id="a"/><startEvent id="a"/></process></definitions>' >"$scratch/twice.bpmn"
run run "$scratch/twice.bpmn"
exits 1
complains "twice.bpmn:2"
run run "$scratch/plain.bpmn" --process other
exits 2
complains 'has no process "other"'
run run "$scratch/plain.bpmn" --request '[]'
exits 2
complains "--request wants an object"

it "keeps the data where it is told to"
run run "$scratch/person.bpmn" --data "$scratch/kept"
exits 3
check "journal is there" test -d "$scratch/kept/journal"

it "leaves nothing behind else"
check "temporary directories" equals "$(temporary)" "$before"

finish
