#!/usr/bin/env bash
# strider convert: between the three notations, there and back, and what it refuses.
. "$(dirname "$0")/harness.sh" "$1"

cat >"$scratch/order.json" <<'END'
{"id": "order", "name": "Order", "version": 3,
 "nodes": [
  {"id": "n1", "type": "trigger_manual", "position": {"x": 10, "y": 20.5}, "size": {"width": 36, "height": 36}},
  {"id": "n2", "type": "action", "name": "Pay", "config": {"task_type": "pay", "amount": "{{ total }}", "tries": 3}},
  {"id": "n3", "type": "decision"},
  {"id": "n4", "type": "human_task", "config": {"assignee": "anna"}},
  {"id": "n5", "type": "end"}],
 "edges": [
  {"id": "e1", "source": "n1", "target": "n2"},
  {"id": "e2", "source": "n2", "target": "n3"},
  {"id": "e3", "source": "n3", "target": "n4", "condition": "total > 100", "label": "big"},
  {"id": "e4", "source": "n3", "target": "n5", "default": true},
  {"id": "e5", "source": "n4", "target": "n5"}]}
END

it "writes a JSON graph as BPMN"
run convert --to bpmn "$scratch/order.json"
exits 0
says '<process id="order" name="Order" isExecutable="true"'
says '<serviceTask id="n2" name="Pay" strider:type="pay">'
says '<strider:header key="amount" value="{{ total }}"/>'
says 'total &gt; 100'
says '<dc:Bounds x="10" y="20.5" width="36" height="36"/>'
check "nothing on stderr" is_empty "$err"

it "writes that BPMN as a graph, which is the same again and again"
run convert --to bpmn --output "$scratch/order.bpmn" "$scratch/order.json"
exits 0
check "nothing on stdout" is_empty "$out"
run convert --to graph "$scratch/order.bpmn"
exits 0
says '"type": "human_task"'
says '"condition": "total > 100"'
says '"next_id": 6'
printf '%s\n' "$out" >"$scratch/again.json"
run convert --to graph "$scratch/again.json"
exits 0
check "the same text" equals "$out" "$(cat "$scratch/again.json")"

it "accepts what it wrote"
run validate "$scratch/order.json" "$scratch/order.bpmn" "$scratch/again.json"
exits 0

it "refuses what a block scheme cannot say, by name, and writes nothing"
run convert --to scheme --output "$scratch/none.json" "$scratch/order.json"
exits 1
complains '"n3": a choice'
complains '"n4": a block calls a handler and can do nothing else'
check "no file" test ! -e "$scratch/none.json"

cat >"$scratch/scheme.json" <<'END'
{"id": "s", "blocks": [{"id": "b0", "type": "StartBlock"}, {"id": "b1", "type": "Block", "handler": "approve"},
 {"id": "b2", "type": "Block", "handler": "fix"}, {"id": "b3", "type": "FinishBlock"}],
 "faces": [{"id": "f0", "from": "b0", "to": "b1"}, {"id": "f1", "from": "b1", "to": "b3", "result": "yes"},
 {"id": "f2", "from": "b1", "to": "b2", "result": "no"}, {"id": "f3", "from": "b2", "to": "b1"}]}
END

it "says results of a block scheme as conditions"
run convert --to bpmn "$scratch/scheme.json"
exits 0
says 'string(output) = "yes"'
says '<endEvent id="b1_end">'

it "lists what has no meaning and is left out"
cat >"$scratch/lanes.bpmn" <<'END'
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="p"><laneSet><lane id="l"/></laneSet><startEvent id="a"/></process>
  <process id="q"><startEvent id="b"/></process>
</definitions>
END
run convert --to graph --process p "$scratch/lanes.bpmn"
exits 0
complains "left out: lanes (1 in the file) are not kept"

it "wants a choice among several processes"
run convert --to graph "$scratch/lanes.bpmn"
exits 1
complains "the file has 2 processes"
run convert --to graph --process r "$scratch/lanes.bpmn"
exits 1
complains 'there is no process "r"'

it "refuses a file that lost an expression on the way in"
cat >"$scratch/broken.json" <<'END'
{"id": "p", "nodes": [{"id": "a", "type": "action", "config": {"x": "=1 +"}}], "edges": []}
END
run convert --to bpmn "$scratch/broken.json"
exits 1
complains "malformed-expression"

it "says what is wrong with its arguments"
run convert "$scratch/order.json"
exits 2
complains "--to is bpmn, graph or scheme"
run convert --to xml "$scratch/order.json"
exits 2
complains 'not "xml"'
run convert --to bpmn "$scratch/nowhere.json"
exits 1
complains "nowhere.json"

finish
