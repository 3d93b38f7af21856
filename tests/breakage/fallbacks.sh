#!/usr/bin/env bash
# fallbacks.sh BIN_DIR: without a system call, or a file of the kernel, that paddock uses: is a run
# refused, recorded as degraded, or equally strong? Never weaker. Prints a table; BIN_DIR has the
# programs, and ../breakable/bin those of tests/breakage.
#
# The call is taken away by a filter around the whole of paddock (without_calls.cpp), for good.
# cgroup.kill is a file of every cgroup that is made: there the breakable programs do not write it.
set -uo pipefail
bin=$(cd "$1" && pwd)
breakable=$(cd "$bin/../breakable/bin" && pwd)
work=$(mktemp -d /var/tmp/paddock-fallbacks-XXXXXX)
trap 'rm -rf "$work"' EXIT
failures=0
limit_s=60

# What must come of it:
#   refused TEXT     exit status 3, and TEXT in the message
#   recorded NAME    it runs, the record's list of missing controls is longer by NAME, and nothing
#                    that does not need that control escapes
#   equal            it runs, the record is as before, and nothing escapes
# call(s), errno, profiles it is so for, what must come
table="
clone3                  ENOSYS DEFAULT,STRICT,SEALED refused clone3: Function not implemented
clone3                  EPERM  DEFAULT,STRICT,SEALED refused clone3: Operation not permitted
close_range             ENOSYS DEFAULT,STRICT,SEALED refused close_range: Function not implemented
openat2                 ENOSYS DEFAULT               equal
openat2                 ENOSYS STRICT,SEALED         refused openat2: Function not implemented
pidfd_open              ENOSYS DEFAULT,STRICT,SEALED refused pidfd_open: Function not implemented
pidfd_send_signal       ENOSYS DEFAULT,STRICT,SEALED refused pidfd_send_signal: Function not implemented
pidfd_send_signal       EPERM  DEFAULT,STRICT,SEALED refused pidfd_send_signal: Operation not permitted
pidfd_getfd             ENOSYS DEFAULT,STRICT,SEALED equal
landlock_create_ruleset ENOSYS DEFAULT,STRICT        recorded NO-LANDLOCK(kernel)
landlock_create_ruleset ENOSYS SEALED                refused NO-LANDLOCK(kernel)
landlock_create_ruleset,landlock_add_rule,landlock_restrict_self EPERM DEFAULT,STRICT recorded NO-LANDLOCK(kernel)
landlock_add_rule       ENOSYS DEFAULT,STRICT,SEALED refused add a Landlock rule
landlock_restrict_self  ENOSYS DEFAULT,STRICT,SEALED refused enter the Landlock domain
seccomp                 ENOSYS DEFAULT,STRICT,SEALED refused NO-SYSCALL-FILTER(seccomp)
execveat                ENOSYS DEFAULT,STRICT,SEALED refused execute paddock-launch
memfd_create            ENOSYS DEFAULT,STRICT,SEALED refused memfd_create: Function not implemented
unshare                 EPERM  DEFAULT,STRICT,SEALED refused requires a user namespace
mount                   EPERM  STRICT,SEALED         refused bwrap:
umount2                 EPERM  STRICT,SEALED         refused bwrap:
pivot_root              EPERM  STRICT,SEALED         refused bwrap:
cgroup.kill             -      DEFAULT,STRICT        equal
"

row() { printf '%-24.24s %-7s %-8s %-9s %s\n' "$@"; }
bad() { row "$1" "$2" "$3" FAILED "$4"; failures=$((failures + 1)); }

missing_controls() { grep -oE 'NO-[A-Z-]+\([a-z]+\)' "$1" | sort -u | tr '\n' ' '; }

# with CALLS ERRNO PROGRAM...: the program without the calls.
with() {
  local calls=$1 error=$2 program=$3
  shift 3
  if [ "$calls" = cgroup.kill ]; then
    PADDOCK_BREAK=cgroup.kill timeout -k 1 "$limit_s" "$breakable/$program" "$@"
  else
    timeout -k 1 "$limit_s" "$breakable/without_calls" "$error" "$calls" "$bin/$program" "$@"
  fi
}

run_true() { # CALLS ERRNO PROFILE
  if [ "$1" = cgroup.kill ]; then return 0; fi # seen by the escape suite alone
  with "$1" "$2" paddock run --json --profile "$3" -- /bin/true >"$work/run" 2>&1
}

# What ends, outlives, kills or is killed depends on the calls of the table most.
nothing_escapes() { # CALLS ERRNO PROFILE
  with "$1" "$2" paddock-escapes --profile "$3" --only 'life_*' >"$work/escapes" 2>&1
}

check() { # CALLS ERRNO PROFILE OUTCOME TEXT
  local calls=$1 error=$2 profile=$3 outcome=$4 text=$5 status before
  local name=${calls%%,*}
  [ "$name" = "$calls" ] || name="${name%%_*}_*"
  before=$(missing_controls "$work/before.$profile")
  run_true "$calls" "$error" "$profile"
  status=$?
  case $outcome in
    refused)
      if [ $status -ne 3 ]; then bad "$name" "$error" "$profile" "exit $status: $(tail -n 1 "$work/run")"; return; fi
      if ! grep -qF -- "$text" "$work/run"; then bad "$name" "$error" "$profile" "not said: $text"; return; fi
      row "$name" "$error" "$profile" refused "$text" ;;
    recorded | equal)
      if [ $status -ne 0 ]; then bad "$name" "$error" "$profile" "exit $status: $(tail -n 1 "$work/run")"; return; fi
      if [ "$calls" != cgroup.kill ] &&
        [ "$(missing_controls "$work/run")" != "$(printf '%s\n' $before $text | sort -u | tr '\n' ' ')" ]; then
        bad "$name" "$error" "$profile" "recorded: $(missing_controls "$work/run")"; return
      fi
      nothing_escapes "$calls" "$error" "$profile"
      status=$?
      if [ $status -ne 0 ]; then bad "$name" "$error" "$profile" "escapes: $(sed -n '/^FAILED/,/^$/p' "$work/escapes" | tr -s ' \n' ' ')"; return; fi
      row "$name" "$error" "$profile" "$outcome" "${text:-"$(grep -cE ' stopped' "$work/escapes") attempts, all as promised"}" ;;
  esac
}

row "without" answer profile result detail
for profile in DEFAULT STRICT SEALED; do
  "$bin/paddock" run --json --profile $profile -- /bin/true >"$work/before.$profile" 2>&1 ||
    row "(nothing)" - $profile unsupported "$(grep -oE 'NO-[A-Z-]+\([a-z]+\)' "$work/before.$profile" | sort -u | tr '\n' ' ')"
done
while read -r calls error profiles outcome text; do
  [ -n "$calls" ] || continue
  for profile in ${profiles//,/ }; do
    grep -q '"cause"' "$work/before.$profile" || continue # cannot be had on this host: said above
    check "$calls" "$error" "$profile" "$outcome" "$text" </dev/null
  done
done <<<"$table"
echo "$failures failed"
[ "$failures" -eq 0 ]
