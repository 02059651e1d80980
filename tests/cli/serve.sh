#!/usr/bin/env bash
# The engine and its client verbs: an order from start to end, signals, reload, kill -9.
. "$(dirname "$0")/harness.sh" "$1"

start_modules
copy_example "$scratch/projects/order"
start_engine --project "$scratch/projects"

it "says on start what it serves, where, and what it recovered"
err=$(cat "$scratch/engine.log")
complains "strider: ready in "
complains "$url"
complains "$scratch/data"
complains "recovered 0 executions"
complains '"level":"INFO","id":"SERVE-READY"'

it "answers ping and stats"
run ping
exits 0
member ok true
run stats
exits 0

it "knows the project's definitions"
run definitions
exits 0
says '"order"'

it "starts an order, which waits for a person"
run start order --project shop --workspace shop --request '{"total": 250}' --session parcel-1 --request-id first
exits 0
member status '"Waiting"'
member lifecycle '"WaitingForHuman"'
member 'waiting[1].taskId' '"approve"'
member 'waiting[1].kind' '"human"'
id=$(field executionId | tr -d '"')

it "answers the same requestId with the same execution"
run start order --project shop --workspace shop --request '{"total": 250}' --session parcel-1 --request-id first
exits 0
member executionId "\"$id\""

it "lists the human task"
run tasks
exits 0
says "$id"
says '"clerk"'

it "has an option for each filter of its lists"
run tasks --process order --assignee clerk --group sales --execution "$id" --task approve --limit 5
says "$id"
for filter in "--group nobody" "--assignee nobody" "--execution none" "--task received" "--process none"; do
    run tasks $filter
    exits 0
    check "tasks $filter" lacks "$out" "$id"
done
run definitions --project shop --process order
says '"order"'
for filter in "--project none" "--process none"; do
    run definitions $filter
    exits 0
    check "definitions $filter" lacks "$out" '"order"'
done
lists_it() {
    local end=$((SECONDS + 30))
    until run list "$@" && holds "$out" "$id"; do
        [ $SECONDS -lt $end ] || return 1
    done
}
check "list" lists_it --status Waiting --lifecycle WaitingForHuman --process order --workspace shop --project shop --since 2020-01-01T00:00:00Z --limit 5
for filter in "--status Error" "--lifecycle Failed" "--process none" "--workspace none" "--project none" "--since 2999-01-01T00:00:00Z" \
    "--ended-before 2020-01-01T00:00:00Z"; do
    run list $filter
    exits 0
    check "list $filter" lacks "$out" "$id"
done
run list --status waiting
exits 1
complains "status must be"

it "shows the execution with what is asked for"
run get "$id" --include payloads,map
exits 0
member request.total 250
member execution.total 250
member 'executionMap[1].taskId' '"received"'

it "refuses what does not fit, in words and as JSON"
run start nonesuch --project shop
exits 1
complains "strider start: DefinitionNotFound"
member error.code '"DefinitionNotFound"'
run get 00000000-0000-0000-0000-000000000000
exits 1
complains "SessionNotFound"
run callback "$id" --task charge --payload '{}'
exits 1
complains "NotWaiting"
run restart "$id"
exits 1
complains "InvalidTransition"

it "halts and goes on at an operator's word"
run suspend "$id"
exits 0
member lifecycle '"Suspended"'
run resume "$id"
exits 0
member lifecycle '"WaitingForHuman"'

it "goes on with the decision; the failing module waits for its retry"
run callback "$id" --task approve --payload '{"approved": true}'
exits 0
member status '"Waiting"'
check "a retry is waited for" holds "$out" '"retry"'

it "calls the module again with the same key, then hands over to the carrier"
await "$scratch/modules.log" "/deliver" 30 || fail "the carrier is not called"
keys=$(grep '^/charge' "$scratch/modules.log" | awk '{print $2, $4}' | sort)
check "one key, 503 then 200: $keys" equals "$(printf '%s\n' "$keys" | awk '{print $1}' | uniq | wc -l) $(printf '%s\n' "$keys" | awk '{print $2}' | tr '\n' ' ')" "1 200 503 "

