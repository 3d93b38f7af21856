#!/usr/bin/env bash
# Goal: runs that share a writable directory can change what another left in it, and the result is
# on the host afterwards; nothing else is.
. "$(dirname "$0")/common.sh"

workspace=$(make_workspace)
in_workspace() { strict --bind-rw "$workspace" --workdir "$workspace" -- "$@"; }

in_workspace sh -c 'echo one >file'
in_workspace sh -c 'echo two >>file; mkdir -p /var/tmp/elsewhere /tmp/elsewhere'
in_workspace cat file | expect "two"
[ "$(cat "$workspace/file")" = "one
two" ] || fail "the file on the host differs"
[ ! -e /tmp/elsewhere ] && [ ! -e /var/tmp/elsewhere ] || fail "a run wrote outside its workspace"
