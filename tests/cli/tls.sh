#!/usr/bin/env bash
# Listeners over TLS and websockets: whom they let in, what is said to whom they do not, and certificates that are no good.
. "$(dirname "$0")/harness.sh" "$1"
certs=$scratch/certs
mkdir -m 700 "$certs"

# authority NAME: one that signs. certificate NAME AUTHORITY HOST [DAYS]: NAME.pem with certificate and key.
make_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$certs/$1.key"; }
authority() {
    make_key "$1"
    openssl req -x509 -new -key "$certs/$1.key" -subj "/CN=$1" -days 2 -out "$certs/$1.crt" 2>/dev/null
}
certificate() {
    local name=$1 by=$2 host=$3 days=${4:-2}
    make_key "$name"
    openssl req -new -key "$certs/$name.key" -subj "/CN=$host" -out "$certs/$name.csr" 2>/dev/null
    printf 'subjectAltName=DNS:%s\n' "$host" >"$certs/extensions"
    openssl x509 -req -in "$certs/$name.csr" -CA "$certs/$by.crt" -CAkey "$certs/$by.key" -CAcreateserial -days "$days" \
        -extfile "$certs/extensions" -out "$certs/$name.crt" 2>/dev/null
    cat "$certs/$name.crt" "$certs/$name.key" >"$certs/$name.pem"
}
authority ours
authority theirs
certificate server ours localhost
certificate elsewhere ours elsewhere.example
certificate gateway ours gateway
certificate stranger theirs gateway
check "openssl made them" openssl verify -CAfile "$certs/ours.crt" "$certs/server.crt" "$certs/gateway.crt"

# free_port: one that nobody listens on just now, into $free.
free_port() {
    until free=$((20000 + RANDOM % 12000)) && ! (: <"/dev/tcp/127.0.0.1/$free") 2>/dev/null; do :; done
}
# start_tls SCHEME PATH ARGUMENT…: an engine on a port of its own over TLS and over IPC, at $tls by its name.
start_tls() {
    local scheme=$1 path=$2
    shift 2
    free_port
    tls=$scheme://localhost:$free$path
    start_engine --listen "$tls" --set "front.tlsCertificate=$certs/server.pem" "$@"
}
over_tls() { run ping --timeout 30s --connect "$tls" "$@"; }

for scheme in tls+tcp wss; do
    case $scheme in wss) path=/strider ;; *) path= ;; esac
    start_tls $scheme "$path"

    it "$scheme: whoever trusts its authority is answered"
    over_tls --tls-authorities "$certs/ours.crt"
    exits 0
    member ok true
    STRIDER_TLS_AUTHORITIES=$certs/ours.crt over_tls
    exits 0

    it "$scheme: whoever trusts another one says so at once, and another name is not the engine's"
    over_tls --tls-authorities "$certs/theirs.crt"
    exits 1
    complains "$tls: the TLS handshake fails"
    over_tls # the system's authorities know nothing of ours
    exits 1
    tls=${tls/localhost/127.0.0.1} over_tls --tls-authorities "$certs/ours.crt"
    exits 1
    complains "the TLS handshake fails"

    it "$scheme: a plain client gets no answer, and nobody else suffers"
    run ping --timeout 300ms --connect "tcp://127.0.0.1:$free"
    exits 1
    printf 'GET / HTTP/1.1\r\n\r\n' >"/dev/tcp/127.0.0.1/$free"
    over_tls --tls-authorities "$certs/ours.crt"
    exits 0

    it "$scheme: four hundred that begin a handshake and stop keep nobody out"
    half_open() {
        local i descriptors=()
        for i in {1..400}; do
            exec {descriptors[i]}<>"/dev/tcp/127.0.0.1/$free" || return 1
            [ $((i % 2)) -eq 0 ] || printf '\x16\x03\x01\x02' >&"${descriptors[i]}"
        done
        over_tls --tls-authorities "$certs/ours.crt"
        exits 0
        for i in {1..400}; do
            exec {descriptors[i]}>&-
        done
    }
    check "they connect" half_open
    over_tls --tls-authorities "$certs/ours.crt"
    exits 0

    it "$scheme: nothing older than TLS 1.2 is spoken"
    old_tls() {
        openssl s_client -connect "localhost:$free" -CAfile "$certs/ours.crt" -cipher 'DEFAULT@SECLEVEL=0' "$@" </dev/null \
            >"$scratch/out" 2>&1 && # (no pipe: grep -q could end openssl before its time, which is a failure)
            grep -q '^ *Verify return code: 0 (ok)' "$scratch/out"
    }
    check "1.2 works" old_tls -tls1_2
    check "1.1 does not" eval '! old_tls -tls1_1'
    stop_engine TERM
    exits 0

    it "$scheme: with front.tlsAuthorities only who shows a certificate of theirs is let in"
    start_tls $scheme "$path" --set "front.tlsAuthorities=$certs/ours.crt"
    over_tls --tls-authorities "$certs/ours.crt" --tls-certificate "$certs/gateway.pem"
    exits 0
    over_tls --tls-authorities "$certs/ours.crt"
    exits 1
    complains "the TLS handshake fails"
    over_tls --tls-authorities "$certs/ours.crt" --tls-certificate "$certs/stranger.pem"
    exits 1
    for _ in {1..10}; do # (NNG ends the process when a websocket is closed while its try to connect fails)
        over_tls --tls-authorities "$certs/ours.crt"
        exits 1
    done
    run ping
    exits 0
    stop_engine TERM
    exits 0
