#!/usr/bin/env bash
# Decision models: validated, run beside a process, deployed, versioned, there after kill -9.
. "$(dirname "$0")/harness.sh" "$1"

example=$root/examples/discount
cp "$example/quote.bpmn" "$example/discount.dmn" "$scratch/"

it "validate names the decisions of a model"
run validate "$scratch/discount.dmn"
exits 0
says 'ok, decision "tier", decision "discount"'
run validate "$scratch/discount.dmn" --json
says '{"id":"discount","name":"Discount"}'

it "validate and deploy name the place of what is wrong"
sed 's/&gt;= 100/>= /' "$example/discount.dmn" >"$scratch/broken.dmn"
run validate "$scratch/broken.dmn"
exits 1
says "malformed-expression"
says "broken.dmn:28:9: error"
rm "$scratch/broken.dmn"

it "convert refuses what has no other notation"
run convert "$scratch/discount.dmn" --to graph
exits 1
complains "cannot-say"

it "run finds the model beside the process"
run run "$scratch/quote.bpmn" --request '{"customer": {"orders": 60}, "total": 250}' --json
exits 0
member execution.price 212.5

it "run says what a decision that nobody has comes to"
mkdir "$scratch/alone"
cp "$example/quote.bpmn" "$scratch/alone/"
run run "$scratch/alone/quote.bpmn" --request '{"customer": {"orders": 60}, "total": 250}' --json
exits 1
complains "ModuleNotFound"

it "the example's own scenarios hold"
run test "$example/tests/quote.json"
exits 0

mkdir -p "$scratch/projects/discount"
cp "$scratch/quote.bpmn" "$scratch/discount.dmn" "$scratch/projects/discount/"
start_engine --project "$scratch/projects"

it "a project's models are deployed with it, and are listed"
run definitions
exits 0
member 'decisions[1].decision' '"tier"'
member 'decisions[2].version' 1
run start quote --request '{"customer": {"orders": 60}, "total": 250}' --id first
exits 0
member execution.price null
run get first --include payloads,logs
member execution.price 212.5
says 'rule 1 (gold_large)'

it "a new version of a table counts from the next decision on"
sed 's/<text>15</<text>20</' "$example/discount.dmn" >"$scratch/discount.dmn"
run deploy "$scratch/discount.dmn"
exits 0
member version 2
member 'decisions[2].id' '"discount"'
run start quote --request '{"customer": {"orders": 60}, "total": 250}' --id second
run get second --include payloads
member execution.price 200

it "the same content again makes no version"
run deploy "$scratch/discount.dmn"
member created false
member version 2

it "after kill -9 the newest version is there"
stop_engine KILL
start_engine
run start quote --request '{"customer": {"orders": 60}, "total": 250}' --id third
run get third --include payloads
member execution.price 200

finish