it "ends by a callback that names the channel session"
until_waiting() {
    local end=$((SECONDS + 20))
    while [ $SECONDS -lt $end ]; do
        run get "$1"
        holds "$out" "\"taskId\":\"$2\",\"kind\"" && return 0
    done
    return 1
}
check "deliver waits" until_waiting "$id" deliver
run callback --session parcel-1 --payload '{"signedBy": "Ada"}'
exits 0
member status '"Completed"'
member lifecycle '"Completed"'
member state 40

it "takes no callback for what has ended"
run callback "$id" --payload '{}'
exits 1
complains "AlreadyFinished"

listed() {
    local end=$((SECONDS + 20))
    while [ $SECONDS -lt $end ]; do
        run list "$@"
        holds "$out" "$id" && return 0
    done
    return 1
}
it "is in the audit, which a list is made of"
check "listed as completed" listed --status Completed --process order
run list --status Error
exits 0
check "not listed as failed" lacks "$out" "$id"

it "deploys a new version, and refuses a broken one by line"
sed 's/Order received/Order came in/' "$root/examples/order/order.bpmn" >"$scratch/order.bpmn"
run deploy "$scratch/order.bpmn" --project shop
exits 0
says '"version":2'
printf '<definitions' >"$scratch/broken.bpmn"
run deploy "$scratch/broken.bpmn" --project shop
exits 1
complains "DefinitionInvalid: $scratch/broken.bpmn is refused"
complains "$scratch/broken.bpmn:1:"
complains ": error: "
complains " [xml]"

listed_as_version() {
    local end=$((SECONDS + 20))
    while [ $SECONDS -lt $end ]; do
        run list --lifecycle WaitingForHuman --process order
        holds "$out" "\"version\":$1" && return 0
    done
    return 1
}
it "moves an execution to the new version, by name where a node has another"
run start order --project shop --workspace shop --version 1 --request '{"total": 250}' --id moved
member version 1
run migrate moved --map approve
exits 2
complains "strider migrate: --map wants FROM=TO"
run migrate moved --to-version 2 --map approve=nobody
exits 1
complains "InvalidRequest"
complains '"nobody"'
run migrate moved --to-version 2
exits 0
member version 2
member lifecycle '"WaitingForHuman"'
check "the list says so" listed_as_version 2
run abort moved
exits 0

it "takes over an execution from another engine, its joins rebuilt"
cat >"$scratch/leave.json" <<'JSON'
{"id": "leave",
 "blocks": [{"id": "s", "type": "StartBlock"}, {"id": "ask", "type": "Block", "handler": "wait"},
            {"id": "check", "type": "Block", "handler": "wait"}, {"id": "book", "type": "AndBlock", "handler": "log"},
            {"id": "f", "type": "FinishBlock"}],
 "faces": [{"id": "f1", "from": "s", "to": "ask"}, {"id": "f2", "from": "s", "to": "check"},
           {"id": "f3", "from": "ask", "to": "book", "result": "yes"}, {"id": "f4", "from": "check", "to": "book"},
           {"id": "f5", "from": "book", "to": "f"}]}
JSON
run deploy "$scratch/leave.json"
exits 0
cat >"$scratch/running.json" <<'JSON'
{"process": "leave", "executionId": "taken-over", "execution": {"days": 3},
 "active": [{"node": "check", "wait": true}], "passed": ["f1", "f2", {"edge": "f3", "result": "yes"}]}
JSON
run import "$scratch/running.json"
exits 0
member 'waiting[1].taskId' '"check"'
run get taken-over
member blocks.ask '"Completed"'
member blocks.check '"Pending"'
run callback taken-over
exits 0
member status '"Completed"'
echo '{"process": "leave", "active": ["book"]}' >"$scratch/running.json"
run import "$scratch/running.json"
exits 1
complains '"book"'
run import "$scratch/nowhere.json"
exits 2
complains "nowhere.json"

