#!/usr/bin/env bash
# doctor.sh DIR: a control that is there by its name and does not hold. The receipt sees a filter, and the
# filter lets everything pass: only the probes notice. The doctor must say so, and the daemon must refuse.
set -euo pipefail
bin=$1
work=$(mktemp -d /var/tmp/paddock-doctor-XXXXXX)
daemon=
cleanup() {
  [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null; wait "$daemon"; } || true
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $1"
  exit 1
}
expect() { grep -q -- "$2" <<<"$1" || fail "no '$2' in: $1"; }
doctor() { "$bin/paddock" --embedded --cgroup-base none doctor "$@" || [ $? -eq 3 ]; }

whole=$(doctor)
grep -q 'got through' <<<"$whole" && fail "a probe got through although nothing is broken: $whole"

broken=$(PADDOCK_BREAK=seccomp_empty doctor)
expect "$broken" 'STRICT .*no: .*does not hold here, by its probe .vsock_is_refused. (seccomp): done'
expect "$broken" 'got through: .*keyring_is_refused.*int80_is_fatal'
expect "$(PADDOCK_BREAK=survivors doctor)" 'got through: nothing_outlives_the_run'
expect "$(PADDOCK_BREAK=wall_clock doctor)" 'got through: wall_seconds_holds'

PADDOCK_BREAK=seccomp_empty "$bin/paddockd" --runtime-dir "$work/run" --state-dir "$work/state" \
  --cgroup-base none 2>"$work/log" &
daemon=$!
client() { "$bin/paddock" --socket "$work/run/paddock.sock" "$@"; }
for _ in $(seq 100); do client ps >"$work/ps" 2>&1 && break || sleep 0.1; done
code=0
client run --profile STRICT --allow-degraded -- true 2>"$work/error" || code=$?
[ "$code" -eq 3 ] || fail "the command ends with $code, not 3: $(cat "$work/error")"
expect "$(cat "$work/error")" 'by its probe .vsock_is_refused.'
expect "$(cat "$work/log")" "refusing every run: profile 'STRICT' does not hold here"
echo "the probes noticed each broken control"
