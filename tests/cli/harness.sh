# harness.sh: sourced by the tests of the command line. $1 is the build directory with the binaries.
#
# A test says `it "claim"` and then makes checks; each failed check is printed with its claim and what the command said. finish
# prints "N checks, M failed" and sets the exit code. Servers listen on a socket below the scratch directory and are stopped by
# their pid; nothing waits by sleeping, only by looking until a deadline.
set -uo pipefail
build=$(cd "$1" && pwd) || exit 2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
strider=$build/strider
scratch=$(mktemp -d "${TMPDIR:-/tmp}/strider-cli-XXXXXX")
url=ipc://$scratch/front.ipc
unset "${!STRIDER_@}"
export STRIDER_CONNECT=$url
export TMPDIR=$scratch # what `strider run` leaves behind is this test's own

checks=0
failed=0
claim=
engine_pid=
modules_pid=
out=
err=
code=0

cleanup() {
    local pid
    for pid in $engine_pid $modules_pid; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$scratch"
}
trap cleanup EXIT

it() {
    claim=$*
    echo "- $claim"
}

fail() {
    failed=$((failed + 1))
    echo "FAILED [$claim] $*"
    [ -n "$out" ] && printf '%s\n' "$out" | head -n 12 | sed 's/^/    out: /'
    [ -n "$err" ] && printf '%s\n' "$err" | head -n 12 | sed 's/^/    err: /'
    return 0
}

# check WHAT COMMAND…: the command succeeds.
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$what"
}

# run ARGUMENT…: runs strider and keeps $out, $err, $code. A sanitizer's report is never what a test wants.
run() {
    "$strider" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
    case $err in *Sanitizer*) fail "sanitizer report" ;; esac
}

is_code() { [ "$code" -eq "$1" ]; }
exits() { check "exit code $1, not $code" is_code "$1"; }
holds() { case $1 in *"$2"*) return 0 ;; esac; return 1; }
says() { check "stdout has: $1" holds "$out" "$1"; }
complains() { check "stderr has: $1" holds "$err" "$1"; }
lacks() { case $1 in *"$2"*) return 1 ;; esac; return 0; }
is_empty() { [ -z "$1" ]; }
is_one_line() { [ "$(printf '%s' "$1" | wc -l)" -eq 0 ] && [ -n "$1" ]; }
equals() { [ "$1" = "$2" ]; }

# field NAME: a member of the JSON object in $out, by strider's own expression engine.
field() { "$strider" eval "$1" --context "$out" 2>/dev/null; }
# member NAME VALUE: it is that (as JSON).
member() {
    local found
    found=$(field "$1")
    check "$1 is $2, not $found" equals "$found" "$2"
}

# await FILE TEXT [SECONDS]: until the file holds the text.
await() {
    local end=$((SECONDS + ${3:-30}))
    until grep -qF -- "$2" "$1" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.02
    done
}

# start_engine ARGUMENT…: in the background, its messages in $scratch/engine.log; returns when it is ready.
start_engine() {
    : >"$scratch/engine.log"
    "$strider" serve --data "$scratch/data" --listen "$url" --admin off --set log.format=json "$@" \
        2>"$scratch/engine.log" </dev/null &
    engine_pid=$!
    await "$scratch/engine.log" "strider: ready" || {
        err=$(cat "$scratch/engine.log")
        fail "the engine does not get ready"
        finish
    }
}

# stop_engine [SIGNAL]: keeps its exit code in $code and what it wrote in $err.
stop_engine() {
    kill "-${1:-TERM}" "$engine_pid"
    wait "$engine_pid" 2>/dev/null
    code=$?
    engine_pid=
    out=
    err=$(cat "$scratch/engine.log")
    case $err in *Sanitizer*) fail "sanitizer report of the engine" ;; esac
}

# start_modules: the example's module server on a free port, which it puts into $port; its lines in $scratch/modules.log.
start_modules() {
    : >"$scratch/modules.log"
    "$build/example-modules" 0 >"$scratch/modules.log" 2>&1 </dev/null &
    modules_pid=$!
    await "$scratch/modules.log" "modules ready on" || fail "the module server does not get ready"
    port=$(sed -n 's/^modules ready on http:\/\/127\.0\.0\.1:\([0-9]*\)$/\1/p' "$scratch/modules.log")
}

# copy_example FOLDER: the order project, its modules on $port.
copy_example() {
    mkdir -p "$1"
    cp "$root/examples/order/order.bpmn" "$root/examples/order/project.json" "$1/"
    sed "s/127\.0\.0\.1:7790/127.0.0.1:$port/" "$root/examples/order/modules.json" >"$1/modules.json"
}

# start_with_admin ARGUMENT…: an engine with an HTTP side on a port of its own, at $admin.
start_with_admin() {
    start_engine --admin http://127.0.0.1:0 "$@"
    admin=http://127.0.0.1:$(sed -n 's/.*"id":"ADMIN-LISTEN".*"port":\([0-9]*\).*/\1/p' "$scratch/engine.log")
}

# browser: the Chromium that is here, or nothing. node: likewise.
browser=$(command -v chromium || command -v chromium-browser || true)
node=$(command -v node || true)

# node_tests FILE [NAME=VALUE…]: tests of node's own runner count as checks; $browser and $admin are told to them.
node_tests() {
    local file=$1 line
    shift
    env BROWSER="$browser" ADMIN="${admin-}" "$@" timeout 300 "$node" --test-reporter=tap "$root/$file" >"$scratch/tap" 2>&1
    code=$?
    while IFS= read -r line; do
        case $line in
        "ok "*) checks=$((checks + 1)) && echo "- ${line#ok * - }" ;;
        "not ok "*) checks=$((checks + 1)) && claim=${line#not ok * - } && out=$(grep -A 30 -F "$line" "$scratch/tap") && err= && fail ;;
        esac
    done <"$scratch/tap"
    claim=$file
    out=$(tail -n 20 "$scratch/tap")
    check "all of it ran" is_code "$([ "$failed" -eq 0 ] && echo 0 || echo "$code")"
}

finish() {
    echo "$checks checks, $failed failed"
    [ "$failed" -eq 0 ] && [ "$checks" -gt 0 ]
    exit
}