done

it "the inspector and REST over https"
start_engine --admin https://127.0.0.1:0 --set "admin.tlsCertificate=$certs/server.pem"
port=$(sed -n 's/.*"id":"ADMIN-LISTEN".*"port":\([0-9]*\).*/\1/p' "$scratch/engine.log")
out=$(curl -s --cacert "$certs/ours.crt" "https://localhost:$port/v1/ping")
member ok true
curl -s --cacert "$certs/theirs.crt" "https://localhost:$port/healthz"
check "another authority is not enough" test $? -eq 60
curl -s "http://localhost:$port/healthz" >/dev/null
check "no plain HTTP there" test $? -ne 0
out=$(curl -s --cacert "$certs/ours.crt" "https://localhost:$port/healthz")
member ok true
stop_engine TERM
exits 0

it "a certificate that is no good is refused at start, by its key and file"
cat "$certs/server.crt" "$certs/gateway.key" >"$certs/mixed.pem"
openssl ec -in "$certs/server.key" -aes128 -passout pass:secret -out "$certs/locked.key" 2>/dev/null
cat "$certs/server.crt" "$certs/locked.key" >"$certs/locked.pem"
cp "$certs/server.pem" "$certs/garbled.pem" && sed -i '2s/./!/g' "$certs/garbled.pem"
mkfifo "$certs/pipe.pem"
refused_for() {
    run serve --data "$scratch/other" --listen tls+tcp://127.0.0.1:0 --admin off --set "$1=$2"
    exits 2
    complains "strider serve: $1: $2: $3"
    check "one line" is_one_line "$err"
}
refused_for front.tlsCertificate /no/such.pem "No such file or directory"
refused_for front.tlsCertificate "$certs" "not a file"
refused_for front.tlsCertificate "$certs/pipe.pem" "not a file"
refused_for front.tlsCertificate "$certs/server.key" "no certificate in it"
refused_for front.tlsCertificate "$certs/garbled.pem" "no certificate in it"
refused_for front.tlsCertificate "$certs/server.crt" "no private key in it"
refused_for front.tlsCertificate "$certs/locked.pem" "no private key in it that is readable without a passphrase"
refused_for front.tlsCertificate "$certs/mixed.pem" "its private key belongs to another certificate"
refused_for front.tlsAuthorities "$certs/server.key" "no certificate in it"
refused_for admin.tlsCertificate /no/such.pem "No such file or directory"
check "nothing was made" test ! -e "$scratch/other/journal"
run serve --data "$scratch/other" --listen wss://127.0.0.1:0/x --admin off
exits 1
complains "wss://127.0.0.1:0/x needs a certificate: set front.tlsCertificate"
run serve --data "$scratch/other" --listen "$url" --admin https://127.0.0.1:0
exits 1
complains "https://127.0.0.1:0 needs a certificate: set admin.tlsCertificate"
run ping --connect tls+tcp://localhost:1 --tls-authorities "$certs/server.key"
exits 2
complains "$certs/server.key: no certificate in it"

it "an expired certificate is taken, and said to be one"
certificate expired ours localhost -1
free_port
start_engine --listen "tls+tcp://localhost:$free" --set "front.tlsCertificate=$certs/expired.pem"
stop_engine TERM
complains TLS-CERTIFICATE-EXPIRED

it "a page in a browser cannot speak to the engine over a websocket, a gateway can"
free_port
tls=ws://127.0.0.1:$free/strider
start_engine --listen "$tls"
over_tls
exits 0
# upgrade [HEADER]: what a websocket client asks, and what of the answer comes; true while the connection stays open.
upgrade() {
    local line socket
    exec {socket}<>"/dev/tcp/127.0.0.1/$free"
    printf 'GET /strider HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' "$free" >&"$socket"
    printf 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: rep.sp.nanomsg.org\r\n%s\r\n' "${1-}" >&"$socket"
    # A request: a masked binary frame (mask 0) with NNG's four bytes of request id and {"op":"ping"}.
    printf '\x82\x91\0\0\0\0\x80\0\0\1{"op":"ping"}' >&"$socket"
    out=
    while IFS= read -r -t 10 -N 1 line <&"$socket"; do
        out=$out$line
        case $out in *'"ok":true'* | *'"ok":false'*) break ;; esac
    done
    exec {socket}>&-
}
upgrade
says '101 Switching Protocols'
says '"ok":true'
upgrade $'Origin: http://evil.example\r\n'
check "nothing is answered" lacks "$out" '"ok"'
stop_engine TERM
exits 0

it "with a token asked for, a page needs it as everybody does"
start_engine --listen "$tls" --set auth.tokens=sesame
upgrade $'Origin: http://evil.example\r\n'
says '"ok":false'
over_tls --token sesame
exits 0
stop_engine TERM
exits 0

finish
