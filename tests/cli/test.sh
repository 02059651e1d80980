#!/usr/bin/env bash
# `strider test`: what it says and how it ends, and that nothing in a scenario is left out of the test without a word.
. "$(dirname "$0")/harness.sh" "$1"

cat >"$scratch/ask.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:strider="urn:strider:bpmn:1" targetNamespace="t">
  <signal id="s" name="go"/>
  <process id="ask" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="u"/>
    <userTask id="u"/><sequenceFlow id="g" sourceRef="u" targetRef="m"/>
    <serviceTask id="m" strider:type="pay"/><sequenceFlow id="h" sourceRef="m" targetRef="t"/>
    <intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="i" sourceRef="t" targetRef="c"/>
    <intermediateCatchEvent id="c"><signalEventDefinition signalRef="s"/></intermediateCatchEvent>
    <sequenceFlow id="j" sourceRef="c" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END

# scenario MEMBERS: one in $scratch/one.json, run.
scenario() {
    printf '{"name": "one", "definition": "ask.bpmn", %s}' "$1" >"$scratch/one.json"
    run test "$scratch/one.json"
}
# holds_with MEMBERS, fails_with MEMBERS MESSAGE, is_refused MEMBERS MESSAGE
holds_with() {
    scenario "$1"
    exits 0
    says "ok 1 - one ($scratch/one.json)"
    complains "1 passed, 0 failed"
}
fails_with() {
    scenario "$1"
    exits 1
    says "not ok 1 - one ($scratch/one.json)"
    says "  # $2"
}
is_refused() {
    scenario "$1"
    exits 1
    says "not ok 1 - can be read ($scratch/one.json)"
    says "  # $scratch/one.json: $2"
}

steps='"steps": [{"callback": {"taskId": "u", "payload": {"x": 1}, "output": "yes"}}, {"advance": "PT2H"}, {"crash": true},
  {"signal": {"name": "go", "payload": {"s": 2}}}]'
modules='"modules": {"pay": [{"status": 503}, {"after": "PT5S", "execution": {"paid": true}, "response": {"r": 1}, "outputs": {"o": 3},
  "logs": [{"level": "INFO", "message": "paid it"}]}]}'

it "a scenario that holds: each thing that can be expected"
holds_with "$modules, $steps, \"start\": {\"request\": {\"q\": 1}, \"context\": {\"c\": 2}, \"execution\": {\"v\": 3}, \"channel\": \"web\",
  \"channelSessionId\": \"s\", \"isTest\": false, \"env\": {\"e\": 4}},
  \"expect\": {\"state\": 40, \"status\": \"Completed\", \"lifecycle\": \"Completed\", \"trace\": [\"a\", \"u\", \"m\", \"t\", \"c\", \"b\"],
  \"visited\": {\"m\": 1, \"b\": 1}, \"waiting\": [], \"execution\": {\"v\": 3, \"paid\": true}, \"context\": {\"c\": 2},
  \"request\": {\"q\": 1}, \"response\": {\"r\": 1}, \"nodes\": {\"m\": {\"o\": 3}}, \"logs\": [\"paid it\"]}"
says "TAP version 13"
says "1..1"

