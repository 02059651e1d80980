#!/usr/bin/env bash
# tools/count-tests: what it counts, and that it notices what no test runner does.
. "$(dirname "$0")/harness.sh" "$1"

# verdict LOG-TEXT…: counts a log of the given lines.
verdict() {
    printf '%s\n' "$@" >"$scratch/log"
    out=$("$root/tools/count-tests" "$scratch/log" 2>&1)
    code=$?
    err=
}
last() { check "last line is: $1" equals "$(printf '%s\n' "$out" | tail -n 1)" "$1"; }

it "adds the cases of all programs up"
verdict '1: [====] Synthesis: Tested: 7 | Passing: 7 | Failing: 0 | Crashing: 0 ' \
    '1/4 Test #1: proto-base-arena ........   Passed    0.10 sec' \
    '2: - one' '2: - two' '2: 12 checks, 0 failed' '2/4 Test #2: layers ........   Passed    0.10 sec' \
    '3: ok 1 - a' '3: ok 2 - b # SKIP no case' '3/4 Test #3: scenarios ...   Passed    0.10 sec' \
    ' 4/4 Test #4: silent ...   Passed    0.10 sec'
last "11 passed, 0 failed, 1 skipped"
exits 0

it "keeps interleaved programs apart"
verdict '1: 5 checks, 0 failed' '2: - x' '2: FAILED a.c:7 [x] no' '2: - y' '1: - z' '2: FAILED a.c:9 [x] no' '2: 3 checks, 2 failed' '2/2 Test #2: b ...***Failed  0.10 sec' \
    '1/2 Test #1: a ...   Passed    0.10 sec'
last "2 passed, 1 failed"
exits 1

it "counts failing and crashing cases of Criterion"
verdict '1: [====] Synthesis: Tested: 4 | Passing: 1 | Failing: 2 | Crashing: 1 ' '1/1 Test #1: a ...***Failed  0.10 sec'
last "1 passed, 3 failed"
exits 1

it "fails on a leak that the test runner did not see"
verdict '1: ==1==ERROR: LeakSanitizer: detected memory leaks' \
    '1: [====] Synthesis: Tested: 4 | Passing: 4 | Failing: 0 | Crashing: 0 ' '1/1 Test #1: a ...   Passed    0.10 sec'
last "3 passed, 1 failed"
exits 1

it "fails on a race that the program survived"
verdict '1: WARNING: ThreadSanitizer: data race (pid=1)' '1: - a' '1: - b' '1: - c' '1: - d' '1: 4 checks, 0 failed' '1/1 Test #1: a ...   Passed    0.10 sec'
last "3 passed, 1 failed"
exits 1

it "fails when a program ran no case"
verdict '1: [====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0 ' '1/1 Test #1: a ...   Passed    0.10 sec'
last "0 passed, 1 failed"
exits 1

it "fails when a program ended badly although its cases passed"
verdict '1: - a' '1: - b' '1: - c' '1: - d' '1: 4 checks, 0 failed' '1/2 Test #1: a ...***Exception: SegFault  0.10 sec' '2/2 Test #2: b ...***Timeout  0.10 sec'
last "4 passed, 2 failed"
exits 1

it "fails when a program checked nothing"
verdict '1: - a' '1: 0 checks, 0 failed' '1/1 Test #1: a ...   Passed    0.10 sec'
last "0 passed, 1 failed"

it "tells what failed in the program's words, or its last ones"
verdict '1: - a' '1: FAILED a.c:7 [a] b == c' '2: - b' '2: almost done' '1: 2 checks, 1 failed' \
    '1/2 Test #1: one ...***Failed  0.10 sec' '2/2 Test #2: two ...***Timeout  600.00 sec'
says "    FAILED a.c:7 [a] b == c"
says "    timeout"
says "    almost done"
last "0 passed, 2 failed"

it "fails when no test ran at all"
verdict 'No tests were found!!!'
exits 1
check "0 passed" holds "$out" "0 passed, "

finish
