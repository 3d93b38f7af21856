#!/usr/bin/env bash
# run.sh SECONDS [TARGET...]: builds the fuzz targets, and nothing else, and runs each for SECONDS on
# its corpus, three times as many at a time as there are processors. Prints executions and coverage per
# target. Fails on any finding; the input that led to it is then in build/fuzz/findings. With 0 seconds
# it builds them and runs none.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET...]}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi
input_bytes_max=4096
memory_mib_max=2048
seconds_per_input_max=10

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)" --target "${targets[@]/%/_fuzz}" -- --quiet
[ "$seconds" -gt 0 ] || exit 0
work=build/fuzz/work
findings=build/fuzz/findings
rm -rf "$work"
mkdir -p "$work" "$findings"

# New inputs stay in the build directory; what is worth keeping comes into git by hand (-merge=1).
run_target() {
  mkdir -p "$work/$1" "tests/fuzz/corpus/$1"
  build/fuzz/bin/fuzz/"$1"_fuzz -max_total_time="$seconds" -max_len="$input_bytes_max" \
    -rss_limit_mb="$memory_mib_max" -timeout="$seconds_per_input_max" -print_final_stats=1 \
    -artifact_prefix="$findings/$1-" "$work/$1" "tests/fuzz/corpus/$1" >"$work/$1.log" 2>&1
}

summary() {
  local log="$work/$1.log"
  printf '%-16s %10s executions  %6s edges  %s inputs\n' "$1" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)" \
    "$(sed -n 's/.* corp: \([0-9]*\)[ /].*/\1/p' "$log" | tail -1)"
}

status=0
at_once=$((3 * $(nproc)))
for ((first = 0; first < ${#targets[@]}; first += at_once)); do
  pids=()
  together=("${targets[@]:first:at_once}")
  for target in "${together[@]}"; do
    run_target "$target" &
    pids+=($!)
  done
  for index in "${!together[@]}"; do
    if wait "${pids[index]}"; then
      summary "${together[index]}"
    else
      status=1
      echo "${together[index]}: a finding" >&2
      tail -60 "$work/${together[index]}.log" >&2
    fi
  done
done
exit "$status"
