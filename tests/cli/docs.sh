#!/usr/bin/env bash
# The documents against the program: what they name is there, what is there they name, and the commands of the README do what
# it says.
. "$(dirname "$0")/harness.sh" "$1"

docs=$root/docs
pages=("$root"/README.md "$docs"/*.md "$root"/examples/*/README.md)

# verbs: those that strider --help lists.
run --help
verbs=$(awk '/^  [a-z]+  /{print $1}' <<<"$out")

it "the man page tells of every verb"
check "there are verbs" test "$(wc -w <<<"$verbs")" -ge 25
# Lines of verbs begin with .B or .BR, after .TP.
man_verbs=$(sed -n '/^\.SH VERBS/,/^\.SH CONFIGURATION/p' "$root/packaging/strider.1" | grep -E '^\.BR? ' | tr -c 'a-z\n' ' ')
for verb in $verbs; do
    check "man: $verb" grep -qw -- "$verb" <<<"$man_verbs"
done

it "the man page tells of every variable of the environment that a verb's help names"
for name in $(for verb in $verbs; do "$strider" "$verb" --help; done | grep -oE 'STRIDER_[A-Z_]+[A-Z]' | sort -u); do
    check "man: $name" grep -qE "$name|$(sed 's/STRIDER_/STRIDER_ /' <<<"$name")" "$root/packaging/strider.1"
done

it "every option that the documents give a verb is one of it"
# In code: `strider VERB … --option` on one line, up to a pipe or a comment.
options=$(cat "${pages[@]}" "$root/packaging/strider.1" | sed 's/\\-/-/g' |
    grep -oE '(^|[ `/])strider [a-z]+ [^`|#]*' | sed -E 's/.*strider //' |
    awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^\[?--[a-z]/) { o = $i; gsub(/[^a-z-]/, "", o); print $1, o } }' | sort -u)
check "there are options" test "$(wc -l <<<"$options")" -ge 20
while read -r verb option; do
    run "$verb" --help
    check "strider $verb $option" grep -qE -- "$option( |\$)" <<<"$out"
done <<<"$options"

