#!/usr/bin/env bash
# The HTTP side of a real engine, with curl: health, metrics, the REST mirror, events, tokens.
. "$(dirname "$0")/harness.sh" "$1"

mkdir "$scratch/project"
cat >"$scratch/project/ask.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="ask" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="u"/>
    <userTask id="u"/><sequenceFlow id="g" sourceRef="u" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END

cat >"$scratch/project/hook.json" <<'END'
{"id": "hooked", "nodes": [{"id": "w", "type": "trigger_webhook", "config": {"path": "orders/new"}}, {"id": "ask", "type": "human_task"}],
 "edges": [{"id": "1", "source": "w", "target": "ask"}]}
END

# http METHOD PATH [BODY] [CURL-OPTION…]: keeps $out and the status in $code.
http() {
    local method=$1 path=$2 body=${3-}
    shift $(($# < 3 ? $# : 3))
    code=$(curl -s -o "$scratch/body" -w '%{http_code}' -X "$method" ${body:+-d "$body"} "$@" "$admin$path")
    out=$(cat "$scratch/body")
    err=
}
answers() { check "status $1, not $code" is_code "$1"; }

start_with_admin --project "$scratch/project"

it "is alive and ready"
http GET /healthz
answers 200
http GET /readyz
answers 200

it "shows metrics of engine and front from the start"
http GET /metrics
answers 200
says "strider_front_requests_total 0"
says "# TYPE strider_front_pending gauge"
check "it may open as many files as it is let" grep -qx "process_max_fds $(ulimit -Hn)" <<<"$out"
check "series of the engine" test "$(grep -c '^strider_' <<<"$out")" -ge 10
check "each series has its help" test "$(grep -c '^# TYPE' <<<"$out")" -eq "$(grep -c '^# HELP' <<<"$out")"

it "tells events to listeners, runs an execution over REST"
curl -sN "$admin/v1/events" >"$scratch/events" 2>/dev/null &
listener=$!
check "it listens" await "$scratch/events" ": connected" 20
http GET /v1/ping
answers 200
http POST /v1/executions '{"process":"ask","executionId":"e-1","request":{"n":7}}'
answers 200
member lifecycle '"WaitingForHuman"'
http GET '/v1/executions/e-1?include=payloads'
answers 200
member request.n 7
http GET /v1/tasks
answers 200
member 'tasks[1].executionId' '"e-1"'
http POST /api/workflows/e-1/resume '{"approved":true}'
answers 200
member lifecycle '"Completed"'
check "an event of it arrived" await "$scratch/events" '"executionId":"e-1"' 20
for event in started step waiting human-task completed; do
    check "event $event" await "$scratch/events" "event: $event" 20
done
kill "$listener" 2>/dev/null
wait "$listener" 2>/dev/null

it "tells whose an execution is, with each payload, and gives its row the same numbers"
http POST /v1/executions '{"process":"ask","executionId":"e-2","channel":"web","channelSessionId":"s-2","isTest":true}'
answers 200
http GET '/v1/executions/e-2?include=payloads'
member channel '"web"'
member channelSessionId '"s-2"'
member isTest true
member 'is defined(endedAt)' false
member 'request = {} and context = {} and module = {} and execution = {}' true
http GET /v1/executions/e-1
member 'is defined(endedAt)' true
member isTest false
rows() {
    local end=$((SECONDS + 30))
    until http GET '/v1/executions?status=Completed&process=ask' && holds "$out" '"e-1"'; do
        [ $SECONDS -lt $end ] || return 1
    done
}
check "the row is there" rows
member 'executions[1].state' 40
member 'executions[1].sequence' 3

it "publishes messages and signals"
http POST /v1/messages '{"name":"nobody waits","ttlMs":0}'
answers 200
member 'is defined(messageId)' true
http POST /v1/signals '{"name":"nobody waits"}'
answers 200
member 'is defined(signalId)' true

it "refuses what no word of the filters is, and a version that there is not"
http GET '/v1/executions?status=waiting'
answers 400
says 'status must be \"Running\", \"Waiting\"'
http GET '/v1/executions?lifecycle=Waiting'
answers 400
says 'lifecycle must be \"Pending\"'
http GET '/v1/executions/e-1?include=payload'
answers 400
says 'include must be a list of \"payloads\"'
http GET '/v1/executions?lifecyle=Failed'
answers 400
says 'list has no filter \"lifecyle\"'
http GET '/v1/tasks?group=g'
answers 400
says 'tasks has no filter \"group\"'
http GET '/v1/definitions?project=p'
answers 400
says 'definitions has no filter \"project\"'
http POST /v1/executions '{"proces":"ask"}'
answers 400
says 'start has no field \"proces\"; did you mean \"process\"?'
http POST '/v1/executions?timeout=5000' '{"process":"ask"}'
answers 400
says 'start has no field \"timeout\"; did you mean \"timeoutMs\"?'
http POST /v1/messages '{"name":"paid","ttl":5}'
answers 400
says 'message has no field \"ttl\"; did you mean \"ttlMs\"?'
http POST /v1/ops '{"op":"message","name":"paid","colour":"red"}'
answers 200
http POST /v1/executions '{"process":"ask","version":9}'
answers 404
says 'process \"ask\" has no version 9 in project \"default\"'

it "answers what is not there with 404 and the error's code"
http GET /v1/executions/nobody
answers 404
member error.code '"SessionNotFound"'
http GET /v1/nonesuch
answers 404

it "starts a process by its webhook, once for a key"
http POST '/hooks/orders/new?from=shop' '{"n":7}' -H 'Content-Type: application/json' -H 'Idempotency-Key: k-1'
answers 200
member lifecycle '"WaitingForHuman"'
first=$(sed -n 's/.*"executionId":"\([^"]*\)".*/\1/p' "$scratch/body")
http POST '/hooks/orders/new?from=shop' '{"n":7}' -H 'Content-Type: application/json' -H 'Idempotency-Key: k-1'
answers 200
member executionId "\"$first\""
http GET "/v1/executions/$first?include=payloads"
member request.n 7
member context.webhook.query.from '"shop"'
http POST /hooks/orders/new '{"n":8}' -H 'Prefer: respond-async'
answers 200
http POST /hooks/orders/old '{}'
answers 404
member error.code '"DefinitionNotFound"'
http GET /hooks/orders/new
answers 405
http POST /hooks/orders/new 'n=7'
answers 400
run definitions
exits 0
says orders/new

it "is the same engine as over NNG"
run get e-1
exits 0
member lifecycle '"Completed"'
http GET /metrics
says "strider_front_requests_total 2"
stop_engine TERM
exits 0

it "asks for the token, but not for health"
start_with_admin --project "$scratch/project" --set auth.tokens=sesame
http GET /v1/ping
answers 401
http GET /v1/ping "" -H "Authorization: Bearer sesame"
answers 200
http GET /healthz
answers 200
http POST /hooks/orders/new '{}'
answers 401
http POST /hooks/orders/new '{}' -H "Authorization: Bearer sesame"
answers 200
stop_engine TERM
exits 0

it "a webhook with a secret is started by who signs its body or shows the secret, without a token"
start_with_admin --project "$scratch/project" --set auth.tokens=sesame --set "admin.hookSecrets=orders/new=hush,*=other"
body='{"n":9}'
signature=$(printf %s "$body" | openssl dgst -sha256 -hmac hush | sed 's/.*= //')
http POST /hooks/orders/new "$body" -H "X-Hub-Signature-256: sha256=$signature"
answers 200
member lifecycle '"WaitingForHuman"'
run get "$(field executionId | tr -d '"')" --token sesame --include payloads
check "the secret is not told to the process" lacks "$out" "sha256"
http POST /hooks/orders%2Fnew "$body" -H "X-Hub-Signature-256: sha256=$signature"
answers 200
for header in X-Hook-Token X-Gitlab-Token; do
    http POST /hooks/orders/new "$body" -H "$header: hush"
    answers 200
done
http POST /hooks/orders/new '{"n":10}' -H "X-Hub-Signature-256: sha256=$signature"
answers 401
member error.code '"Unauthorized"'
http POST /hooks/orders/new "$body"
answers 401
http POST /hooks/orders/new "$body" -H "Authorization: Bearer sesame"
answers 401
http POST /hooks/orders/new "$body" -H "X-Hook-Token: other"
answers 401
http POST /hooks/orders/old "$body" -H "X-Hook-Token: other"
answers 404
http POST /hooks/orders/new "" -H "X-Hook-Token: hush" -H 'Content-Length: 2000000'
answers 413
http GET /v1/ping "" -H "X-Hook-Token: hush"
answers 401
stop_engine TERM
exits 0
check "no secret in the log" lacks "$err" hush
run serve --data "$scratch/data" --listen "$url" --set admin.hookSecrets=orders/new
exits 2
complains "strider serve: admin.hookSecrets: item 1 is no PATH=SECRET"

# post_start ID: an order's start over REST in the background; its answer in $scratch/ID.body, its status in $scratch/ID.status. Returns
# when the engine has it.
post_start() {
    curl -s -o "$scratch/$1.body" -w '%{http_code}' -X POST "$admin/v1/executions" \
        -d '{"process":"order","workspaceId":"shop","projectId":"shop","executionId":"'"$1"'","request":{"total":300}}' >"$scratch/$1.status" &
    poster=$!
    until run get "$1" && [ "$code" -eq 0 ]; do
        kill -0 "$poster" 2>/dev/null || return 1
    done
}
# until_stopping: the engine says that it takes no more.
until_stopping() {
    local end=$((SECONDS + 30))
    until http GET /readyz && [ "$code" = 503 ]; do
        [ $SECONDS -lt $end ] || return 1
    done
}
# answered ID: waits for the answer and keeps it as `http` does.
answered() {
    wait "$poster"
    code=$(cat "$scratch/$1.status")
    out=$(cat "$scratch/$1.body")
}

it "a start under way at SIGTERM gets its reply where its segment ends in time; what comes later is refused"
start_modules
copy_example "$scratch/projects/order"
start_with_admin --project "$scratch/projects"
kill -STOP "$modules_pid"
check "the start is under way" post_start in-time
kill -TERM "$engine_pid"
check "the engine stops" until_stopping
says draining
http POST /v1/executions '{"process":"order","workspaceId":"shop","projectId":"shop"}'
answers 503
member error.code '"ShuttingDown"'
kill -CONT "$modules_pid"
answered in-time
answers 200
member lifecycle '"WaitingForHuman"'
wait "$engine_pid"
code=$?
engine_pid=
exits 0

it "a start whose segment does not end within shutdownTimeout gets ShuttingDown, and the next engine goes on with it"
start_with_admin --project "$scratch/projects" --set shutdownTimeout=300ms
kill -STOP "$modules_pid"
check "the start is under way" post_start too-long
stop_engine TERM
exits 0
answered too-long
answers 503
member error.code '"ShuttingDown"'
kill -CONT "$modules_pid"
start_with_admin --project "$scratch/projects"
until_waits() {
    local end=$((SECONDS + 30))
    until run get too-long && holds "$out" '"WaitingForHuman"'; do
        [ $SECONDS -lt $end ] || return 1
    done
}
check "it went on" until_waits
stop_engine TERM
exits 0

finish