it "each expectation fails where it does not hold"
for wrong in '"state": 24' '"status": "Error"' '"lifecycle": "Failed"' '"trace": ["a"]' '"visited": {"m": 2}' '"waiting": ["u"]' \
    '"execution": {"paid": false}' '"context": {"c": 1}' '"response": {"r": 2}' '"nodes": {"m": {"o": 4}}' '"error": "Deadlock"' \
    '"logs": ["never said"]' '"request": {"q": 1}' '"__resume": {"y": 1}' '"output": "no"'; do
    name=${wrong#\"}
    fails_with "$modules, $steps, \"expect\": {$wrong}" "at the end: ${name%%\"*}"
done
fails_with "$modules, \"steps\": [{\"expect\": {\"waiting\": [\"m\"]}}]" "step 1: waiting: expected [\"m\"], got [\"u\"]"

it "no replies, and null, say nothing; one reply may stand without a list"
holds_with '"modules": {"pay": {"execution": {"paid": 1}}}, "steps": [{"callback": {}}], "expect": {"execution": {"paid": 1}}'
holds_with '"modules": {"pay": []}, "start": null, "steps": [{"callback": null}], "expect": {"waiting": ["t"], "logs": []}'
holds_with '"modules": {"pay": [null]}, "steps": [{"callback": {}}], "expect": {"waiting": ["t"]}'

it "a message is kept as long as it is said"
cat >"$scratch/late.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <message id="m" name="paid"/>
  <process id="late" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="t"/>
    <intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>PT10M</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="g" sourceRef="t" targetRef="r"/><receiveTask id="r" messageRef="m"/>
    <sequenceFlow id="h" sourceRef="r" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END
for pair in '"ttl": "PT11M"=b' '"ttl": "PT9M"=r' '"ttlMs": 660000=b' '"ttlMs": 540000=r'; do
    holds_with "\"with\": [], \"definition\": \"late.bpmn\", \"steps\": [{\"message\": {\"name\": \"paid\", ${pair%=*}}}, {\"advance\": \"PT10M\"}],
  \"expect\": {\"visited\": {\"${pair#*=}\": 1, \"b\": $([ "${pair#*=}" = b ] && echo 1 || echo 0)}}"
done

it "operator verbs, and a step that is refused"
holds_with '"steps": [{"op": "suspend", "expect": {"lifecycle": "Suspended"}}, {"op": "resume", "expect": {"lifecycle": "WaitingForHuman"}},
  {"op": "abort", "expect": {"status": "Stopped", "error": "Aborted"}}, {"callback": {}, "expect": {"error": "AlreadyFinished"}},
  {"op": "restart", "expect": {"waiting": ["u"]}}]'
fails_with '"steps": [{"op": "resume"}], "expect": {"waiting": ["u"]}' "step 1 was refused: InvalidTransition"
fails_with '"steps": [{"op": "explode"}], "expect": {"waiting": ["u"]}' 'step 1: no such verb: "explode"'
fails_with '"steps": [{"advance": "soon"}], "expect": {"waiting": ["u"]}' 'step 1: advance takes a duration, not "soon"'

it "what nobody reads is refused by its place and name"
is_refused '"expects": {}' '"expects" is not part of a scenario'
is_refused '"start": {"chanel": "x"}' '"chanel" is not part of start'
is_refused '"start": []' 'start must be an object'
is_refused '"steps": [{"expect": {}}, {"wait": "PT1S"}]' 'step 2: "wait" is not part of a step'
is_refused '"steps": [{"callback": {"taskid": "u"}}]' 'step 1: "taskid" is not part of callback'
is_refused '"steps": [{"message": {"name": "m", "key": 1}}]' 'step 1: "key" is not part of message'
is_refused '"steps": [{"signal": "go"}]' 'step 1: signal must be an object'
is_refused '"steps": [{"op": "suspend", "advance": "PT1S"}]' 'step 1: a step does one thing'
is_refused '"steps": {"advance": "PT1S"}' 'steps must be a list'
is_refused '"modules": {"pay": "200"}' 'modules: "pay" wants a list of replies, each an object'
is_refused '"modules": {"pay": [200]}' 'modules: "pay" wants a list of replies, each an object'
fails_with '"expect": {"stat": 3}' 'at the end: "stat" cannot be expected'
is_refused '"expect": [1]' 'expect must be an object'
is_refused '"steps": [{"expect": "b"}]' 'step 1: expect must be an object'

it "a scenario that expects nothing is refused"
for nothing in '"with": []' '"expect": null' '"expect": {}' "$modules, $steps" '"steps": [{"expect": {}}, {"callback": {}}]'; do
    is_refused "$nothing" 'nothing is expected: it needs an "expect"'
done

it "replies for whom nobody is are refused by name"
for name in pya a t "" ask; do
    is_refused "\"modules\": {\"pay\": [], \"$name\": {\"status\": 200}}, \"expect\": {\"waiting\": [\"u\"]}" \
        "modules: \"$name\" is neither the id nor the type of a task"
done
for name in m pay u userTask '*'; do
    holds_with "\"modules\": {\"$name\": []}, \"expect\": {\"visited\": {\"a\": 1}}"
done
sed 's/strider:type="pay"/strider:type="=kind"/' "$scratch/ask.bpmn" >"$scratch/computed.bpmn"
holds_with '"definition": "computed.bpmn", "start": {"execution": {"kind": "pya"}}, "modules": {"pya": {"execution": {"paid": 1}}},
  "steps": [{"callback": {}}], "expect": {"execution": {"paid": 1}}'

it "of several scenarios in a file the one that is refused is told"
printf '[{"definition": "ask.bpmn", "expect": {"waiting": ["u"]}}, {"definition": "ask.bpmn"}]' >"$scratch/list.json"
run test "$scratch/list.json"
exits 1
says "  # $scratch/list.json: scenario 2: nothing is expected"
printf '[{"definition": "ask.bpmn", "expect": {"state": 1}, "modules": {"x": []}}]' >"$scratch/list.json"
run test "$scratch/list.json"
exits 1
says "  # $scratch/list.json: scenario 1: modules: \"x\" is neither"
printf '{"name": "no definition", "expect": {"state": 1}}' >"$scratch/none.json"
run test "$scratch/none.json"
exits 1
says 'a scenario needs a "definition"'

it "a path may have as many steps as --max-steps says"
cat >"$scratch/loop.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="loop" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="x"/><manualTask id="x"/>
    <sequenceFlow id="g" sourceRef="x" targetRef="x"/>
  </process>
</definitions>
END
for most in 200 7 1000; do
    printf '{"definition": "loop.bpmn", "expect": {"error": "StepLimitExceeded", "visited": {"x": %d}}}' $((most - 1)) >"$scratch/loop.json"
    if [ $most -eq 200 ]; then run test "$scratch/loop.json"; else run test "$scratch/loop.json" --max-steps $most; fi
    exits 0
done
run test "$scratch/loop.json" --max-steps 999
exits 1
run test "$scratch/loop.json" --max-steps 0
exits 2
complains '--max-steps wants a number from 1 to 1000000, not "0"'

it "files, lists in files and folders; none at all is a failure"
mkdir "$scratch/folder" "$scratch/empty"
cp "$scratch/ask.bpmn" "$scratch/folder/"
printf '[{"name": "x", "definition": "ask.bpmn", "expect": {"waiting": ["u"]}}, {"name": "y", "definition": "ask.bpmn", "expect": {"state": 40}}]' >"$scratch/folder/two.json"
run test "$scratch/folder"
exits 1
says "ok 1 - x"
says "not ok 2 - y"
says "1..2"
complains "1 passed, 1 failed"
run test "$scratch/empty"
exits 1
run test "$scratch/nowhere.json"
exits 1
complains "no such file or folder"
run test
exits 2

finish
