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

it "runs 200 steps on one path, or as many as it is told to"
process long '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="s"/>
    <scriptTask id="s" xmlns:strider="urn:strider:bpmn:1" strider:resultVariable="n"><script>=n + 1</script></scriptTask>
    <sequenceFlow id="g" sourceRef="s" targetRef="x"/><exclusiveGateway id="x" default="i"/>
    <sequenceFlow id="h" sourceRef="x" targetRef="s"><conditionExpression xsi:type="tFormalExpression">=n &lt; 150</conditionExpression></sequenceFlow>
    <sequenceFlow id="i" sourceRef="x" targetRef="b"/><endEvent id="b"/>'
for most in 200 301 302; do
    run run "$scratch/long.bpmn" --var n=0 --max-steps $most
    exits $((most < 302))
done
run run "$scratch/long.bpmn" --var n=0
exits 1
complains "StepLimitExceeded: more than 200 steps on one path"
for wrong in 0 -1 1000001 many 1x; do
    run run "$scratch/long.bpmn" --max-steps="$wrong"
    exits 2
    complains "--max-steps wants a number from 1 to 1000000, not \"$wrong\""
done

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

it "names the file of modules that are refused, once"
echo '{"modules":[{"taskTypes":["charge"],"url":"ftp://x"}]}' >"$scratch/ftp.json"
run run "$scratch/plain.bpmn" --modules "$scratch/ftp.json"
exits 1
complains "strider: $scratch/ftp.json: error: modules[0].url: must begin with http:// or https://"
check "one line" is_one_line "$err"
run run "$scratch/plain.bpmn" --modules "$scratch/broken.json"
exits 2
complains "broken.json: No such file or directory"
printf '{"modules":\n[}' >"$scratch/broken.json"
run run "$scratch/plain.bpmn" --modules "$scratch/broken.json"
exits 2
complains "broken.json:2:2: "

it "what is no definition is refused by name: nothing, noise, a folder, too much of it"
: >"$scratch/nothing.bpmn"
head -c 5000 "$strider" >"$scratch/noise.bpmn"
head -c 17000000 /dev/zero | tr '\0' ' ' >"$scratch/large.bpmn"
run run "$scratch/nothing.bpmn"
exits 1
complains "nothing.bpmn:1:1: error: the file is empty"
run run "$scratch/noise.bpmn"
exits 1
complains "noise.bpmn:1:1: error: "
run run "$scratch"
exits 2
complains "$scratch: Is a directory"
run run "$scratch/large.bpmn"
exits 2
complains "large.bpmn: larger than 16777216 bytes"

it "is interrupted by SIGINT and SIGTERM, and cleans up"
process patient '<startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="t"/>
    <intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="g" sourceRef="t" targetRef="b"/><endEvent id="b"/>'
for signal in INT TERM; do
    : >"$scratch/err"
    # (A shell lets what it starts in the background ignore SIGINT.)
    env --default-signal=INT "$strider" run "$scratch/patient.bpmn" >"$scratch/out" 2>"$scratch/err" </dev/null &
    patient=$!
    check "it waits" await "$scratch/err" "waiting: t (timer)"
    kill "-$signal" "$patient"
    wait "$patient"
    code=$?
    err=$(cat "$scratch/err")
    exits 1
    complains "strider run: interrupted"
done

it "can be ended while it reads from a pipe that nobody writes to"
mkfifo "$scratch/pipe.bpmn"
env --default-signal=INT "$strider" run "$scratch/pipe.bpmn" </dev/null 2>/dev/null &
reader=$!
exec {writer}>"$scratch/pipe.bpmn" # returns when it has opened the other end
kill -INT "$reader"
wait "$reader"
code=$?
exits 130
exec {writer}>&-

it "says that its result or its store finds no place"
"$strider" run "$scratch/plain.bpmn" >/dev/full 2>"$scratch/err" </dev/null
code=$?
err=$(cat "$scratch/err")
exits 1
complains "strider: standard output cannot be written"
"$strider" run "$scratch/plain.bpmn" >&- 2>"$scratch/err" </dev/null
code=$?
exits 1
TMPDIR=$scratch/nowhere run run "$scratch/plain.bpmn"
exits 1
complains "$scratch/nowhere/strider-run-"
(ulimit -f 64 && exec "$strider" run "$scratch/plain.bpmn") >/dev/null 2>"$scratch/err" </dev/null
code=$?
err=$(cat "$scratch/err")
exits 1
complains "strider run: "

it "leaves nothing behind else"
check "temporary directories" equals "$(temporary)" "$before"

finish
