#!/usr/bin/env bash
# `strider bench`: one line of JSON a workload, with the ceiling of the same run. What it measures is no test's business.
. "$(dirname "$0")/harness.sh" "$1"
export STRIDER_CONNECT=

for workload in core startend modules waitresume; do
    it "$workload prints its figures beside its ceiling"
    run bench "$workload" --seconds 0.5 --rounds 1 --in-flight 4 --data "$scratch" --json
    exits 0
    check "one line" is_one_line "$out"
    member workload "\"$workload\""
    for name in throughput p50Us p99Us p999Us peakRssBytes ratio ceiling.throughput; do
        member "$name > 0" true
    done
    member 'ceiling.what != null' true
done

it "a run with something off says so in its line"
run bench startend --seconds 0.5 --rounds 1 --in-flight 4 --durability off --audit off --step-blobs waits --data "$scratch" --json
exits 0
member settings.durability '"off"'
member settings.audit false
member settings.stepBlobs '"waits"'
member settings.shippedDefaults false

it "an unknown workload or option is a usage error"
run bench sprint
exits 2
complains 'strider bench: no workload "sprint"'
run bench core --seconds never
exits 2
complains '--seconds takes'
check "nothing is left behind" is_empty "$(find "$scratch" -mindepth 1 -maxdepth 1 -name 'strider-*')"

finish
