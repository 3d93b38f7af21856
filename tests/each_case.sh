#!/usr/bin/env bash
# Runs each case of a Catch2 suite in a process of its own, JOBS at a time, and prints what the failed
# ones said and what the host does not support:
#
#   tests/each_case.sh SUITE JOBS
set -euo pipefail
suite=$(realpath "$1")
jobs=$2

run_case() {
  local output
  if output=$("$1" "$2" 2>&1); then
    grep '^UNSUPPORTED' <<<"$output" | sort -u || true
  else
    printf 'FAILED: %s\n%s\n' "$2" "$output"
    return 1
  fi
}
export -f run_case

# "," and "[" are Catch2's own in the name of a case. It ends with the number of cases.
names=$("$suite" --list-test-names-only | sed 's/[][,\\]/\\&/g') || true
[ -n "$names" ] || { echo "$suite has no cases" >&2; exit 1; }
xargs -d '\n' -P "$jobs" -I CASE bash -c 'run_case "$0" "$1"' "$suite" CASE <<<"$names"
printf '%s: %s cases passed\n' "$(basename "$suite")" "$(wc -l <<<"$names")"
