#!/usr/bin/env bash
# The configuration of `strider serve`, without an engine.
. "$(dirname "$0")/harness.sh" "$1"

it "print-config shows defaults, and where each value comes from"
cat >"$scratch/s.conf" <<'END'
# a comment
front {
    listen = ["tcp://127.0.0.1:7711", "ipc:///tmp/a b"];
    maxRequestBytes: 1mb
}
auth { tokens = ["sesame"] }
shutdownTimeout = 10s
END
run serve --print-config
exits 0
says 'dir = "strider-data"'
says "# default"
STRIDER_LOG_LEVEL=debug run serve --config "$scratch/s.conf" --data /x --set engine.shards=3 --print-config
exits 0
says 'listen = ["tcp://127.0.0.1:7711", "ipc:///tmp/a b"]'
says "# $scratch/s.conf:3"
says "maxRequestBytes = 1mb"
says "# environment STRIDER_LOG_LEVEL"
says 'dir = "/x"'
says "# option --data"
says "shards = 3"
says "# option --set"
says 'tokens = ["***"]'
check "no secret is shown" lacks "$out" sesame

it "what is printed is a config file"
printf '%s\n' "$out" >"$scratch/again.conf"
run serve --config "$scratch/again.conf" --print-config
exits 0
says "shutdownTimeout = 10s"

it "the environment beats the file, options beat the environment"
STRIDER_FRONT_MAX_REQUEST_BYTES=2mb run serve --config "$scratch/s.conf" --print-config
says "maxRequestBytes = 2mb"
STRIDER_DATA_DIR=/env run serve --data /option --print-config
says 'dir = "/option"'

# refuses CONFIG-TEXT MESSAGE
refuses() {
    printf '%s\n' "$1" >"$scratch/bad.conf"
    run serve --config "$scratch/bad.conf" --print-config
    exits 2
    complains "$2"
    check "one line" is_one_line "$err"
    check "nothing on stdout" is_empty "$out"
}

it "unknown keys are refused with a suggestion"
refuses 'front { lisen = x }' "bad.conf:1: unknown key \"front.lisen\"; did you mean \"front.listen\"?"
refuses $'\n\nfrnt { listen = x }' "bad.conf:3: unknown key \"frnt.listen\"; did you mean \"front.listen\"?"
refuses 'durability = off' 'did you mean "engine.durability"?'

it "wrong types, ranges and notations are refused with their line"
refuses 'front { maxPending = lots }' "bad.conf:1: front.maxPending wants a whole number, not \"lots\""
refuses 'front { maxPending = 0 }' "is out of range (1 to 1000000)"
refuses 'shutdownTimeout = 2 parsecs' 'bad.conf:1: a value with white space needs'
refuses 'shutdownTimeout = "2 parsecs"' 'bad.conf:1: shutdownTimeout wants a duration'
refuses 'engine { stepBlobs = some }' "engine.stepBlobs is one of all|waits|off"
refuses 'front {' "a section has no closing }"
refuses 'log { level = info
level = warn }' "bad.conf:2: log.level was already given at"
run serve --config /no/such.conf
exits 2
complains "/no/such.conf: No such file or directory"
run serve --set nonsense
exits 2
complains "--set wants KEY=VALUE"
run serve --set log.levl=info
exits 2
complains 'option --set: unknown key "log.levl"; did you mean "log.level"?'
STRIDER_ENGINE_SHARDS=many run serve --print-config
exits 2
complains "environment STRIDER_ENGINE_SHARDS: engine.shards wants a whole number"
run serve --set "auth.file=/no/tokens" --data "$scratch/data"
exits 2
complains "auth.file: /no/tokens"

it "a name of the environment that is meant as a key and is none is refused"
STRIDER_AUTH_TOKEN=sesame run serve --print-config
exits 2
complains "environment STRIDER_AUTH_TOKEN: no such key; did you mean STRIDER_AUTH_TOKENS?"
check "its value is not shown" lacks "$err" sesame

it "keys lists every key with its meaning"
run serve --keys
exits 0
says "front.maxRequestBytes"
says "shutdownTimeout"

it "listening beyond loopback needs a token"
run serve --data "$scratch/data" --listen tcp://0.0.0.0:0 --admin off
exits 1
complains "front.listen:"
run serve --data "$scratch/data" --listen "$url" --admin http://0.0.0.0:0
exits 1
complains "admin.listen:"

it "a folder of projects may be empty yet, but not hold something else"
mkdir "$scratch/empty" "$scratch/else"
start_engine --project "$scratch/empty"
stop_engine TERM
exits 0
complains SERVE-NO-PROJECT
echo x >"$scratch/else/notes.txt"
run serve --data "$scratch/data" --project "$scratch/else" --listen "$url" --admin off
exits 2
complains "$scratch/else: no project here"

it "a broken project is refused at start, by file and line"
mkdir "$scratch/project"
printf '{\n"projectId": "a",\n"projectID": 1}' >"$scratch/project/project.json"
run serve --data "$scratch/data" --listen "$url" --admin off --project "$scratch/project"
exits 2
complains 'unknown key "projectID"; did you mean "projectId"?'
printf '{\n"projectId": }' >"$scratch/project/project.json"
run serve --data "$scratch/data" --listen "$url" --admin off --project "$scratch/project"
exits 2
complains "$scratch/project/project.json:2:"
mkdir "$scratch/several" "$scratch/several/one" "$scratch/several/two"
printf '<broken' | tee "$scratch/several/one/a.bpmn" >"$scratch/several/two/a.bpmn"
printf '{"projectId": "first"}' >"$scratch/several/one/project.json"
printf '{"projectId": "second"}' >"$scratch/several/two/project.json"
printf '{"modules": [{}]}' >"$scratch/several/two/modules.json"
run serve --data "$scratch/data" --listen "$url" --admin off --project "$scratch/several"
exits 2
complains 'first/a.bpmn:1:1: error'
complains 'second/a.bpmn:1:1: error'
complains 'second/modules.json: error: modules[0]: needs taskTypes'
run serve --data "$scratch/data" --listen "$url" --admin off --project "$scratch/none"
exits 2
complains "$scratch/none: No such file or directory"

finish
