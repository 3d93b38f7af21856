#!/usr/bin/env bash
# Installs what the tests need, builds with sanitizers, and runs every test. As root the sandbox and
# daemon tests run a second time as an unprivileged user. A test that cannot run here fails.
#
# Beside the tests, which wait more than they work, the fuzz targets are built: with what processor
# time is left, since a run that others starve is told as host_overloaded.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/packages.sh
. packaging/beside.sh
. tests/vm/kernel.sh

jobs=$(nproc)
test_user=paddock-test
copy=
trap 'end_beside; rm -rf "$copy"' EXIT
export SANDBOX_MUST_WORK=1

say() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

as_test_user() {
  runuser -u "$test_user" -- env -i PATH="$PATH" HOME="/home/$test_user" LANG=C.UTF-8 \
    SANDBOX_MUST_WORK=1 "$@"
}

# The user's own copy of the programs: the build tree may lie where only root can go.
run_as_test_user() {
  id "$test_user" >/dev/null 2>&1 || useradd --system --create-home --shell /bin/sh "$test_user"
  copy=$(mktemp -d /var/tmp/paddock-test-XXXXXX)
  cp -r build/dev/bin build/dev/share tests/real_work tests/each_case.sh "$copy/"
  chown -R "$test_user" "$copy"
  for suite in sandbox cli daemon; do
    say "${suite}_tests as $test_user"
    (cd "$copy" && as_test_user bash "$copy/each_case.sh" "$copy/bin/${suite}_tests" "$jobs")
  done
  say "paddock-escapes as $test_user"
  (cd "$copy" && as_test_user "$copy/bin/paddock-escapes")
  (cd "$copy" && as_test_user "$copy/bin/paddock-escapes" --warm)
  say "Real work as $test_user"
  export -f as_test_user
  export copy test_user
  printf '%s\n' go python_suite git_c_project node jvm workspace |
    xargs -P "$jobs" -I WORK bash -c \
      'cd "$copy" && as_test_user bash "$copy/real_work/WORK.sh" "$copy/bin/paddock"'
}

say "Packages"
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}" \
  "${vm_packages[@]}" "${fuzz_packages[@]}" "${benchmark_packages[@]}"
install_packages "$(python_test_package)"
find_vm_kernel build/dev/vm >/dev/null || fetch_vm_kernel build/dev/vm

say "Build (dev: ASan, UBSan, -Werror)"
cmake --preset dev "${whole_build[@]}" >/dev/null
cmake --build --preset dev -j "$jobs"

beside fuzz nice -n 19 tests/fuzz/run.sh 0

if [ "$(id -u)" -eq 0 ]; then run_as_test_user; fi

say "All tests as $(id -un)"
ctest --preset dev -j "$jobs"

say "Fuzz targets, twenty seconds each"
finish fuzz
tests/fuzz/run.sh 20
