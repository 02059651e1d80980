# check.awk: reads the rules file first (FNR == NR), then C sources, and prints one line for every rule that one of them breaks:
#   FILE:LINE: what
# and at its end "N checks, M failed". -v root=DIR is cut from the paths. Paths must then begin with the folder's name.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

function broken(text) { printf "%s:%d: %s\n", path, FNR, text; failures++ }

# Does `name` match one of the space-separated patterns? A prefix, "*", or "X/*.h" for headers directly in X.
function matches(name, patterns,    list, count, i, rest) {
    count = split(patterns, list, " ")
    for (i = 1; i <= count; i++) {
        if (list[i] == "*") return 1
        if (list[i] ~ /\/\*\.h$/) {
            rest = list[i]; sub(/\*\.h$/, "", rest)
            if (index(name, rest) == 1 && substr(name, length(rest) + 1) ~ /^[^\/]+\.h$/) return 1
        } else if (index(name, list[i]) == 1) return 1
    }
    return 0
}

# The rule of the longest folder that the path lies in.
function folder_of(path,    folder) {
    folder = path
    while (sub(/\/[^\/]*$/, "", folder)) if (folder in project) return folder
    return ""
}

function is_library(name) {
    return name ~ /^(nng\/|curl\/|msgpack|ev\.h|ck_|expat|bid_|sqlite3|lmdb|openssl\/|hiredis|criterion\/|jansson|proton\/|sql|sanitizer\/|ucl)/
}

function check_include(line,    name) {
    checks++
    if (match(line, /"[^"]+"/)) {
        name = substr(line, RSTART + 1, RLENGTH - 2)
        if (name !~ /\//) broken("\"" name "\" is no full path from the root")
        else if (!matches(name, project[folder])) broken(folder "/ must not include \"" name "\"")
        if (!is_test) included_by[name] = path ":" FNR
        return
    }
    if (!match(line, /<[^>]+>/)) return
    name = substr(line, RSTART + 1, RLENGTH - 2)
    if (name ~ /^criterion\// && path ~ /\.h$/) { helpers[path] = 1; return } # a helper of unit tests: see END
    if (name == "assert.h") broken("<assert.h> is banned: proto/base/assert.h")
    else if (is_test && (is_library(name) ? name ~ /^(criterion|openssl|sanitizer)\// : 1)) return
    else if (is_library(name)) { if (!matches(name, libraries[folder])) broken(folder "/ must not include <" name ">") }
    else if (system_rule[folder] == "pure" && name !~ pure) broken(folder "/ is pure and must not include <" name ">")
    else if (system_rule[folder] == "plain" && name ~ /^(sys\/socket|netinet|netdb|arpa|sys\/un)/) broken(folder "/ must not include <" name ">")
}

# The line without comments, strings and characters; keeps track of comments over several lines.
function code_of(line,    out, c, next_two, quote) {
    out = ""
    while (line != "") {
        next_two = substr(line, 1, 2); c = substr(line, 1, 1)
        if (in_comment) {
            if (next_two == "*/") { in_comment = 0; line = substr(line, 3) } else line = substr(line, 2)
        } else if (next_two == "/*") { in_comment = 1; line = substr(line, 3); out = out " " }
        else if (next_two == "//") return out
        else if (c == "\"" || c == "'") {
            quote = c; line = substr(line, 2)
            while (line != "" && substr(line, 1, 1) != quote) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2); out = out quote quote
        } else { out = out c; line = substr(line, 2) }
    }
    return out
}

# One banned name used as a function. Members (x.time, x->time) are no calls of it.
function check_banned(code,    rest, name, before) {
    rest = code
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ ]*\(/)) {
        name = substr(rest, RSTART, RLENGTH - 1); sub(/ +$/, "", name)
        before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
        if (name in banned && before != "." && before != ">" && !(is_test && name == "exit")) broken(name "() is banned: " banned[name])
        if (name ~ /^(sleep|usleep|nanosleep)$/ && path ~ /_test\.c$/) broken(name "() in a test")
        rest = substr(rest, RSTART + RLENGTH)
    }
}

BEGIN {
    pure = "^(stdbool|stddef|stdint|stdarg|stdalign|stdio|stdlib|string|strings|limits|float|math|inttypes|ctype|errno)\\.h$"
    banned["strcpy"] = banned["strcat"] = banned["sprintf"] = "snprintf or a span"
    banned["strtok"] = "strcspn"
    banned["atoi"] = "strtol, checked"
    banned["rand"] = "getrandom, or the seed of the run"
    banned["time"] = "clock_gettime at the edge, input->now_ms inside"
    banned["exit"] = "return from main"
}

FNR == NR {
    if ($0 ~ /^[ \t]*(#|$)/) next
    split($0, cells, "|")
    name = trim(cells[1])
    project[name] = trim(cells[2]); libraries[name] = trim(cells[3]); system_rule[name] = trim(cells[4])
    rules++
    next
}

FNR == 1 {
    path = FILENAME
    if (root != "") sub("^" root "/*", "", path)
    folder = folder_of(path)
    is_test = path ~ /_test\.c$/ || path ~ /^tests\//
    in_comment = 0
    files++; checks++
    if (folder == "") broken("no rule for this folder")
}

/^[ \t]*#[ \t]*include/ && folder != "" { check_include($0) }

{ code = code_of($0); if (code !~ /^[ \t]*#/ && folder != "examples") check_banned(code) }

END {
    for (name in helpers) if (name in included_by) {
        printf "%s: must not include the test helper \"%s\"\n", included_by[name], name
        failures++
    }
    if (rules == 0 || files == 0) { print "layers: nothing was checked"; failures++ }
    printf "%d checks, %d failed\n", checks, failures
    exit failures > 0
}
