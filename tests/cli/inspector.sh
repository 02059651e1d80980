#!/usr/bin/env bash
# The inspector: the page and its headers, what it may without a token, and all of it in a real browser where there is one.
. "$(dirname "$0")/harness.sh" "$1"

start_modules
copy_example "$scratch/projects/order"
mkdir "$scratch/projects/more"
cat >"$scratch/projects/more/stuck.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="stuck" isExecutable="true">
    <startEvent id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="x"/><exclusiveGateway id="x"/>
    <sequenceFlow id="g" sourceRef="x" targetRef="b"><conditionExpression>=false</conditionExpression></sequenceFlow><endEvent id="b"/>
  </process>
</definitions>
END
cat >"$scratch/projects/more/nightly.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="nightly" isExecutable="true">
    <startEvent id="a"><timerEventDefinition><timeCycle>0 0 3 * * *</timeCycle></timerEventDefinition></startEvent>
    <sequenceFlow id="f" sourceRef="a" targetRef="b"/><endEvent id="b"/>
  </process>
</definitions>
END
cat >"$scratch/projects/more/hook.json" <<'END'
{"id": "hooked", "nodes": [{"id": "w", "type": "trigger_webhook", "config": {"path": "orders/new"}}, {"id": "ask", "type": "human_task"}],
 "edges": [{"id": "1", "source": "w", "target": "ask"}]}
END

cat >"$scratch/projects/more/odd.json" <<'END'
{"id": "odd", "nodes": [{"id": "1", "type": "trigger_manual"}, {"id": "two <b>", "type": "human_task"}, {"id": "größe", "type": "human_task"}],
 "edges": [{"id": "10", "source": "1", "target": "two <b>"}, {"id": "20", "source": "two <b>", "target": "größe"}]}
END

# fill: the executions that inspector_test.mjs tells of.
fill() {
    run start order --project shop --workspace shop --id one --request '{"total": 250, "note": "<img src=x>", "</script>": "<b>"}'
    exits 0
    run start odd --id strange
    exits 0
    run start stuck --id lost
    exits 0
    member status '"Error"'
}
# page [CURL-OPTION…]: head in $out, status in $code, the page in $scratch/body.
page() {
    code=$(curl -s -D "$scratch/out" -o "$scratch/body" -w '%{http_code}' "$@" "$admin/")
    out=$(tr -d '\r' <"$scratch/out")
    err=
}

it "serves one page that may load nothing, run nothing but its own scripts, and talk to its own origin"
start_with_admin --project "$scratch/projects"
page
check "status 200" is_code 200
says "Content-Type: text/html; charset=utf-8"
says "X-Content-Type-Options: nosniff"
says "X-Frame-Options: DENY"
says "Referrer-Policy: no-referrer"
says "Cache-Control: no-store"
says "Content-Security-Policy: default-src 'none'; script-src 'sha256-"
says "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
check "no script runs that is not named" lacks "$(grep -o 'script-src[^;]*' <<<"$out")" unsafe
check "each script is named" test "$(grep -o "'sha256-" <<<"$out" | wc -l)" -eq "$(grep -c '<script>' "$scratch/body")"
check "nothing is loaded" lacks "$(cat "$scratch/body")" ' src="http'
page -X POST
check "status 405" is_code 405
page -H 'Host: strider.example'
check "status 401 for another host, without tokens" is_code 401

fill
if [ -n "$browser" ] && [ -n "$node" ]; then
    node_tests tests/browser/inspector_test.mjs
else
    echo "skipped: the inspector in a browser (no chromium or no node)"
fi
stop_engine
exits 0

it "shows the page, but no data, without the token"
rm -r "$scratch/data"
start_with_admin --project "$scratch/projects" --set auth.tokens=sesame
export STRIDER_TOKEN=sesame
fill
page
check "status 200" is_code 200
check "no data in it" lacks "$(cat "$scratch/body")" "nightly"
for path in executions executions/one executions/one/steps tasks definitions stats events; do
    code=$(curl -s -o "$scratch/body" -w '%{http_code}' "$admin/v1/$path")
    check "/v1/$path is 401, not $code" is_code 401
done
if [ -n "$browser" ] && [ -n "$node" ]; then
    node_tests tests/browser/inspector_test.mjs TOKEN=sesame
fi
unset STRIDER_TOKEN
stop_engine
exits 0

finish
