# count-tests.awk: see tools/count-tests. Each line of a program's output begins with "ID: "; ctest's own lines end a program:
#   " 3/40 Test  #7: proto-base-arena ....   Passed    0.10 sec"

function number_after(text, word,    rest) {
    if (!match(text, word "[ :]*[0-9]+")) return 0
    rest = substr(text, RSTART + length(word), RLENGTH - length(word))
    gsub(/[^0-9]/, "", rest)
    return rest + 0
}

function blame(name, what) { printf "FAILED %s: %s\n", name, what }

# What a program said of its failures, or with a crash and the like its last words: whoever sees only this output sees why.
function keep_words(key, line) {
    last[key, ++lines[key]] = line
    delete last[key, lines[key] - WORDS]
    if (line ~ /FAILED|^not ok |^\[----\]|Sanitizer|runtime error: |assert/) quote[key] = WORDS
    if (quote[key]-- > 0 && quoted[key] < 3 * WORDS) why[key, ++quoted[key]] = line
}

function tell_words(key,    i) {
    for (i = 1; i <= quoted[key]; i++) print "    " why[key, i]
    for (i = lines[key] - WORDS + 1; quoted[key] == 0 && i <= lines[key]; i++) if (i > 0) print "    " last[key, i]
}

# A plain program made checks (thousands, in loops): what counts is the cases it named ("- name" lines), or the program itself.
function count_cases(key,    all) {
    all = cases[key] > 0 ? cases[key] : 1
    if (bad_checks[key] > 0 && bad_cases[key] == 0) bad_cases[key] = 1
    failed[key] += bad_cases[key]
    passed[key] += all > bad_cases[key] ? all - bad_cases[key] : 0
}

# One program has ended: adds up what it said.
function finish(id, name, verdict,    p, f, s, key) {
    key = FILENAME SUBSEP id
    if (checks[key] > 0) count_cases(key)
    p = passed[key]; f = failed[key]; s = skipped[key]
    if (!(key in told)) {
        if (verdict == "Passed") p = 1
        else if (verdict ~ /Skipped|Not Run/) s = 1
        else f = 1
    } else if (p + f + s == 0) {
        blame(name, "it ran no test case"); f = 1
    }
    if (verdict !~ /Passed|Skipped/ && f == 0) { blame(name, verdict); f = 1 }
    else if (f > 0) blame(name, f " of " (p + f))
    if (reports[key] > 0) {
        blame(name, reports[key] " sanitizer report(s), see " FILENAME)
        if (f == 0) { f = 1; if (p > 0) p-- }
    }
    if (f > 0) {
        if (verdict != "Failed") print "    " verdict
        tell_words(key)
    }
    total_passed += p; total_failed += f; total_skipped += s
    programs[FILENAME]++
}

BEGIN { WORDS = 8 }

FNR == 1 { logs++; order[logs] = FILENAME; programs[FILENAME] += 0 }

/^[0-9]+: / {
    id = $1; sub(/:$/, "", id)
    key = FILENAME SUBSEP id
    line = $0; sub(/^[0-9]+: /, "", line)
    keep_words(key, line)
    if (line ~ /Synthesis: Tested: [0-9]+/) {
        told[key] = 1
        passed[key] += number_after(line, "Passing")
        failed[key] += number_after(line, "Failing") + number_after(line, "Crashing")
    } else if (line ~ /^[0-9]+ checks, [0-9]+ failed(, [0-9]+ skipped)?$/) {
        told[key] = 1
        split(line, word, /[ ,]+/)
        checks[key] += word[1]; bad_checks[key] += word[3]; skipped[key] += word[5]
    } else if (line ~ /^- /) {
        cases[key]++
    } else if (match(line, /^FAILED [^[]*\[[^]]*\]/)) {
        case_name = substr(line, RSTART, RLENGTH); sub(/^[^[]*/, "", case_name)
        if (!((key, case_name) in seen)) { seen[key, case_name] = 1; bad_cases[key]++ }
    } else if (line ~ /^ok [0-9]+/) {
        told[key] = 1
        if (line ~ /# *(SKIP|skip)/) skipped[key]++; else passed[key]++
    } else if (line ~ /^not ok [0-9]+/) {
        told[key] = 1; failed[key]++
    } else if (line ~ /\[SKIP\]/) {
        skipped[key]++
    }
    if (line ~ /(ERROR|WARNING): (Leak|Address|Thread|Memory)Sanitizer|runtime error: /) reports[key]++
    next
}

/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    id = $0; sub(/^ *[0-9]+\/[0-9]+ Test +#/, "", id); sub(/:.*/, "", id)
    name = $0; sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", name); sub(/[ .*].*/, "", name)
    verdict = "Failed"
    if ($0 ~ /   Passed /) verdict = "Passed"
    else if ($0 ~ /\*\*\*Skipped/) verdict = "Skipped"
    else if ($0 ~ /\*\*\*Timeout/) verdict = "timeout"
    else if ($0 ~ /\*\*\*Exception/) verdict = "crash"
    else if ($0 ~ /\*\*\*Not Run/) verdict = "not run"
    finish(id, name, verdict)
}

END {
    for (i = 1; i <= logs; i++) {
        if (programs[order[i]] == 0) { blame(order[i], "no test ran"); total_failed++ }
    }
    if (logs == 0 || total_passed + total_failed == 0) { blame("everything", "no test ran"); total_failed++ }
    printf "%d passed, %d failed", total_passed, total_failed
    if (total_skipped > 0) printf ", %d skipped", total_skipped
    printf "\n"
    exit total_failed > 0
}
