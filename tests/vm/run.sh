#!/usr/bin/env bash
# run.sh --as root|user [--programs BUILD_DIR] [--processors N] [--timeout SECONDS] -- COMMAND...
#
# Runs COMMAND in a virtual machine with every cgroup v2 controller and ends with its exit status: as
# root, or as a user to whom its cgroup is delegated. BUILD_DIR/{bin,share} is /paddock there. The
# machine is emulated (TCG): it needs no right on this host, and is some ten times slower than it.
#
# Exit status 77: this host has no QEMU or no kernel to boot; with SANDBOX_MUST_WORK=1 it is 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/kernel.sh"

as=root
programs=$here/../../build/dev
processors=2
timeout_s=580
usage() { sed -n '2s/^# /usage: /p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --as) as=$2; shift 2 ;;
    --programs) programs=$2; shift 2 ;;
    --processors) processors=$2; shift 2 ;;
    --timeout) timeout_s=$2; shift 2 ;;
    --) shift; break ;;
    *) usage ;;
  esac
done
[ $# -gt 0 ] || usage
case $as in root | user) ;; *) usage ;; esac

missing() {
  if [ "${SANDBOX_MUST_WORK:-}" = 1 ]; then echo "MISSING: $1" >&2; exit 1; fi
  echo "UNSUPPORTED: $1"
  exit 77
}
command -v qemu-system-x86_64 >/dev/null || missing "qemu-system-x86_64 is not installed"
command -v busybox >/dev/null || missing "busybox is not installed"
image=$programs/vm
kernel=$(find_vm_kernel "$image") || missing "there is no kernel to boot in /boot or $image"

mkdir -p "$image"
(flock 9 && bash "$here/build_image.sh" "$image" "$programs") 9>"$image/lock"
# What runs left that were killed.
find "$image" -mindepth 1 -maxdepth 1 -name 'run-*' -mmin +60 -exec rm -rf {} +

work=$(mktemp -d "$image/run-XXXXXX")
vm=
cleanup() {
  [ -z "$vm" ] || kill "$vm" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# The kernel unpacks archives one after the other.
mkdir "$work/command"
printf 'exec' >"$work/command/command.sh"
printf ' %q' "$@" >>"$work/command/command.sh"
echo "$as" >"$work/command/command.user"
chmod 644 "$work"/command/*
(cd "$work/command" && printf '%s\n' command.sh command.user |
  busybox cpio -o -H newc -R 0:0 2>/dev/null) >"$work/command.cpio"
cat "$image/base.cpio" "$image/programs.cpio" "$work/command.cpio" >"$work/initrd"
truncate -s 512M "$work/swap"

# What the kernel need not do here is a fifth of its work: zero memory that it hands out, and ask a
# device for the time, whereas all of the machine's clocks are this host's anyway.
cheaper="mitigations=off init_on_alloc=0 tsc=reliable clocksource=tsc"
timeout --foreground --kill-after=5 "$timeout_s" qemu-system-x86_64 \
  -nodefaults -no-user-config -no-reboot -display none -machine pc -accel tcg,thread=multi \
  -cpu max -smp "$processors" -m 3072 -kernel "$kernel" -initrd "$work/initrd" \
  -append "console=ttyS0 quiet loglevel=3 panic=-1 cgroup_no_v1=all $cheaper" \
  -drive "file=$work/swap,if=none,id=swap,format=raw,cache=unsafe" -device nvme,serial=swap,drive=swap \
  -serial "file:$work/console" -serial stdio -serial "file:$work/status" </dev/null &
vm=$!
ended=0
wait "$vm" || ended=$?
vm=
if [ "$ended" -eq 124 ] || [ "$ended" -eq 137 ]; then
  echo "the virtual machine was ended: its command was not finished after $timeout_s s" >&2
  exit 124
fi
status=$(sed -n 's/^exit \([0-9]*\)$/\1/p' "$work/status")
if [ -z "$status" ]; then
  tail -n 50 "$work/console" >&2
  echo "the virtual machine ended without the status of its command (QEMU: $ended)" >&2
  exit 125
fi
exit "$status"
