#!/usr/bin/env bash
# The package in trainer/ under the trainers that it is for, as their registry has them, each with
# verdicts from a real daemon: bash tests/registry/trainers.sh build/release/bin [trl|verl|verifiers]...
# Downloads some GiB (torch). A trainer that does not install is SKIPPED: exit status 77, unless
# another one fails.
set -euo pipefail

bin=$(realpath "$1")
shift
here=$(realpath "$(dirname "$0")")
[ $# -gt 0 ] || set -- trl verl verifiers
work=$(mktemp -d /var/tmp/paddock-trainers-XXXXXX)
daemon=
end() {
  [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null && wait "$daemon"; } || true
  rm -rf "$work"
}
trap end EXIT
export HOME=$work TMPDIR=$work RAY_AUTH_MODE=disabled HF_HUB_OFFLINE=1 TRL_EXPERIMENTAL_SILENCE=1 RAY_DEDUP_LOGS=0
export PYTHONPATH=$here/../../trainer/src
# $PADDOCK_TRAINER_VENV: use this environment instead of making one, for whoever runs this often.
venv=${PADDOCK_TRAINER_VENV:-$work/venv}

"$bin/paddockd" --runtime-dir "$work/run" --state-dir "$work/state" >"$work/log" 2>&1 &
daemon=$!
for _ in $(seq 100); do
  [ -S "$work/run/trainer.sock" ] && break
  kill -0 "$daemon" || { cat "$work/log"; exit 1; }
  sleep 0.2
done

install_into() {  # DIRECTORY PACKAGE...
  local into=$1
  shift
  [ -x "$into/bin/pip" ] || /usr/bin/python3 -m venv "$into"
  "$into/bin/pip" install -q --no-cache-dir "$@" >"$work/pip" 2>&1 || { tail -3 "$work/pip"; return 1; }
}

prepare() {
  case $1 in
    trl) install_into "$venv" 'trl==1.16.0' torch ;;
    # Its own dependencies include a GPU's inference servers; these are those of its reward loop.
    verl)
      install_into "$venv" 'trl==1.16.0' torch &&
        install_into "$venv" --no-deps 'verl==0.9.1' &&
        install_into "$venv" 'tensordict<=0.10.0' torchdata ray omegaconf hydra-core codetiming aiohttp
      ;;
    verifiers) install_into "$venv-verifiers" 'verifiers==0.4.0' &&
      install_into "$venv-legacy" 'verifiers==0.1.5' ;;
    *) echo "trl, verl or verifiers, not $1" >&2; exit 2 ;;
  esac
}

# RFC 0014: the same through TRL. The treatment survives hostile samples and is not paid for them.
benchmark_through_trl() {
  (cd "$here/../../trainer" && for backend in in_loop paddock; do
    "$venv/bin/python" -m benchmark run --trainer trl --backend "$backend" --bin "$bin" --max-steps 6 \
      --output-dir "$work/trl-$backend" || exit 1
  done
  "$venv/bin/python" -m benchmark run --trainer trl --backend paddock --bin "$bin" --max-steps 6 \
    --adversarial-fraction 0.1 --output-dir "$work/trl-hostile") &&
    python3 "$here/trainer_trl_benchmark.py" "$work"
}

try() {
  local python=$venv/bin/python
  if [ "$1" = verifiers ]; then
    "$venv-verifiers/bin/python" "$here/trainer_verifiers.py" "$work/run/trainer.sock" &&
      "$venv-legacy/bin/python" "$here/trainer_verifiers_legacy.py" "$work/run/trainer.sock"
  else
    "$python" "$here/trainer_$1.py" "$work/run/trainer.sock" "$work" &&
      { [ "$1" != trl ] || benchmark_through_trl; }
  fi
}

status=0
for trainer in "$@"; do
  if ! prepare "$trainer"; then
    echo "SKIPPED: $trainer did not install"
    [ $status -ne 0 ] || status=77
  elif try "$trainer" >"$work/out" 2>&1; then
    grep ' passed, 0 failed$' "$work/out"
  else
    tail -40 "$work/out"
    echo "FAILED: $trainer"
    status=1
  fi
done
exit $status
