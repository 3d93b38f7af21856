#!/usr/bin/env bash
# An existing coding agent under paddock. In a suite of its own, because it comes from a package
# registry: bash tests/registry/mini_swe_agent.sh build/release/bin/paddock
. "$(dirname "$0")/../real_work/common.sh"

/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q 'mini-swe-agent==2.4.6'
MSWEA_SILENT_STARTUP=1 MSWEA_GLOBAL_CONFIG_DIR="$work" "$work/venv/bin/python" \
  "$(dirname "$0")/mini_swe_agent.py" "$paddock" "$(make_workspace)"
