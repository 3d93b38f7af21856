#!/usr/bin/env bash
# From a fresh Debian or Ubuntu machine to a first agent under STRICT: installs what is missing,
# builds, and runs. Root or an ordinary user with sudo; nothing is installed outside this folder but
# Debian packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/packages.sh

say() { printf '\n== %s\n' "$*"; }

say "Packages"
install_packages "${build_packages[@]}" "${run_packages[@]}"

say "Build (release)"
cmake --preset release -DBUILD_TESTING=OFF "${whole_build[@]}" >/dev/null
cmake --build --preset release --target paddock -j "$(nproc)"

paddock=build/release/bin/paddock
say "What this host can isolate: paddock doctor"
# 3: not everything that STRICT asks for is here, and the text says what. If it is too little, the
# next step is refused.
"$paddock" doctor || [ $? -eq 3 ]

say "A first agent under STRICT: paddock run --profile STRICT --report -- python3 - < packaging/first-agent.py"
"$paddock" run --profile STRICT --report -- python3 - <packaging/first-agent.py

cat <<TEXT

It worked. Next:
  $paddock run --profile STRICT -c 'print(6 * 7)'
  $paddock run --profile STRICT --wall 2 --report -- sleep 60
  $paddock policy --profile STRICT
  build/release/bin/paddockd &            # then the same commands go through the daemon
TEXT