it "every variable of the environment that the documents and packages set is a key's twin"
for name in $(cat "${pages[@]}" "$root"/packaging/* | grep -oE 'STRIDER_[A-Z0-9_]+[A-Z0-9]' | grep -vx 'STRIDER_SECTION_KEY' | sort -u); do
    err=$(env "$name=" "$strider" serve --print-config 2>&1 >/dev/null)
    check "$name" lacks "$err" "no such key"
done

it "docs/configuration.md lists the keys as the program does (tools/dev keys writes it)"
listed=$(sed -n '/^```$/,/^```$/p' "$docs/configuration.md" | grep -v '^```')
check "the same keys" equals "$listed" "$("$strider" serve --keys)"

it "every key that the documents name is one"
keys=$("$strider" serve --keys | awk '{print $1}')
sections=$(sed -n 's/\..*//p' <<<"$keys" | sort -u | paste -sd'|')
for key in $(cat "${pages[@]}" | grep -oE "\`($sections)\.[a-zA-Z0-9]+( = |\`)" | tr -d '` =' | grep -vE '\.(json|h)$' | sort -u); do
    check "$key" grep -qx "$key" <<<"$keys"
done

it "the packaged configuration is one, with its examples switched on, too"
sed 's/^    # file = /    file = /; s/^# \([a-z]* *{\)/\1/' "$root/packaging/strider.conf" >"$scratch/packaged.conf"
run serve --config "$root/packaging/strider.conf" --print-config
exits 0
run serve --config "$scratch/packaged.conf" --print-config
exits 0
says "kind = redis"

it "every log id that the documents name is written somewhere"
for id in $(cat "${pages[@]}" | grep -oE '`[A-Z]+(-[A-Z]+)+`' | tr -d '`' | grep -v '^FRI-MON$' | sort -u); do
    check "$id" grep -rqF --include=*.c "\"$id\"" "$root/actors" "$root/storage" "$root/transport" "$root/audit" "$root/tools"
done

it "docs/protocol.md names every error code and every path of REST"
for name in $(sed -n '/PROTO_ERRORS(X)/,/^$/p' "$root/proto/operation.h" | grep -oE 'X\([A-Z][A-Za-z]+\)' | tr -d 'X()' | sort -u); do
    check "$name" grep -qw "$name" "$docs/protocol.md"
done
paths=$(sed -n '/struct row rows/,/^};/p' "$root/transport/admin/route.c" | grep -oE '"/[^"]*"' | tr -d '"' | sort -u)
check "there are paths" test "$(wc -l <<<"$paths")" -ge 20
while read -r path; do
    case $path in
    # Those of one execution stand in one row, by their ends.
    /v1/executions/\*/*) shown=${path#/v1/executions/\*} ;;
    *) shown=$(sed 's/\*\*/{path}/; s/\*/{id}/' <<<"$path") ;;
    esac
    check "$path" grep -qF -- "$shown" "$docs/protocol.md"
done <<<"$paths"

it "every page of the documents that another links to is there, with the heading"
for page in "${pages[@]}"; do
    for link in $(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^https?:' | sort -u); do
        file=${link%%#*}
        target=$(dirname "$page")/$file
        [ -n "$file" ] || target=$page
        check "$(basename "$page"): $link" test -e "$target"
        case $link in
        *#*)
            slugs=$(grep -E '^#+ ' "$target" | sed -E 's/^#+ //; s/[`(),:.]//g' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-')
            check "$(basename "$page"): #${link#*#}" grep -qx "${link#*#}" <<<"$slugs"
            ;;
        esac
    done
done

start_modules
copy_example "$scratch/project"
start_with_admin --project "$scratch/project" --set bus.kind=amqp --set bus.url=amqp://127.0.0.1:1

it "every series that the documents name is one"
metrics=$(curl -s "$admin/metrics")
for name in $(cat "${pages[@]}" | grep -oE '`strider_[a-z_]+' | tr -d '`' | sort -u); do
    check "$name" grep -qE "^$name[ {]" <<<"$metrics"
done

it "docs/metrics.md lists the series as /metrics tells of them"
listed=$(awk '/^# HELP/ { name = $3; $1 = $2 = $3 = ""; sub(/^ +/, ""); help[name] = $0; next }
    /^# TYPE/ { print "| `" $3 "` | " $4 " | " help[$3] " |" }' <<<"$metrics" | LC_ALL=C sort)
check "the same rows: $(diff <(grep '^| `' "$docs/metrics.md" | LC_ALL=C sort) - <<<"$listed" | head -n 5)" \
    equals "$(grep '^| `' "$docs/metrics.md" | LC_ALL=C sort)" "$listed"

it "the README's first five minutes are as it says"
# Its block of commands, each as written; the engine is this test's.
sed -n '/^and drive it:/,/^All of that/p' "$root/README.md" | sed -n '/^```/,/^```/p' | grep -v '^```' |
    sed "s#http://127\.0\.0\.1:7780#$admin#" >"$scratch/commands"
check "there are commands" test "$(grep -c '^strider ' "$scratch/commands")" -ge 7
cd "$scratch" || exit 2
until_callback() {
    local end=$((SECONDS + 30))
    until run get "$1" && holds "$out" '"kind":"callback"'; do
        [ $SECONDS -lt $end ] || return 1
    done
}
while IFS= read -r line; do
    case $line in
    export*) continue ;;
    sleep*) check "the second try of the charge" until_callback my-order && continue ;;
    esac
    out=$(PATH=$build:$PATH bash -c "$line" 2>"$scratch/err" </dev/null)
    code=$?
    err=$(cat "$scratch/err")
    check "$line" is_code 0
done <"$scratch/commands"
check "the last one tells of executions" holds "$out" strider_executions_completed_total
check "the page is written" test -s "$scratch/my-order.html"
run get my-order
member lifecycle '"Completed"'

it "the series count what was done"
metrics=$(curl -s "$admin/metrics")
# amount SERIES: the sum over its labels.
amount() { awk -v name="$1" 'index($0, name " ") == 1 || index($0, name "{") == 1 { sum += $NF } END { print sum + 0 }' <<<"$metrics"; }
for pair in executions_started_total=1 executions_completed_total=1 executions_failed_total=0 executions_aborted_total=0 \
    executions_waiting=0 executions_live=0 executions_damaged=0 deploys_total=1 deploys_refused_total=0 requests_timed_out_total=0 \
    requests_repeated_total=0 requests_pending=0 module_calls_total=5 front_pending=0 journal_full=0 journal_failed=0 bus_connected=0 \
    audit_failing=0 state_failing=0 blobs_failing=0; do
    check "strider_$pair, not $(amount "strider_${pair%=*}")" equals "$(amount "strider_${pair%=*}")" "${pair#*=}"
done
run get my-order --include map
steps=$(field 'count(executionMap)')
check "$steps steps, not $(amount strider_steps_total)" equals "$(amount strider_steps_total)" "$steps"
run stats
member completed 1
member steps "$steps"
stop_engine TERM
exits 0

it "the examples' commands without an engine do what they are there for"
cd "$root" || exit 2
for line in 'strider validate examples/discount' 'strider test examples/discount/tests/quote.json'; do
    check "the README of the example has it" grep -qF "$line" examples/discount/README.md
    out=$(PATH=$build:$PATH bash -c "$line" 2>&1)
    code=$?
    exits 0
done
while IFS= read -r line; do
    out=$(PATH=$build:$PATH bash -c "$line" 2>&1)
    code=$?
    check "$line" is_code 0
done < <(grep -hE '^( {4})?strider (eval|run) ' docs/expressions.md examples/discount/README.md | sed 's/^ *//')

finish
