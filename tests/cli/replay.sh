#!/usr/bin/env bash
# An execution step by step: the table, the differences, the page that shows it. The page is opened where there is a Chromium.
. "$(dirname "$0")/harness.sh" "$1"

start_modules
copy_example "$scratch/projects/order"
start_engine --project "$scratch/projects"
run start order --project shop --workspace shop --session parcel-1 --request \
    '{"total": 250, "note": "</script><script>document.title=1</script>", "a\"b": "<img src=x onerror=alert(1)>"}'
exits 0
id=$(field executionId | tr -d '"')

it "shows the steps of an execution that waits, each with its snapshot"
run get "$id" --steps
exits 0
member 'steps[4].taskId' '"approve"'
member 'steps[4].snapshot.lifecycle' '"WaitingForHuman"'
member 'steps[2].flow' '"to_check"'
member 'steps[2].snapshot.work.attempts' 1
check "how long the module took" test "$(field 'steps[2].moduleMs')" -ge 0

it "shows what each step changed"
run replay "$id" --step 2
exits 0
member 'count(steps)' 1
member 'steps[1].changes[1].path' '"execution"'
member 'steps[1].changes[1].kind' '"added"'
member 'steps[1].comparedTo' 1

it "goes on with what has ended, attempts and all"
run callback "$id" --task approve --payload '{"approved": true}'
exits 0
ended() {
    local end=$((SECONDS + 30))
    while [ $SECONDS -lt $end ]; do
        run callback "$id" --task deliver --payload '{"signedBy": "Ada"}'
        [ "$code" -eq 0 ] && return 0
    done
    return 1
}
check "it ends" ended
run replay "$id"
exits 0
member 'status' '"Completed"'
member 'count(steps)' 11
member 'steps[7].taskId' '"charge"'
member 'steps[7].snapshot.work.attempts' 2
member 'count(steps[item.missing != null])' 0

it "reads a part"
run replay "$id" --from 3 --limit 2
exits 0
member 'count(steps)' 2
member 'steps[1].sequence' 3
member 'next' 5
complains "more steps follow: --from 5"

it "refuses what does not fit"
run replay "$id" --step 99
exits 1
complains "there is no step 99"
run replay "$id" --step x
exits 2
run replay nobody
exits 1
complains "SessionNotFound"

it "writes one page that needs nothing else"
run replay "$id" --html "$scratch/page.html"
exits 0
check "no text of a payload is markup" lacks "$(cat "$scratch/page.html")" "<img src=x"

it "says so when snapshots were not kept"
stop_engine
start_engine --project "$scratch/projects" --set engine.stepBlobs=waits
run start order --project shop --workspace shop --request '{"total": 250}'
exits 0
waits=$(field executionId | tr -d '"')
run replay "$waits"
exits 0
member 'stepBlobs' '"waits"'
member 'steps[2].missing' '"notKept"'
member 'steps[4].snapshot.lifecycle' '"WaitingForHuman"'
complains "3 of 4 steps have no snapshot (engine.stepBlobs is waits now"

it "says so when none is kept, and still tells the way"
stop_engine
start_engine --project "$scratch/projects" --set engine.stepBlobs=off
run start order --project shop --workspace shop --request '{"total": 250}'
exits 0
off=$(field executionId | tr -d '"')
run get "$off" --steps
exits 0
member 'stepBlobs' '"off"'
member 'count(steps)' 4
member 'count(steps[item.missing = "notKept"])' 4
member 'steps[4].taskId' '"approve"'
complains "no step has a snapshot: engine.stepBlobs is off"
run replay "$off"
exits 0
member 'count(steps[item.changes != null])' 0
complains "no step has a snapshot: engine.stepBlobs is off"
run replay "$off" --html "$scratch/off.html"
exits 0
complains "no step has a snapshot: engine.stepBlobs is off"

it "still shows the steps of before"
run get "$id" --steps
exits 0
member 'count(steps[item.missing != null])' 0

it "tells differences as it should"
if [ -n "$node" ]; then
    node_tests tests/browser/story_test.mjs
else
    echo "skipped: unit tests of the page's scripts (no node)"
fi

if [ -z "$browser" ]; then
    echo "skipped: the page in a browser (no chromium)"
    finish
fi

it "holds the drawings of called processes, too"
stop_engine
cat >"$scratch/outer.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="outer" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="call"/>
    <callActivity id="call" calledElement="inner"/><sequenceFlow id="g" sourceRef="call" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END
cat >"$scratch/inner.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="inner" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="ask"/>
    <userTask id="ask" name="Ask somebody"/><sequenceFlow id="g" sourceRef="ask" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END
start_engine
run deploy "$scratch/inner.bpmn"
exits 0
run deploy "$scratch/outer.bpmn"
exits 0
run start outer --id calling
exits 0
run replay calling --html "$scratch/called.html"
exits 0

# open_page HASH [NAME]: the document as the browser has it after all scripts, in $out; its messages in $err.
open_page() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --host-resolver-rules="MAP * ~NOTFOUND" \
        --user-data-dir="$scratch/browser" --window-size=1440,900 --virtual-time-budget=5000 --enable-logging=stderr \
        --dump-dom "file://$scratch/${2:-page}.html#$1" >"$scratch/out" 2>"$scratch/err"
    code=$?
    out=$(cat "$scratch/out")
    err=$(grep CONSOLE "$scratch/err")
}

it "draws the diagram, marks the way and the step, without a complaint"
open_page step=7
exits 0
says 'data-ready="true"'
says 'data-element-id="charge"'
says 'data-element-id="to_check"'
check "nothing on the console: $err" is_empty "$err"
marked() { grep -qE "class=\"djs-element djs-shape[^\"]*\\b$2\\b[^\"]*\"[^>]*data-element-id=\"$1\"|data-element-id=\"$1\"[^>]*class=\"djs-element djs-(shape|connection)[^\"]*\\b$2\\b" "$scratch/out"; }
unmarked() { ! marked "$@"; }
check "check is marked as visited" marked check visited
check "charge is where it is" marked charge here
check "deliver is not visited yet" unmarked deliver visited
says '<h2 id="step-name">Charge the card</h2>'

it "steps on by the address"
open_page step=11
says 'Step 11 of 11'
check "deliver is visited" marked deliver visited

# What the policy had to forbid would stand on the console.
it "keeps payloads texts, and asks for nothing beside itself"
check "the title is the page's own" holds "$out" "<title>order · Strider replay</title>"
check "nothing on the console: $err" is_empty "$err"
check "no element that loads" lacks "$out" ' src="http'

it "turns to the called process at its steps, and marks each on its own drawing"
open_page step=4 called
exits 0
says 'data-element-id="ask"'
says 'Ask somebody'
check "ask is where it is" marked ask here
check "the call is not on this drawing" lacks "$out" 'data-element-id="call"'
check "inner is pressed" holds "$out" 'aria-pressed="true">inner'
open_page step=2 called
check "the call is where it is" marked call here
check "b is not visited" unmarked b visited
check "outer is pressed" holds "$out" 'aria-pressed="true">outer'
check "nothing on the console: $err" is_empty "$err"

it "steps by clicks and keys"
if [ -n "$node" ]; then
    node_tests tests/browser/replay_test.mjs PAGE="$scratch/page.html"
else
    echo "skipped: the page under clicks and keys (no node)"
fi
finish
