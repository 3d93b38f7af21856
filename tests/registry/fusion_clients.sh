#!/usr/bin/env bash
# Existing clients of SandboxFusion against paddockd's own door, unchanged, over TCP: its official
# client, and verl's scoring function. In a suite of its own, because both come from a package registry:
# bash tests/registry/fusion_clients.sh build/release/bin/paddockd
set -euo pipefail

paddockd=$1
work=$(mktemp -d /var/tmp/paddock-work-XXXXXX)
daemon=
clean_up() {
  [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon" || true; }
  rm -rf "$work"
}
trap clean_up EXIT
chmod 755 "$work"

/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q 'sandbox-fusion==0.3.7'
# Of verl one module is needed, and none of what it depends on.
"$work/venv/bin/pip" download -q --no-deps -d "$work" 'verl==0.9.1'
"$work/venv/bin/python" -m zipfile -e "$work"/verl-*.whl "$work/verl-whole"
mkdir "$work/verl"
cp -r "$work/verl-whole/verl/utils/reward_score/sandbox_fusion" "$work/verl/sandbox_fusion_score"

mkdir -m 700 "$work/run"
(umask 077; head -c 24 /dev/urandom | base64 | tr '+/' 'ab' > "$work/token")
cat > "$work/paddockd.toml" <<TOML
[tcp]
listen = "127.0.0.1:0"
token_file = "$work/token"
TOML
"$paddockd" --runtime-dir "$work/run" --state-dir "$work/state" --config "$work/paddockd.toml" 2> "$work/log" &
daemon=$!
for _ in $(seq 100); do
  port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/log")
  [ -z "$port" ] || [ ! -S "$work/run/paddock.sock" ] || break
  kill -0 "$daemon" || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
[ -n "$port" ] || { cat "$work/log" >&2; exit 1; }

# These clients know no tokens: it is the password of the address.
PYTHONPATH="$work/verl" "$work/venv/bin/python" "$(dirname "$0")/fusion_clients.py" \
  "http://any:$(cat "$work/token")@127.0.0.1:$port"
