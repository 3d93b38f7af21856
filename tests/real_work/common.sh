# Sourced by each script here: $1 is the paddock to test. Each script does one piece of real work
# under a shipped profile, with programs that know nothing of paddock.
set -euo pipefail

paddock=$1
# Not below /tmp, which the sandbox has for itself.
work=$(mktemp -d /var/tmp/paddock-work-XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect TEXT: standard input holds it.
expect() {
  local text=$1 output
  output=$(cat)
  case $output in
    *"$text"*) ;;
    *) printf '%s\n' "$output" >&2; fail "expected to see: $text" ;;
  esac
}

# A directory that a run may write to. As root runs have host uids of their own: it gets the first.
make_workspace() {
  mkdir "$work/workspace"
  [ "$(id -u)" -ne 0 ] || chown 60578:60578 "$work/workspace"
  echo "$work/workspace"
}

strict() { "$paddock" run --embedded --exit-status --profile STRICT "$@"; }