it "aborts and deletes"
run start order --project shop --workspace shop --request '{"total": 250}'
second=$(field executionId | tr -d '"')
run abort "$second" --reason "not wanted any more"
exits 0
member status '"Stopped"'
member error.code '"Aborted"'
run delete "$second"
exits 0
run get "$second"
exits 1
complains "SessionNotFound"

it "a second engine on the same data is refused"
run serve --data "$scratch/data" --listen "ipc://$scratch/other.ipc" --admin off
exits 1
complains "another engine runs on this data directory"

it "SIGHUP loads changed projects"
sed -i 's/Order received/Order arrived/' "$scratch/projects/order/order.bpmn"
kill -HUP "$engine_pid"
check "reloaded" await "$scratch/engine.log" "strider: reloaded 1 projects"
run definitions --project shop
says '"version":3'

it "SIGHUP with a broken project keeps what there was, and says so"
cp "$scratch/broken.bpmn" "$scratch/projects/order/second.bpmn"
kill -HUP "$engine_pid"
check "refused" await "$scratch/engine.log" "strider: reload refused"
check "names the file" grep -q "second.bpmn" "$scratch/engine.log"
run definitions --project shop
exits 0
says '"version":3'
rm "$scratch/projects/order/second.bpmn"

it "after kill -9 a waiting order is still there and goes on"
run start order --project shop --workspace shop --request '{"total": 130}' --session parcel-2 --id order-2
exits 0
member lifecycle '"WaitingForHuman"'
stop_engine KILL
start_engine --project "$scratch/projects"
err=$(cat "$scratch/engine.log")
complains "recovered 1 executions"
run get order-2 --include payloads
exits 0
member lifecycle '"WaitingForHuman"'
member execution.total 130
before=$(grep -c '^/check' "$scratch/modules.log")
run callback order-2 --payload '{"approved": false}'
exits 0
member status '"Completed"'
check "the check is not made again" equals "$(grep -c '^/check' "$scratch/modules.log")" "$before"
run get order-2 --include map
check "it was rejected" holds "$out" '"rejected"'

it "after kill -9 a running retry goes on by itself"
run start order --project shop --workspace shop --request '{"total": 30}' --session parcel-3 --id order-3
exits 0
check "a retry is waited for" holds "$out" '"retry"'
stop_engine KILL
start_engine --project "$scratch/projects"
check "deliver waits" until_waiting order-3 deliver
run callback --session parcel-3 --payload '{}'
exits 0
member status '"Completed"'

it "SIGTERM ends in order with exit code 0, and the next start finds all"
run start order --project shop --workspace shop --request '{"total": 500}' --id order-4
stop_engine TERM
exits 0
complains "strider: stopped; everything is flushed"
start_engine --project "$scratch/projects"
run get order-4
exits 0
member lifecycle '"WaitingForHuman"'
stop_engine INT
exits 0

it "SIGTERM does not wait for ever: what still runs is left to the journal, and the next engine goes on with it"
start_engine --project "$scratch/projects" --set shutdownTimeout=300ms
kill -STOP "$modules_pid"
run start order --project shop --workspace shop --request '{"total": 300}' --id order-5 --wait accepted
exits 0
stop_engine TERM
exits 0
complains "strider: stopped; the journal holds what is not flushed yet"

it "a second signal ends at once, and nothing acknowledged is lost by it"
start_engine --project "$scratch/projects"
run start order --project shop --workspace shop --request '{"total": 400}' --id order-6 --wait accepted
exits 0
kill -TERM "$engine_pid"
check "it stops" await "$scratch/engine.log" SERVE-STOPPING
stop_engine TERM
exits 1
complains "strider: second signal, leaving at once"
kill -CONT "$modules_pid"
start_engine --project "$scratch/projects"
check "order-5 went on" until_waiting order-5 approve
check "order-6 went on" until_waiting order-6 approve
stop_engine TERM
exits 0

