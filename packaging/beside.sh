# Sourced: commands that run beside others. What one says is shown when it is finished.
#
#   beside NAME COMMAND...   begins it
#   finish NAME              waits for it, prints what it said, and fails as it did
#   end_beside               for a trap: ends what was not finished

beside_output=$(mktemp -d)
declare -A beside_group=()

beside() {
  local name=$1
  shift
  set -m  # a process group of its own, to be ended as a whole
  "$@" </dev/null >"$beside_output/$name" 2>&1 &
  set +m
  beside_group[$name]=$!
}

finish() {
  local status=0
  wait "${beside_group[$1]}" || status=$?
  unset "beside_group[$1]"
  cat "$beside_output/$1"
  return "$status"
}

end_beside() {
  local name
  for name in "${!beside_group[@]}"; do
    kill -- "-${beside_group[$name]}" 2>/dev/null || true
    finish "$name" >&2 || true
  done
  rm -rf "$beside_output"
}
