#!/usr/bin/env bash
# Every verb's --help and usage errors; eval and validate.
. "$(dirname "$0")/harness.sh" "$1"

verbs="run serve validate convert eval deploy definitions start callback message signal get list tasks suspend resume abort restart retry migrate import delete backup stats ping version replay consumer test"

it "help lists every verb"
run --help
exits 0
for verb in $verbs bench test; do
    says "  $verb "
done
run help start
exits 0
says "usage: strider start [OPTION…] PROCESS"

for verb in $verbs; do
    it "$verb --help goes to stdout"
    run "$verb" --help
    exits 0
    says "usage: strider $verb"
    says "--help"
    check "nothing on stderr" is_empty "$err"
    it "$verb refuses an unknown option in one line"
    run "$verb" --nonesuch
    exits 2
    complains "strider $verb: option \"--nonesuch\" is not understood"
    check "one line" is_one_line "$err"
    check "nothing on stdout" is_empty "$out"
done

it "no verb and unknown verbs are usage errors"
run
exits 2
run strat
exits 2
complains 'strider: no verb "strat"; did you mean "start"?'
run blub
exits 2
complains 'strider: no verb "blub" (strider --help lists them)'

it "missing and surplus arguments are usage errors"
run start
exits 2
complains "usage: strider start [OPTION…] PROCESS"
run get a b
exits 2
complains '"b" is one argument too many'
run start order --request
exits 2
complains 'option "--request" needs a value'
run start order --requst '{}'
exits 2
complains 'did you mean "--request"?'
run start order --request '{'
exits 2
complains "--request is not JSON"
run start order --var novalue
exits 2
complains "--var wants NAME=VALUE"
run start order --version x
exits 2
complains "--version wants a whole number"
run start order --timeout soon
exits 2
complains "--timeout wants a duration"
run callback
exits 2
complains "name the execution or its --session"
run callback id --session s
exits 2
run ping --connect nowhere
exits 2
complains "--connect nowhere:"

it "a file that is not there is named"
run start order --request @/no/such/file
exits 2
complains "/no/such/file: No such file or directory"
run run /no/such/file
exits 2
complains "/no/such/file: No such file or directory"
run validate /no/such/file
exits 1
complains "/no/such/file: No such file or directory"

it "test says where there is no scenario"
echo '[]' >"$scratch/none.json"
run test "$scratch/none.json"
exits 1
complains "strider test: $scratch/none.json: no scenario in it"

it "convert says why its file cannot be written"
run convert "$root/examples/order/order.bpmn" --to graph --output /no/such/file
exits 1
complains "/no/such/file cannot be written: No such file or directory"

it "nobody listening is said, not waited for"
run ping --connect "ipc://$scratch/nobody.ipc" --timeout 200ms
exits 1
complains "no answer from ipc://$scratch/nobody.ipc"

it "version prints the version"
run version
exits 0
says "strider 0."
run --version
exits 0

it "eval prints JSON"
run eval '0.1 + 0.2'
exits 0
check "0.3" equals "$out" 0.3
run eval 'a > 1 and b = "x"' --context '{"a": 2, "b": "x"}'
check "true" equals "$out" true
run eval '${a * 2}' --context '{"a": 21}'
check "42" equals "$out" 42
printf '{"deep": {"er": [1, 2]}}' >"$scratch/context.json"
run eval 'deep.er' --context "@$scratch/context.json"
check "the list" equals "$out" '[1,2]'

it "eval evaluates a decision of a model"
run eval discount --model "$root/examples/discount/discount.dmn" --context '{"customer": {"orders": 60}, "total": 120}'
exits 0
check "15" equals "$out" 15
run eval Tier --model "$root/examples/discount/discount.dmn" --context '{"customer": {"orders": 60}}'
check "by its name" equals "$out" '"gold"'
run eval nobody --model "$root/examples/discount/discount.dmn"
exits 1
complains 'has no decision "nobody"'
run eval tier --model "$scratch/none.dmn"
exits 1
complains "none.dmn"
printf '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="d"><literalExpression><text>1 +</text></literalExpression></decision></definitions>' >"$scratch/bad.dmn"
run eval d --model "$scratch/bad.dmn"
exits 1
complains "malformed-expression"
run eval d --model "$scratch/bad.dmn" --dialect feel
exits 2
complains "--dialect goes with an expression"

it "eval shows the place of an error"
run eval '1 + + )'
exits 1
check "nothing on stdout" is_empty "$out"
complains "strider eval: at character"
complains "  1 + + )"
complains "^"
run eval '${nobody}' --dialect juel
exits 1
run eval 1 --dialect cobol
exits 2
complains "--dialect is feel, juel or template"
run eval 1 --context '[]'
exits 2
complains "--context wants an object"

it "validate accepts the example and says what is in it"
run validate "$root/examples/order/order.bpmn" "$root/examples/order/modules.json"
exits 0
says 'order.bpmn: ok, process "order"'
says 'modules.json: ok'
run validate --json "$root/examples/order/order.bpmn"
exits 0
out="{\"list\": $out}"
member 'list[1].ok' true
member 'list[1].processes[1].id' '"order"'
run validate "$root/examples/order"
exits 0
says "$root/examples/order/order.bpmn: ok"
says "$root/examples/order/modules.json: ok"
run validate "$root/examples/"
exits 0
says "$root/examples/discount/quote.bpmn: ok"
says "$root/examples/order/order.bpmn: ok"

it "validate names file, line and rule of what it refuses"
cat >"$scratch/broken.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="a"/>
    <sequenceFlow id="f" sourceRef="a" targetRef="nowhere"/>
  </process>
</definitions>
END
run validate "$scratch/broken.bpmn"
exits 1
says "$scratch/broken.bpmn:4:"
says ": error: "
says "nowhere"
says "refused"
run validate --json "$scratch/broken.bpmn" "$root/examples/order/order.bpmn"
exits 1
out="{\"list\": $out}"
member 'list[1].ok' false
member 'list[1].problems[1].severity' '"error"'
member 'list[1].problems[1].line' 4
member 'list[2].ok' true
run validate "$root/LICENSE"
exits 1
cat >"$scratch/refused.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="a" parallelMultiple="true"><signalEventDefinition signalRef="s"/><signalEventDefinition signalRef="r"/></startEvent>
  </process>
  <signal id="s" name="s"/>
  <signal id="r" name="r"/>
</definitions>
END
run validate "$scratch/refused.bpmn"
exits 1
says "$scratch/refused.bpmn:3: error: startEvent \"a\": "

it "example-modules tells its usage, and takes no word for a port"
code=0
out=$("$build/example-modules" --help) || code=$?
exits 0
says "usage: example-modules [PORT]"
for word in x 65536 -1 78x ""; do
    code=0
    err=$(timeout 10 "$build/example-modules" "$word" 2>&1 >/dev/null) || code=$?
    exits 2
    complains "usage: example-modules [PORT]"
done

finish