it "a damaged file of blobs or of state is refused by its name, and blobs that were moved away are done without"
start_engine --project "$scratch/projects"
run start order --project shop --workspace shop --request '{"total": 400}' --id order-7 --wait accepted
exits 0
check "order-7 waits" until_waiting order-7 approve
stop_engine TERM
exits 0
for store in blobs state; do
    cp "$scratch/data/$store/data.mdb" "$scratch/sound.mdb"
    head -c 8192 /dev/zero | dd of="$scratch/data/$store/data.mdb" conv=notrunc 2>/dev/null
    run serve --data "$scratch/data" --set "front.listen=$url" --set admin.listen=off
    exits 1
    complains "$scratch/data: $store/data.mdb: stored bytes are corrupt; "
    complains "from a backup"
    cp "$scratch/sound.mdb" "$scratch/data/$store/data.mdb"
done
mv "$scratch/data/blobs" "$scratch/blobs-aside"
start_engine --project "$scratch/projects"
check "order-7 went on" until_waiting order-7 approve
run callback order-7 --task approve --payload '{"approved": true}'
exits 0
stop_engine TERM
exits 0

it "the log tells of each call and each end, by execution, step and shard, and nothing of what was said"
start_engine --project "$scratch/projects" --set log.level=debug
run start order --project shop --workspace shop --request '{"total": 31, "note": "sesame"}' --id told --session told-parcel
exits 0
check "the call" grep -qE '"level":"DEBUG","id":"MODULE-CALL","shard":0,"executionId":"told","stepId":"[0-9a-f-]{36}"' "$scratch/engine.log"
check "its answer" grep -qE '"id":"MODULE-ANSWER","shard":0,"executionId":"told","attempt":1,"outcome":"answered","status":200' "$scratch/engine.log"
run abort told
exits 0
check "its end" grep -q '"level":"DEBUG","id":"EXECUTION-ENDED","shard":0,"executionId":"told","process":"order"' "$scratch/engine.log"
check "no payload" lacks "$(cat "$scratch/engine.log")" sesame
stop_engine TERM
exits 0

it "the limit of steps is a key, and what fails by it is told in the log"
cat >"$scratch/loop.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="loop" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="b"/>
    <task id="b"/><sequenceFlow id="g" sourceRef="b" targetRef="c"/>
    <task id="c"/><sequenceFlow id="h" sourceRef="c" targetRef="d"/><endEvent id="d"/>
  </process>
</definitions>
END
start_engine --project "$scratch/projects" --set engine.maxSteps=3
run deploy "$scratch/loop.bpmn"
exits 0
run start loop --id looped
member error.code '"StepLimitExceeded"'
member sequence 3
check "told" grep -q '"level":"INFO","id":"EXECUTION-FAILED","shard":0,"executionId":"looped","process":"loop","version":1,"state":24,"steps":3,"errorCode":"StepLimitExceeded"' "$scratch/engine.log"
stop_engine TERM
start_engine --project "$scratch/projects"
run retry looped
exits 0
member status '"Completed"'
stop_engine TERM
exits 0

it "a token is asked for where one is configured"
printf '# of the gateways\n\nopen sesame\n' >"$scratch/tokens"
start_engine --project "$scratch/projects" --set "auth.file=$scratch/tokens"
run ping
exits 1
complains "Unauthorized"
run ping --token "# of the gateways"
exits 1
complains "Unauthorized"
run ping --token "open sesame"
exits 0
STRIDER_TOKEN="open sesame" run ping
exits 0
stop_engine TERM
exits 0
check "no token in the log" lacks "$err" sesame

it "refuses more tokens than it would look at"
seq 256 | sed 's/^/token-/' >"$scratch/many-tokens"
run serve --data "$scratch/data" --set "auth.file=$scratch/many-tokens" --set auth.tokens=one-more
exits 2
complains "auth.file: there are more than 256 tokens"
head -c 4097 /dev/zero | tr '\0' x >"$scratch/long-token"
run serve --data "$scratch/data" --set "auth.file=$scratch/long-token"
exits 2
complains "auth.file: a token is longer than 4096 bytes"

it "log lines are JSON, one object a line"
bad=0
while read -r line; do
    case $line in
    strider:*) ;;
    *) "$strider" eval 'level' --context "$line" >/dev/null 2>&1 || bad=$((bad + 1)) ;;
    esac
done <"$scratch/engine.log"
check "$bad lines are not" equals "$bad" 0

finish
