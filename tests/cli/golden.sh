#!/usr/bin/env bash
# Data directories that earlier versions wrote (tests/golden) are opened by this one; and the backup that they are made by.
. "$(dirname "$0")/harness.sh" "$1"

for golden in "$root"/tests/golden/*.tar.gz; do
    name=$(basename "$golden")
    rm -rf "$scratch/data"
    mkdir -m 700 "$scratch/data"
    tar -C "$scratch/data" -xzf "$golden"
    start_engine

    it "$name: nothing in it is damaged"
    err=$(cat "$scratch/engine.log")
    check "no CRITICAL line" lacks "$err" CRITICAL
    complains "recovered 2 executions"

    it "$name: what waits goes on, by id and by session, with its data"
    run get waiting-1 --include payloads
    exits 0
    member status '"Waiting"'
    member 'execution.amount' 12.50
    member 'execution.name' '"Jörg"'
    member 'request.big' 9007199254740993
    run callback --session session-waiting-1 --payload '{}'
    exits 0
    member 'waiting[1].taskId' '"b"'
    run callback halfway-1 --payload '{}'
    exits 0
    member status '"Completed"'

    it "$name: what ended can be read, is listed, and cannot be started again"
    run get ended-1 --include logs
    exits 0
    member status '"Completed"'
    run list
    member 'every row in executions satisfies row.state instance of number' true
    says ended-1
    run start golden --id ended-1
    exits 1

    stop_engine
    exits 0
done

it "a backup goes where it is said, from the caller's directory, and never over something"
start_engine
cd "$scratch" || exit 2
run backup monday
exits 0
says "$scratch/monday"
check "the journal is there" test -d "$scratch/monday/journal"
check "it is for the engine's user alone" equals "$(stat -c %a "$scratch/monday")" 700
run backup monday
exits 1
complains "exists"
run backup /no/such/parent/copy
exits 1
stop_engine

it "an engine starts on the copy and knows what there was"
mv "$scratch/data" "$scratch/lost"
mv "$scratch/monday" "$scratch/data"
start_engine
run get ended-1
exits 0
member status '"Completed"'
stop_engine
exits 0
finish
